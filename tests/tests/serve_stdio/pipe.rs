//! A gateway on stdin and stdout, spoken to line by line. What the lines mean is told by the tests.

use std::{path::Path, process::Stdio, time::Duration};

use serde_json::{Value, json};
use tempfile::TempDir;
use tests::harness::{binary, http::modern_meta, until};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};

/// How long a line or an end may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A folder with these manifests.
pub(crate) fn folder(manifests: &[String]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (place, manifest) in manifests.iter().enumerate() {
        std::fs::write(folder.path().join(format!("{place}.yaml")), manifest).unwrap();
    }
    folder
}

/// The command line that serves a folder.
pub(crate) fn argv(manifests: &Path) -> Vec<String> {
    let program = binary("portreeve-gateway").to_string_lossy().into_owned();
    let folder = manifests.to_string_lossy().into_owned();
    [program, "stdio".into(), "--manifests".into(), folder, "--profile".into(), "router".into()]
        .into()
}

/// A running gateway and the client's ends of its pipes.
pub(crate) struct Pipe {
    child: Child,
    stdin: ChildStdin,
    stdout: Lines<BufReader<ChildStdout>>,
    _folder: TempDir,
}

impl Pipe {
    pub(crate) fn start(manifests: &[String]) -> Self {
        let folder = folder(manifests);
        let [program, arguments @ ..] = &argv(folder.path())[..] else { unreachable!() };
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, stdin, stdout, _folder: folder }
    }

    pub(crate) async fn send(&mut self, line: &str) {
        self.stdin.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// A legacy request.
    pub(crate) async fn request(&mut self, id: u32, method: &str, params: Value) {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(&message.to_string()).await;
    }

    /// The same as a modern client says it.
    pub(crate) async fn modern(&mut self, id: u32, method: &str, mut params: Value) {
        params["_meta"] = modern_meta();
        self.request(id, method, params).await;
    }

    /// The next line; nothing after the last.
    pub(crate) async fn line(&mut self) -> Option<Value> {
        let line = timeout(PATIENCE, self.stdout.next_line()).await.unwrap().unwrap()?;
        Some(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}")))
    }

    /// The answer to the only request under way.
    pub(crate) async fn answer(&mut self, id: u32) -> Value {
        let line = self.line().await.unwrap();
        assert_eq!(line["id"], id, "{line}");
        line
    }

    /// The processes that it has started and that are there.
    pub(crate) fn children(&self) -> Vec<u32> {
        let parent = self.child.id().unwrap();
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.filter(|id| parent_of(*id) == Some(parent)).collect()
    }

    /// Asks it to stop while its stdin stays open: its exit code.
    pub(crate) async fn terminate(mut self) -> Option<i32> {
        let id = nix::unistd::Pid::from_raw(self.child.id().unwrap().try_into().unwrap());
        nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGTERM).unwrap();
        timeout(PATIENCE, self.child.wait()).await.unwrap().unwrap().code()
    }

    /// Closes its stdin: what it still said, and its exit code.
    pub(crate) async fn close(self) -> (Vec<Value>, Option<i32>) {
        let Self { mut child, stdin, mut stdout, _folder } = self;
        drop(stdin);
        let ended = async {
            let mut said = Vec::new();
            while let Some(line) = stdout.next_line().await.unwrap() {
                said.push(serde_json::from_str(&line).unwrap());
            }
            (said, child.wait().await.unwrap().code())
        };
        timeout(PATIENCE, ended).await.unwrap()
    }
}

/// Waits until a process is gone, or waits only to be collected.
pub(crate) async fn gone(id: u32) {
    until(&format!("process {id} to be gone"), async || {
        matches!(state(id).as_deref(), None | Some("Z")).then_some(())
    })
    .await;
}

fn state(id: u32) -> Option<String> {
    stat(id)?.first().cloned()
}

fn parent_of(id: u32) -> Option<u32> {
    stat(id)?.get(1)?.parse().ok()
}

/// What `/proc` says of a process behind its name, which may hold spaces: state, parent, …
fn stat(id: u32) -> Option<Vec<String>> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}
