//! Starts the real binaries, speaks to them as a client would, and ends them by their own id.
//! Nothing here knows what is tested.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a harness fails its test by panicking"
)]
#![allow(clippy::print_stderr, reason = "what was said is shown when the test fails")]

mod gateway;
pub mod http;
mod manifest;
mod process;
pub mod real;
mod until;

pub use self::{
    gateway::Gateway,
    manifest::{fixture_argv, http_server, stdio_server},
    process::{FixtureServer, binary},
    until::until,
};
