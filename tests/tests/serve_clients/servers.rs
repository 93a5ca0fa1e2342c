//! The real servers: how each is started, what it speaks, and a call whose answer is the same every
//! time. What the gateway makes of them is told by the tests.

use serde_json::{Value, json};
use tests::harness::{
    http_server,
    real::{RealServer, argv, free_port, installed, real_stdio_server},
};

use super::ground::Ground;

/// One real server, and what it is asked.
pub(crate) struct Real {
    /// Its object's name, and so its namespace.
    pub(crate) name: &'static str,
    /// What it is known to speak.
    pub(crate) era: &'static str,
    place: Place,
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
}

enum Place {
    Stdio { argv: Vec<String>, env: Vec<(&'static str, String)> },
    Http { url: String, _server: RealServer },
}

impl Real {
    /// The tool's name through the router.
    pub(crate) fn routed(&self) -> String {
        format!("{}__{}", self.name, self.tool)
    }

    pub(crate) fn manifest(&self) -> String {
        match &self.place {
            Place::Stdio { argv, env } => real_stdio_server(self.name, argv, env),
            Place::Http { url, .. } => http_server(self.name, url, ""),
        }
    }

    /// How a client reaches it by itself: its arguments, and what it hands on as environment.
    pub(crate) fn direct(&self) -> (Vec<String>, &[(&'static str, String)]) {
        match &self.place {
            Place::Stdio { argv, env } => ([&["--stdio".to_owned()], &argv[..]].concat(), env),
            Place::Http { url, .. } => (vec![url.clone()], &[]),
        }
    }
}

pub(crate) const LEGACY: &str = "Legacy";
pub(crate) const MODERN: &str = "Modern";

/// One that starts soon.
pub(crate) fn time() -> Real {
    real("time", MODERN, stdio("mcp-server-time", &[]), "convert_time", tea_time())
}

/// Both eras on both transports.
pub(crate) async fn few(ground: &Ground) -> Vec<Real> {
    let database = ground.file("tides.db");
    let sqlite = stdio("mcp-server-sqlite", &["--db-path", &database]);
    let query = json!({"query": "SELECT 1 + 1 AS two"});
    let (everything_web, time_web) = tokio::join!(everything_over_http(), time_over_http());
    vec![
        real("everything", LEGACY, stdio("mcp-server-everything", &["stdio"]), "get-sum", sum()),
        real("everything-web", LEGACY, everything_web, "get-sum", sum()),
        real("sqlite", LEGACY, sqlite, "read_query", query),
        time(),
        real("time-web", MODERN, time_web, "convert_time", tea_time()),
    ]
}

/// The few and more of their kinds.
pub(crate) async fn all(ground: &Ground) -> Vec<Real> {
    let (folder, file) = (ground.folder(), ground.file("tide.txt"));
    let filesystem = stdio("mcp-server-filesystem", &[&folder]);
    let memory = Place::Stdio {
        argv: argv("mcp-server-memory", &[]),
        env: vec![("MEMORY_FILE_PATH", ground.file("memory.jsonl"))],
    };
    let git = stdio("mcp-server-git", &["--repository", &folder]);
    let thinking = stdio("mcp-server-sequential-thinking", &[]);
    let (mut all, time_proxied) = tokio::join!(few(ground), time_behind_a_proxy());
    all.extend([
        real("calc", LEGACY, stdio("calc-mcp", &[]), "math", json!({"expression": "2 + 3 * 4"})),
        real("filesystem", LEGACY, filesystem, "read_text_file", json!({"path": file})),
        real("git", MODERN, git, "git_log", json!({"repo_path": folder})),
        real("memory", LEGACY, memory, "read_graph", json!({})),
        // It counts what it is told, so only its refusals stay the same.
        real("thinking", LEGACY, thinking, "sequentialthinking", json!({"thought": 7})),
        real("time-proxied", LEGACY, time_proxied, "convert_time", tea_time()),
    ]);
    all
}

fn real(
    name: &'static str,
    era: &'static str,
    place: Place,
    tool: &'static str,
    arguments: Value,
) -> Real {
    Real { name, era, place, tool, arguments }
}

fn sum() -> Value {
    json!({"a": 2, "b": 3})
}

fn tea_time() -> Value {
    json!({"source_timezone": "Europe/London", "time": "17:00", "target_timezone": "Asia/Tokyo"})
}

fn stdio(command: &str, arguments: &[&str]) -> Place {
    Place::Stdio { argv: argv(command, arguments), env: Vec::new() }
}

async fn http(argv: &[String], env: &[(&str, &str)], port: u16) -> Place {
    let url = format!("http://127.0.0.1:{port}/mcp");
    Place::Http { url, _server: RealServer::start(argv, env, port).await }
}

/// With sessions.
async fn everything_over_http() -> Place {
    let port = free_port();
    let argv = argv("mcp-server-everything", &["streamableHttp"]);
    http(&argv, &[("PORT", &port.to_string())], port).await
}

/// Its command speaks stdio only; the SDK that it is made with speaks HTTP too.
async fn time_over_http() -> Place {
    let port = free_port();
    let program = format!(
        "from mcp_server_time.server import create_server\n\
         create_server('UTC').run('streamable-http', host='127.0.0.1', port={port})"
    );
    http(&[installed("venv-quickstart/bin/python"), "-c".to_owned(), program], &[], port).await
}

async fn time_behind_a_proxy() -> Place {
    let port = free_port();
    let (number, command) = (port.to_string(), installed("bin/mcp-server-time"));
    let arguments = ["--host", "127.0.0.1", "--port", &number, "--", &command];
    http(&argv("mcp-proxy", &arguments), &[], port).await
}
