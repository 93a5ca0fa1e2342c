//! Child processes of tests. Each is killed by its own id when its handle is dropped.

use std::{path::PathBuf, process::Stdio};

use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines},
    process::{Child, ChildStdout, Command},
};

/// A binary of this workspace, built in the same profile as the test itself.
pub fn binary(name: &str) -> PathBuf {
    let mut folder = std::env::current_exe().unwrap();
    folder.pop();
    if folder.ends_with("deps") {
        folder.pop();
    }
    let path = folder.join(name);
    assert!(path.is_file(), "{name} is not built; run: cargo build --workspace --bins");
    path
}

/// A fixture that serves HTTP.
#[derive(Debug)]
pub struct FixtureServer {
    /// Its MCP endpoint.
    pub url: String,
    child: Child,
    _stdout: Lines<BufReader<ChildStdout>>,
}

impl FixtureServer {
    /// Starts one on a free port with these switches.
    pub async fn start(switches: &[&str]) -> Self {
        Self::start_on("127.0.0.1:0", switches).await
    }

    /// Starts one on a given address.
    pub async fn start_on(address: &str, switches: &[&str]) -> Self {
        let mut child = Command::new(binary("fixture"))
            .args(["http", "--until-stdin-closes", "--listen", address])
            .args(switches)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = lines.next_line().await.unwrap().expect("the fixture says where it listens");
        let url = line.strip_prefix("listening on ").expect(&line).to_owned();
        Self { url, child, _stdout: lines }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// `host:port`.
    pub fn authority(&self) -> &str {
        self.url.trim_start_matches("http://").trim_end_matches("/mcp")
    }

    /// Kills it and waits until it is gone.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }
}
