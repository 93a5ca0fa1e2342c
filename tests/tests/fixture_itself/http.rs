//! A fixture on a port, and the least HTTP that can speak to it. Every wait is bounded.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Server {
    child: Child,
    address: String,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
    head: String,
}

pub(crate) fn start(switches: &[&str]) -> Server {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fixture"))
        .arg("http")
        .args(switches)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("listening on http://").unwrap();
    let address = url.strip_suffix("/mcp").unwrap().to_owned();
    Server { child, address }
}

/// The headers that a modern request must have.
pub(crate) fn modern<'a>(method: &'a str, name: Option<&'a str>) -> Vec<(&'a str, &'a str)> {
    let mut headers = vec![("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)];
    headers.extend(name.map(|name| ("Mcp-Name", name)));
    headers
}

impl Server {
    pub(crate) fn post(&self, body: &str, headers: &[(&str, &str)]) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(stream, "POST /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.address)
            .unwrap();
        write!(stream, "Accept: application/json, text/event-stream\r\n").unwrap();
        write!(stream, "Content-Type: application/json\r\nContent-Length: {}\r\n", body.len())
            .unwrap();
        for (name, value) in headers {
            write!(stream, "{name}: {value}\r\n").unwrap();
        }
        write!(stream, "\r\n{body}").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        Answer::parse(&text)
    }
}

impl Answer {
    fn parse(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, body: body.into(), head: head.into() }
    }

    pub(crate) fn header(&self, wanted: &str) -> Option<&str> {
        let headers = self.head.lines().filter_map(|line| line.split_once(": "));
        headers.filter(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value).next()
    }

    /// The last message in the body, be it JSON or an event stream, chunked or not: each stands on one line.
    pub(crate) fn message(&self) -> Value {
        let lines = self.body.lines().rev().map(|line| line.trim_start_matches("data: "));
        let message = lines.filter(|line| line.starts_with('{')).map(serde_json::from_str).next();
        message.unwrap().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
