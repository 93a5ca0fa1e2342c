//! Starts and ends the process of a server, with the whole group it starts itself.

use std::{process::Stdio, time::Duration};

use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use secrecy::ExposeSecret as _;
use tokio::{
    io::BufReader,
    process::{Child, ChildStderr, ChildStdin, ChildStdout},
};

use super::Command;
use crate::{
    UpstreamError,
    lines::{Line, LineReader},
};

/// All that a process gets of our own environment. Everything else is in its manifest.
const INHERITED: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];

#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    group: Option<Pid>,
}

impl Process {
    pub(super) fn start(
        command: &Command<'_>,
    ) -> Result<(Self, ChildStdin, ChildStdout), UpstreamError> {
        let mut child = build(command)?.spawn().map_err(|error| {
            UpstreamError::NotStarted(format!("{}: {}", program(command), error.kind()))
        })?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(UpstreamError::NotStarted("its pipes could not be opened".to_owned()));
        };
        tokio::spawn(drain(stderr, program(command).to_owned()));
        let group = child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
        Ok((Self { child, group }, stdin, stdout))
    }

    /// Waits for the process, asks it to end, and ends it. Its exit code, where it has one.
    pub(super) async fn end(mut self, grace: Duration) -> Option<i32> {
        for signal in [Signal::SIGTERM, Signal::SIGKILL] {
            if let Ok(status) = tokio::time::timeout(grace, self.child.wait()).await {
                // What it started itself must not outlive it.
                self.signal(Signal::SIGKILL);
                return status.ok()?.code();
            }
            self.signal(signal);
        }
        self.child.wait().await.ok()?.code()
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
async fn drain(stderr: ChildStderr, program: String) {
    const LOGGED: usize = 4096;
    let mut lines = LineReader::new(BufReader::new(stderr), LOGGED);
    loop {
        match lines.next().await {
            Ok(Line::Whole(line) | Line::TooLong { start: line }) => {
                tracing::debug!(%program, line = %String::from_utf8_lossy(&line), "stderr");
            }
            Ok(Line::Endless) => {}
            Ok(Line::End) | Err(_) => return,
        }
    }
}
