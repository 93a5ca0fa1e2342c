//! `make bench`: what a gateway in between costs, side by side with doing without it.
//!
//! The machine is shared, so every figure stands beside a control measured in the same run, in
//! turn with it; only ratios and counts mean something. Nothing here fails a build.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark counts, prints, and stops when it cannot go on"
)]

mod calls;
mod control;
mod lists;
mod load;
mod rest;
mod table;

#[tokio::main]
async fn main() {
    if std::env::args().any(|argument| argument == control::CHEAPEST_SERVER) {
        return control::serve_cheapest().await;
    }
    // `cargo test --benches` starts this too; figures of a debug build mean nothing.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    println!("portreeve benchmarks; control and candidate in turn, medians over rounds\n");
    if is_asked_for("calls") {
        calls::run().await;
    }
    if is_asked_for("lists") {
        lists::run().await;
    }
    if is_asked_for("rest") {
        rest::run().await;
    }
}

/// All of them, unless some are named: `cargo bench --workspace --bench gateway -- lists`.
fn is_asked_for(name: &str) -> bool {
    let mut named =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).peekable();
    named.peek().is_none() || named.any(|argument| argument == name)
}
