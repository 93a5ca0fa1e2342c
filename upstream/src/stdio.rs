//! The stdio transport: one child process, messages as lines, answers matched by id.
//! Starting and ending the process is in `process`, matching answers in `demux`.

mod demux;
mod process;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use surface::credential::Credential;
use tokio::{
    io::{AsyncWriteExt as _, BufReader},
    process::{ChildStdin, ChildStdout},
    sync::mpsc,
};
use tokio_util::sync::CancellationToken;

use self::{demux::Demux, process::Process};
use crate::{
    UpstreamError, frame,
    lines::{Line, LineReader, one_line},
    request::{Answer, Request, Signals},
};

/// Lines on their way to the process. When a process stops reading, callers wait here, each
/// under its own timeout.
const OUTGOING_LINES: usize = 64;

/// How long a process gets to exit by itself at each step of ending it. A client that started us
/// gives us two seconds for both.
const GRACE: Duration = Duration::from_millis(750);

/// How long a process that closed its output may take to leave an exit code.
const BRIEFLY: Duration = Duration::from_millis(250);

/// What starts the process of one server.
#[derive(Debug, Clone)]
pub(crate) struct Command<'a> {
    pub(crate) argv: &'a [String],
    pub(crate) env: &'a [(String, String)],
    pub(crate) cwd: Option<&'a str>,
    pub(crate) credential: &'a Credential,
    pub(crate) max_line: usize,
}

/// A running server process.
#[derive(Debug)]
pub(crate) struct StdioWire {
    outgoing: mpsc::Sender<Bytes>,
    demux: Arc<Demux>,
    /// Asks the supervising task to end the process; also on drop.
    stop: tokio_util::sync::DropGuard,
    ended: CancellationToken,
}

impl StdioWire {
    pub(crate) fn start(command: &Command<'_>, signals: Signals) -> Result<Self, UpstreamError> {
        let (process, stdin, stdout) = Process::start(command)?;
        let (outgoing, lines) = mpsc::channel(OUTGOING_LINES);
        let demux = Arc::new(Demux::new(signals));
        let stop = CancellationToken::new();
        let ended = CancellationToken::new();
        let reader = LineReader::new(BufReader::new(stdout), command.max_line);
        tokio::spawn(supervise(Supervised {
            process,
            writer: tokio::spawn(write(stdin, lines)),
            reader,
            demux: Arc::clone(&demux),
            replies: outgoing.downgrade(),
            stop: stop.clone(),
            ended: ended.clone(),
        }));
        Ok(Self { outgoing, demux, stop: stop.drop_guard(), ended })
    }

    pub(crate) async fn request(&self, request: Request<'_>) -> Result<Answer, UpstreamError> {
        let Request { id, method, params, name: _, param_headers: _, notices } = request;
        let waiting = self.demux.wait_for(id, notices, self.outgoing.clone())?;
        self.send(frame::request(id, method, &params)).await?;
        waiting.answer().await
    }

    pub(crate) async fn notify(&self, method: &str, params: &str) -> Result<(), UpstreamError> {
        self.send(frame::notification(method, params)).await
    }

    /// Whether everything the process has written so far was no JSON-RPC.
    pub(crate) fn only_nonsense(&self) -> bool {
        self.demux.only_nonsense()
    }

    pub(crate) fn closed(&self) -> &CancellationToken {
        self.demux.closed()
    }

    pub(crate) async fn shutdown(&self) {
        self.stop.token().cancel();
        self.ended.cancelled().await;
    }

    async fn send(&self, message: String) -> Result<(), UpstreamError> {
        let line = Bytes::from(one_line(message.into_bytes()));
        self.outgoing.send(line).await.map_err(|_| self.demux.reason())
    }
}

/// Lines that wait together are written together.
async fn write(mut stdin: ChildStdin, mut lines: mpsc::Receiver<Bytes>) {
    let mut waiting = Vec::with_capacity(OUTGOING_LINES);
    while lines.recv_many(&mut waiting, OUTGOING_LINES).await > 0 {
        let written = match waiting.as_slice() {
            [line] => stdin.write_all(line).await,
            lines => stdin.write_all(&lines.concat()).await,
        };
        if written.is_err() {
            return;
        }
        waiting.clear();
    }
}

struct Supervised {
    process: Process,
    writer: tokio::task::JoinHandle<()>,
    reader: LineReader<BufReader<ChildStdout>>,
    demux: Arc<Demux>,
    /// Weak, so that the last caller's handle decides when the writer ends.
    replies: mpsc::WeakSender<Bytes>,
    stop: CancellationToken,
    ended: CancellationToken,
}

/// Reads until the process or its owner is done, then ends the process for good.
async fn supervise(supervised: Supervised) {
    let Supervised { mut process, mut writer, mut reader, demux, replies, stop, ended } =
        supervised;
    let reason = tokio::select! {
        reason = read(&mut reader, &demux, &replies) => reason,
        // It closed its input: nothing can be asked of it any more.
        _ = &mut writer => None,
        () = stop.cancelled() => Some(UpstreamError::Closed),
    };
    let reason = match reason {
        Some(reason) => reason,
        None => UpstreamError::Exited(process.exit_code(BRIEFLY).await),
    };
    demux.close(&reason);
    // Closing its stdin is how a server is asked to exit.
    writer.abort();
    process.end(GRACE).await;
    ended.cancel();
}

/// Nothing when the process closed its output, else why reading stopped.
async fn read(
    reader: &mut LineReader<BufReader<ChildStdout>>,
    demux: &Demux,
    replies: &mpsc::WeakSender<Bytes>,
) -> Option<UpstreamError> {
    loop {
        match reader.next().await {
            Ok(Line::Whole(line)) => {
                if let Some((reply, sender)) = demux.take(&line).zip(replies.upgrade()) {
                    // Dropped when the process does not read: it asked, it does not listen.
                    let _ = sender.try_send(Bytes::from(reply + "\n"));
                }
            }
            Ok(Line::TooLong { start, end }) => demux.too_large(&start, &end, reader.limit()),
            Ok(Line::Endless) => return Some(UpstreamError::TooLarge(reader.limit())),
            Ok(Line::End) | Err(_) => return None,
        }
    }
}
