//! `portreeve-gateway`: carries agents' calls to MCP servers.
//! Parses the command line and hands over; `anyhow` is used here only.

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

use clap::Parser as _;
use mimalloc::MiMalloc;

use crate::cli::{Cli, Command};

/// A call allocates a few dozen times, from several threads.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> anyhow::Result<std::process::ExitCode> {
    let cli = Cli::parse();
    cli::log_to_stderr(&cli.log)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    Ok(match cli.command {
        Command::Serve(options) => runtime.block_on(serve::run(options))?,
        Command::Stdio(options) => runtime.block_on(stdio::run(options))?,
        Command::Check(options) => check::run(&options)?,
        Command::ConfigSchema => config::settings::print_schema()?,
    })
}
