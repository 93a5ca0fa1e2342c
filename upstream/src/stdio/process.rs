//! Starts and ends the process of a server, with the whole group it starts itself.

use std::{
    collections::VecDeque,
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use secrecy::ExposeSecret as _;
use tokio::{
    io::BufReader,
    process::{Child, ChildStderr, ChildStdin, ChildStdout},
    task::JoinHandle,
};

use super::Command;
use crate::{
    UpstreamError,
    lines::{Line, LineReader},
};

/// All that a process gets of our own environment. Everything else is in its manifest.
const INHERITED: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];

/// Lines of stderr that are kept, to say what a process said before it ended.
const LAST_WORDS: usize = 10;

#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    group: Option<Pid>,
    program: String,
    last_words: LastWords,
    /// Reads stderr until nobody writes it any more.
    listener: JoinHandle<()>,
}

type LastWords = Arc<Mutex<VecDeque<String>>>;

impl Process {
    pub(super) fn start(
        command: &Command<'_>,
    ) -> Result<(Self, ChildStdin, ChildStdout), UpstreamError> {
        if let Some(cwd) = command.cwd.filter(|cwd| !std::path::Path::new(cwd).is_dir()) {
            tracing::warn!(program = %program(command), %cwd, "the working directory does not exist");
            return Err(UpstreamError::NotStarted(
                "its working directory does not exist".to_owned(),
            ));
        }
        let mut child = build(command)?.spawn().map_err(|error| {
            // Where the program is, is for the log; agents are told its name.
            tracing::warn!(program = %program(command), %error, "a server process could not be started");
            let name = program(command).rsplit('/').next().unwrap_or_default();
            UpstreamError::NotStarted(format!("{name}: {}", error.kind()))
        })?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(UpstreamError::NotStarted("its pipes could not be opened".to_owned()));
        };
        let (program, last_words) = (program(command).to_owned(), LastWords::default());
        let listener = tokio::spawn(drain(stderr, program.clone(), Arc::clone(&last_words)));
        let group = child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
        Ok((Self { child, group, program, last_words, listener }, stdin, stdout))
    }

    /// The exit code of a process that has closed its output; nothing when it lingers or was
    /// killed. Its last words go to the log only: they may name paths and more.
    pub(super) async fn exit_code(&mut self, patience: Duration) -> Option<i32> {
        let status = tokio::time::timeout(patience, self.child.wait()).await.ok()?.ok()?;
        // What it started itself may still hold stderr open.
        let _ = tokio::time::timeout(patience, &mut self.listener).await;
        let words = self.last_words.lock().unwrap_or_else(PoisonError::into_inner);
        let stderr = words.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
        tracing::warn!(program = %self.program, %status, %stderr, "a server process ended");
        status.code()
    }

    /// Waits for the process, asks it to end, and ends it, with everything it started itself.
    pub(super) async fn end(mut self, grace: Duration) {
        if tokio::time::timeout(grace, self.child.wait()).await.is_err() {
            self.signal(Signal::SIGTERM);
            // Only whether it is over matters.
            let _ = tokio::time::timeout(grace, self.child.wait()).await;
        }
        self.signal(Signal::SIGKILL);
        let _ = self.child.wait().await;
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // Fails only when the group is gone, which is what is wanted.
            let _ = killpg(group, signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Reached without `end` only when the runtime is torn down.
        if self.child.id().is_some() {
            self.signal(Signal::SIGKILL);
        }
    }
}

fn program<'a>(command: &Command<'a>) -> &'a str {
    command.argv.first().map_or("", String::as_str)
}

fn build(command: &Command<'_>) -> Result<tokio::process::Command, UpstreamError> {
    let Command { argv, env, cwd, credential, max_line: _ } = command;
    let Some((program, arguments)) = argv.split_first() else {
        return Err(UpstreamError::NotStarted("its command is empty".to_owned()));
    };
    let mut built = tokio::process::Command::new(program);
    built
        .args(arguments)
        .env_clear()
        .envs(INHERITED.iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
        .envs(env.iter().map(|(name, value)| (name, value)))
        .envs(credential.env.iter().map(|(name, value)| (name, value.expose_secret())))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A group of its own: it can be ended whole, and Ctrl-C in a terminal is ours alone.
        .process_group(0)
        .kill_on_drop(true);
    if let Some(cwd) = cwd {
        built.current_dir(cwd);
    }
    Ok(built)
}

/// A process whose stderr nobody reads stops when the pipe is full.
async fn drain(stderr: ChildStderr, program: String, last_words: LastWords) {
    const LOGGED: usize = 4096;
    let mut lines = LineReader::new(BufReader::new(stderr), LOGGED);
    loop {
        match lines.next().await {
            Ok(Line::Whole(line) | Line::TooLong { start: line, .. }) => {
                let line = String::from_utf8_lossy(&line).into_owned();
                tracing::debug!(%program, %line, "stderr");
                let mut words = last_words.lock().unwrap_or_else(PoisonError::into_inner);
                if words.len() == LAST_WORDS {
                    words.pop_front();
                }
                words.push_back(line);
            }
            Ok(Line::Endless) => {}
            Ok(Line::End) | Err(_) => return,
        }
    }
}
