//! What an agent may see: ids, names, digests, the catalogue and the snapshot.
//!
//! Pure values and functions. No I/O, no clock, no logging, no async runtime; nothing here knows
//! Kubernetes or HTTP.

pub mod catalogue;
pub mod credential;
pub mod digest;
pub mod doc;
mod hash8;
pub mod members;
pub mod name;
pub mod param_header;
pub mod snapshot;
pub mod tool;
pub mod tool_id;
pub mod view;

pub use hash8::{canonical_shape, hash8};
