//! The real gateway binary in front of a folder of manifests.

use std::{path::Path, process::Stdio};

use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines},
    process::{Child, ChildStderr, Command},
};

use super::{binary, http, until};

/// A running gateway. Its folder of manifests is its own and can be changed.
#[derive(Debug)]
pub struct Gateway {
    child: Child,
    folder: TempDir,
    /// `host:port` agents connect to.
    pub agents: String,
    /// `host:port` for operators.
    pub operators: String,
}

impl Gateway {
    /// Starts one on these manifests, and waits until it is ready.
    pub async fn start(manifests: &[String]) -> Self {
        Self::start_with(manifests, &[]).await
    }

    /// The same with further flags.
    pub async fn start_with(manifests: &[String], flags: &[&str]) -> Self {
        let gateway = Self::launch(manifests, flags).await;
        gateway.ready().await;
        gateway
    }

    /// Starts one and does not wait for its servers.
    pub async fn launch(manifests: &[String], flags: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        for (place, manifest) in manifests.iter().enumerate() {
            std::fs::write(folder.path().join(format!("{place:03}.yaml")), manifest).unwrap();
        }
        let mut child = Command::new(binary("portreeve-gateway"))
            .arg("serve")
            .args(["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"])
            .arg("--manifests")
            .arg(folder.path())
            .args(flags)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let (agents, operators) = addresses(&mut log).await;
        tokio::spawn(forward(log));
        Self { child, folder, agents, operators }
    }

    /// Waits until every server of the first snapshot has been tried.
    pub async fn ready(&self) {
        until("the gateway to be ready", async || {
            let answer = http::get(&format!("http://{}/readyz", self.operators)).await;
            (answer.status == 200).then_some(())
        })
        .await;
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// The folder of manifests.
    pub fn manifests(&self) -> &Path {
        self.folder.path()
    }

    /// Puts a manifest into the folder, whole.
    pub fn apply(&self, file: &str, manifest: &str) {
        let aside = self.folder.path().join(format!(".{file}.new"));
        std::fs::write(&aside, manifest).unwrap();
        std::fs::rename(aside, self.folder.path().join(file)).unwrap();
    }

    /// Takes a manifest away.
    pub fn delete(&self, file: &str) {
        std::fs::remove_file(self.folder.path().join(file)).unwrap();
    }

    /// A URL of the public address.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.agents)
    }

    /// Sends one legacy request without a session; the whole JSON-RPC answer.
    pub async fn request(&self, path: &str, method: &str, params: &Value) -> Value {
        http::rpc(&self.url(path), method, params).await
    }

    /// Calls a tool through the router.
    pub async fn call(&self, name: &str, arguments: Value) -> Value {
        let params = serde_json::json!({"name": name, "arguments": arguments});
        self.request("/mcp/router", "tools/call", &params).await
    }

    /// The names that an endpoint lists.
    pub async fn tool_names(&self, path: &str) -> Vec<String> {
        let answer = self.request(path, "tools/list", &serde_json::json!({})).await;
        let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// What is known of every server and of the manifests.
    pub async fn report(&self) -> Value {
        serde_json::from_str(&http::get(&self.url("/api/servers")).await.body).unwrap()
    }

    /// What is known of one server, by its object's name.
    pub async fn server(&self, name: &str) -> Value {
        let report = self.report().await;
        let servers = report["servers"].as_array().unwrap().iter();
        servers.clone().find(|s| s["object"]["name"] == name).cloned().unwrap_or(Value::Null)
    }

    /// One condition of one server: `(status, reason, message)`.
    pub async fn condition(&self, server: &str, type_: &str) -> Option<(String, String, String)> {
        let server = self.server(server).await;
        let condition = server["conditions"].as_array()?.iter().find(|c| c["type"] == type_)?;
        let text = |key: &str| condition[key].as_str().unwrap().to_owned();
        Some((text("status"), text("reason"), text("message")))
    }

    /// Waits until a condition has this status and reason; its message.
    pub async fn wait_for(&self, server: &str, type_: &str, status: &str, reason: &str) -> String {
        until(&format!("{server} to be {type_}={status} ({reason})"), async || {
            let (s, r, message) = self.condition(server, type_).await?;
            (s == status && r == reason).then_some(message)
        })
        .await
    }

    /// The metrics page.
    pub async fn metrics(&self) -> String {
        http::get(&format!("http://{}/metrics", self.operators)).await.body
    }

    /// Asks it to stop and waits until it has: its exit code.
    pub async fn stop(mut self) -> Option<i32> {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.pid()).unwrap());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
        self.child.wait().await.unwrap().code()
    }
}

async fn addresses(log: &mut Lines<BufReader<ChildStderr>>) -> (String, String) {
    while let Some(line) = log.next_line().await.unwrap() {
        eprintln!("{line}");
        let entry: Value = serde_json::from_str(&line).unwrap_or_default();
        if let (Some(agents), Some(operators)) =
            (entry["agents"].as_str(), entry["operators"].as_str())
        {
            return (agents.to_owned(), operators.to_owned());
        }
    }
    panic!("the gateway ended before it listened");
}

/// The test's own output shows what the gateway said, when the test fails.
async fn forward(mut log: Lines<BufReader<ChildStderr>>) {
    while let Ok(Some(line)) = log.next_line().await {
        eprintln!("{line}");
    }
}
