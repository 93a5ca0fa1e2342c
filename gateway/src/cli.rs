//! The command line, and where log lines go. Stdout belongs to answers.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use tracing_subscriber::EnvFilter;

/// A gateway for MCP servers.
///
/// Agents see one exact, policy-checked surface; the servers behind it are described by the same
/// YAML that a cluster would be given.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// What to log, to stderr: a level, or directives such as `info,upstream=debug`
    #[arg(long, global = true, env = "PORTREEVE_LOG", default_value = "info")]
    pub(crate) log: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the servers of a folder of manifests over HTTP
    Serve(ServeOptions),
    /// Serve one profile over stdin and stdout, for clients that start their server
    Stdio(StdioOptions),
    /// Say everything that is wrong with a folder of manifests; exit 1 on any error
    Check(CheckOptions),
    /// Print the JSON Schema of the configuration file
    ConfigSchema,
}

#[derive(Debug, Args)]
pub(crate) struct ServeOptions {
    /// Folder of UpstreamServer, ToolPolicy, Secret and ConfigMap manifests; changes are followed
    #[arg(long, value_name = "DIR")]
    pub(crate) manifests: PathBuf,
    /// Configuration file (see `config-schema`); flags override it
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Address agents connect to [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<SocketAddr>,
    /// Address of /livez, /readyz and /metrics [default: 127.0.0.1:9090]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) admin: Option<SocketAddr>,
    /// Folder where the last good snapshot is kept, so that a restart serves at once
    #[arg(long, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
    /// Listen on an address that others can reach, although nobody is asked who they are
    #[arg(long)]
    pub(crate) insecure_no_auth: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StdioOptions {
    /// Folder of manifests, as for `serve`
    #[arg(long, value_name = "DIR")]
    pub(crate) manifests: PathBuf,
    /// What to serve
    #[arg(long, value_enum)]
    pub(crate) profile: ProfileName,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ProfileName {
    /// Every tool of every server, as `server__tool`
    Router,
}

#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// Folder of manifests
    #[arg(value_name = "DIR")]
    pub(crate) manifests: PathBuf,
}

/// Sets up the log. Lines on a terminal are for people, others for machines.
pub(crate) fn log_to_stderr(directives: &str) -> anyhow::Result<()> {
    use std::io::IsTerminal as _;
    let log = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::try_new(directives)?)
        .with_writer(std::io::stderr);
    if std::io::stderr().is_terminal() {
        log.init();
    } else {
        log.json().flatten_event(true).with_current_span(false).with_span_list(false).init();
    }
    Ok(())
}
