//! The fixture: an MCP server of both eras that behaves well, or badly on demand.
//!
//! The protocol is rmcp's (`handler` and below), so that ours is judged by an implementation that is not ours.
//! What rmcp cannot be bent to (unknown fields, broken bytes) is done to the bytes on their way (`wire`, `stdio`, `http`).
//! No code of the gateway may enter here, and the gateway must not import it.
#![expect(
    deprecated,
    reason = "SEP-2577 deprecates sampling and logging, but the field still uses them"
)]

mod cli;
mod exit;
mod faults;
mod handler;
mod http;
mod listeners;
mod prompts;
mod resources;
mod state;
mod stdio;
mod tools;
mod wire;

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Parser as _;

use cli::{Cli, Transport};
use faults::{Fault, Place};
use state::Shared;

/// Reads the command line, serves until the client leaves or a signal comes, and says how it went.
pub fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("{error:#}"));
            ExitCode::from(exit::FAILED)
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<()> {
    let (place, switches) = match &cli.transport {
        Transport::Stdio(switches) => (Place::Stdio, switches),
        Transport::Http(http) => (Place::Http, &http.switches),
    };
    switches.faults().check_place(place)?;
    if switches.faults().has(&Fault::Dead) {
        complain("dead on purpose");
        exit::leave(exit::DEAD);
    }
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    let outcome = runtime.block_on(serve(cli));
    // Dropping the runtime would wait for the thread that is blocked on stdin.
    runtime.shutdown_background();
    outcome
}

async fn serve(cli: Cli) -> anyhow::Result<()> {
    let serving = async {
        match cli.transport {
            Transport::Stdio(switches) => stdio::serve(Arc::new(Shared::new(switches))).await,
            Transport::Http(http) => http::serve(http).await,
        }
    };
    tokio::select! {
        outcome = serving => outcome,
        outcome = exit::signal() => outcome,
    }
}

/// One line on stderr. A closed stderr is no reason to fail.
fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "fixture: {text}");
}
