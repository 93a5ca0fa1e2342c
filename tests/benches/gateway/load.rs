//! The cheapest client that can be had, so that what is measured is the other end: prebuilt
//! requests over kept connections, answers read only as far as their length.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::table::Series;

const ROUNDS: usize = 6;
const ROUND: Duration = Duration::from_millis(1500);
const WARM_UP: Duration = Duration::from_millis(300);

/// Where a load goes.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) authority: String,
    pub(crate) path: &'static str,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
}

impl Target {
    fn request(&self) -> Vec<u8> {
        let mut text = format!(
            "POST {} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: {}\r\n",
            self.path,
            self.authority,
            self.body.len()
        );
        for (name, value) in &self.headers {
            write!(text, "{name}: {value}\r\n").unwrap();
        }
        (text + "\r\n" + &self.body).into_bytes()
    }

    /// The body of one answer.
    pub(crate) async fn once(&self, connection: &mut Connection) -> Vec<u8> {
        connection.exchange(&self.request()).await.to_vec()
    }
}

/// Loads both in turn with as many clients.
pub(crate) async fn in_turn(
    control: &Target,
    candidate: &Target,
    clients: usize,
) -> (Series, Series) {
    let (mut a, mut b) = (Series::default(), Series::default());
    for _ in 0..ROUNDS {
        for (target, series) in [(control, &mut a), (candidate, &mut b)] {
            let started = Instant::now();
            let samples = round(target, clients).await;
            series.add(samples, started.elapsed().saturating_sub(WARM_UP));
        }
    }
    (a, b)
}

async fn round(target: &Target, clients: usize) -> Vec<Duration> {
    let tasks: Vec<_> = (0..clients).map(|_| tokio::spawn(client(target.clone()))).collect();
    let mut samples = Vec::new();
    for task in tasks {
        samples.extend(task.await.unwrap());
    }
    samples
}

async fn client(target: Target) -> Vec<Duration> {
    let request = target.request();
    let mut connection = Connection::open(&target.authority).await;
    let started = Instant::now();
    let mut samples = Vec::new();
    while started.elapsed() < WARM_UP + ROUND {
        let one = Instant::now();
        connection.exchange(&request).await;
        if started.elapsed() > WARM_UP {
            samples.push(one.elapsed());
        }
    }
    samples
}

/// A kept connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(authority: &str) -> Self {
        let stream = TcpStream::connect(authority).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, buffer: Vec::with_capacity(1 << 16) }
    }

    /// One request and its whole answer; the answer's body as it came, chunk headers included.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> &[u8] {
        self.stream.write_all(request).await.unwrap();
        self.buffer.clear();
        let head = loop {
            self.read().await;
            if let Some(at) = find(&self.buffer, b"\r\n\r\n") {
                break at + 4;
            }
        };
        let headers = String::from_utf8_lossy(&self.buffer[..head]).to_ascii_lowercase();
        assert!(headers.starts_with("http/1.1 200"), "{headers}");
        match headers.split_once("content-length: ") {
            Some((_, rest)) => {
                let length: usize = rest.split("\r\n").next().unwrap().parse().unwrap();
                while self.buffer.len() < head + length {
                    self.read().await;
                }
            }
            None => {
                while !self.buffer.ends_with(b"0\r\n\r\n") {
                    self.read().await;
                }
            }
        }
        &self.buffer[head..]
    }

    async fn read(&mut self) {
        let read = self.stream.read_buf(&mut self.buffer).await.unwrap();
        assert!(read > 0, "the connection was closed");
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}
