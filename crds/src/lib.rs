//! What a user may write: the kinds, and their translation into a snapshot.
//!
//! Plain values and functions: no client, no I/O, no clock.
#![allow(
    clippy::doc_markdown,
    reason = "kinds and conditions are words here, and these texts are the user manual"
)]

pub mod condition;
pub mod definition;
pub mod duration;
mod header;
pub mod objects;
pub mod problem;
pub mod quantity;
pub mod reference;
mod rule;
pub mod schema;
pub mod tool_policy;
pub mod translate;
pub mod upstream_server;

pub use crate::{
    objects::Objects,
    problem::{ObjectId, Problem, Reason, Severity},
    translate::{ObjectStatus, Placement, Translation, translate},
};
