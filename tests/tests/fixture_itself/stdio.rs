//! A fixture on pipes. Every wait is bounded.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    /// Closes when the fixture's stdout does.
    lines: Receiver<String>,
}

pub(crate) fn start(switches: &[&str]) -> Server {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fixture"))
        .arg("stdio")
        .args(switches)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let stdout = child.stdout.take().unwrap();
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    Server { stdin: child.stdin.take(), child, lines }
}

impl Server {
    pub(crate) fn tell(&mut self, message: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    pub(crate) fn hear(&self) -> String {
        self.lines.recv_timeout(PATIENCE).unwrap()
    }

    pub(crate) fn ask_raw(&mut self, message: &str) -> String {
        self.tell(message);
        self.hear()
    }

    pub(crate) fn ask(&mut self, message: &str) -> Value {
        serde_json::from_str(&self.ask_raw(message)).unwrap()
    }

    /// Closes stdin and says with which code the fixture left.
    pub(crate) fn close(&mut self) -> Option<i32> {
        self.stdin = None;
        self.code()
    }

    /// The code with which the fixture leaves. Its stdout closes first, which is what is waited for.
    pub(crate) fn code(&mut self) -> Option<i32> {
        while let Ok(_more) = self.lines.recv_timeout(PATIENCE) {}
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
