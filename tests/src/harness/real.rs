//! What others wrote and agents use, out of `.tools/`: servers, clients and the official judge.
//! What they are asked, and what has to come of it, is the tests' business.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
    process::{Child, Command},
};

use super::{binary, stdio_server, until};

/// How long one run of a client or of the judge may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(5);

/// The argv of an installed command.
pub fn argv(command: &str, arguments: &[&str]) -> Vec<String> {
    let command = installed(&format!("bin/{command}"));
    [command].into_iter().chain(arguments.iter().map(|argument| (*argument).to_owned())).collect()
}

/// A file of `.tools/`.
pub fn installed(file: &str) -> String {
    let path = root().join(".tools").join(file);
    assert!(path.exists(), ".tools/{file} is missing; run: make tools");
    path.to_string_lossy().into_owned()
}

/// `PATH` with the installed commands before the machine's own: scripts name their interpreter.
pub fn path() -> String {
    format!("{}:{}", installed("bin"), std::env::var("PATH").unwrap_or_default())
}

/// An `UpstreamServer` that is started with a `PATH` that finds what is installed, and with `env`.
pub fn real_stdio_server(name: &str, argv: &[String], env: &[(&str, String)]) -> String {
    let path = ("PATH", path());
    let env = env.iter().chain([&path]).map(|(name, value)| json!({"name": name, "value": value}));
    let env: Value = env.collect();
    stdio_server(name, argv, "").replace("stdio: {", &format!("stdio: {{env: {env}, "))
}

/// A real server that listens on loopback.
#[derive(Debug)]
pub struct RealServer {
    _child: Child,
}

impl RealServer {
    /// Starts one that listens on `port`, and waits until it does.
    pub async fn start(argv: &[String], env: &[(&str, &str)], port: u16) -> Self {
        let [program, arguments @ ..] = argv else { panic!("an argv names a program") };
        let mut child = Command::new(program)
            .args(arguments)
            .env("PATH", path())
            .envs(env.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        tokio::spawn(async move {
            while let Ok(Some(line)) = said.next_line().await {
                eprintln!("{line}");
            }
        });
        until(&format!("{program} to listen"), async || {
            TcpStream::connect(("127.0.0.1", port)).await.ok()
        })
        .await;
        Self { _child: child }
    }
}

/// A port that nobody listened on a moment ago, for servers that cannot choose one themselves.
pub fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Runs a real client (`tests/real/README.md`): its flags and target, and one entry per command.
pub async fn client(
    name: &str,
    target: &[String],
    env: &[(&str, String)],
    commands: &[Value],
) -> Vec<Value> {
    let mut command = script("client");
    command.arg(name).args(target).envs(env.iter().map(|(name, value)| (name, value)));
    let said = run(command, &Value::from(commands).to_string()).await;
    let entries: Vec<Value> = serde_json::from_str(&said)
        .unwrap_or_else(|error| panic!("{name} {target:?}: {error}: {said}"));
    assert_eq!(entries.len(), commands.len(), "{name} {target:?}: {entries:?}");
    entries
}

/// Lets the official suite judge these scenarios, one after another: its lines.
pub async fn conformance(url: &str, revision: &str, scenarios: &[String]) -> Vec<Value> {
    let mut command = script("conformance");
    command.args([url, revision]).args(scenarios);
    // The suite is a process per scenario: compiled once, it starts in half the time.
    command.env("NODE_COMPILE_CACHE", binary("fixture").with_file_name("node-compile-cache"));
    let said = run(command, "").await;
    said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn script(name: &str) -> Command {
    // What the script starts is there, or it is said how to get it.
    installed("bin");
    Command::new(root().join("tests/real").join(name))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

async fn run(mut command: Command, input: &str) -> String {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let whole = async {
        // One that ends without reading says why.
        let _ = stdin.write_all(input.as_bytes()).await;
        drop(stdin);
        child.wait_with_output().await.unwrap()
    };
    let Ok(output) = tokio::time::timeout(PATIENCE, whole).await else {
        panic!("{command:?} took longer than {PATIENCE:?}");
    };
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
