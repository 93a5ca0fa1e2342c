//! How we know: the fixture server, and what the whole-system tests and benchmarks share.
//! No product code imports this crate.

pub mod fixture;
pub mod harness;
