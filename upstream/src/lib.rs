//! How we speak to MCP servers: transports, eras, listings, and when to stop trying.
//!
//! Knows nothing of Kubernetes, of agents or of policy. Messages are kept as the text the server
//! wrote; the SDK's types serve the handshakes only and do not leave this crate.

pub mod address;
mod breaker;
pub mod client;
mod connection;
pub mod error;
pub mod follow;
mod frame;
mod handshake;
mod http;
pub mod lines;
mod listing;
pub mod mirror;
mod request;
pub mod schedule;
mod sse;
mod stdio;
pub mod version;
mod wire;

pub use client::{Call, Client};
pub use error::UpstreamError;
pub use frame::{RawJson, RpcError};
pub use request::Answer;
