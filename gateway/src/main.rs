//! `portreeve-gateway`: carries agents' calls to MCP servers.
//! Parses the command line and hands over. `anyhow` is for the commands; nothing below uses it.

mod check;
mod cli;
mod config;
mod failure;
mod http;
mod keeper;
mod mcp;
mod metrics;
mod serve;
mod serving;
mod status;
mod stdio;

use std::{io::Write as _, process::ExitCode, time::Duration};

use clap::Parser as _;
use mimalloc::MiMalloc;

use crate::cli::{Cli, Command};

/// A call allocates a few dozen times, from several threads.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// How long the end waits for what cannot be called off: a read of stdin ends only with stdin.
const LEAVE: Duration = Duration::from_millis(200);

fn main() -> ExitCode {
    run(Cli::parse()).unwrap_or_else(|error| {
        // Fails only when nobody reads it.
        let _ = writeln!(std::io::stderr(), "error: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    cli::log_to_stderr(&cli.log)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = match cli.command {
        Command::Serve(options) => runtime.block_on(serve::run(options)),
        Command::Stdio(options) => runtime.block_on(stdio::run(options)),
        Command::Check(options) => check::run(&options),
        Command::ConfigSchema => config::settings::print_schema().map_err(Into::into),
    };
    runtime.shutdown_timeout(LEAVE);
    outcome
}
