//! Matches what a process writes with who waits for it. No I/O here.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::{
    UpstreamError,
    frame::{self, Frame, RawJson},
    request::{Answer, FIRST_FREE_ID, Notices, Signals, is_relayed},
};

type Outcome = Result<Answer, UpstreamError>;

/// Everyone who waits for an answer of one process.
#[derive(Debug)]
pub(super) struct Demux {
    state: Mutex<State>,
    closed: CancellationToken,
    signals: Signals,
    saw_message: AtomicBool,
    saw_nonsense: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    waiting: HashMap<u64, Waiter>,
    closed: Option<UpstreamError>,
}

#[derive(Debug)]
struct Waiter {
    answer: oneshot::Sender<Outcome>,
    notices: Option<Notices>,
}

/// A place in the queue. Dropped before the answer came, it tells the server to stop.
#[derive(Debug)]
pub(super) struct Waiting {
    id: u64,
    answer: oneshot::Receiver<Outcome>,
    demux: Arc<Demux>,
    outgoing: mpsc::Sender<Bytes>,
}

impl Demux {
    pub(super) fn new(signals: Signals) -> Self {
        Self {
            state: Mutex::default(),
            closed: CancellationToken::new(),
            signals,
            saw_message: AtomicBool::new(false),
            saw_nonsense: AtomicBool::new(false),
        }
    }

    pub(super) fn wait_for(
        self: &Arc<Self>,
        id: u64,
        notices: Option<Notices>,
        outgoing: mpsc::Sender<Bytes>,
    ) -> Result<Waiting, UpstreamError> {
        let (sender, answer) = oneshot::channel();
        let mut state = self.lock();
        if let Some(reason) = &state.closed {
            return Err(reason.clone());
        }
        state.waiting.insert(id, Waiter { answer: sender, notices });
        Ok(Waiting { id, answer, demux: Arc::clone(self), outgoing })
    }

    /// Takes one line; gives back what is to be written in reply to it.
    pub(super) fn take(&self, line: &Bytes) -> Option<String> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        let Ok(frame) = Frame::read(line) else {
            // Many servers log to their output; the specification forbids it, we bear it.
            self.saw_nonsense.store(true, Ordering::Relaxed);
            return None;
        };
        self.saw_message.store(true, Ordering::Relaxed);
        match frame {
            Frame::Response { id: Some(id), outcome } => self.settle(id, Ok(outcome)),
            Frame::Response { id: None, .. } => {}
            Frame::Request { id, method } => return Some(frame::reply(&id, &method)),
            Frame::Notification { method, message } if is_relayed(&method) => {
                self.relay(&message);
            }
            Frame::Notification { method, .. } => self.signals.notice(&method),
        }
        None
    }

    /// A line that was dropped for its length: fails the request it answers, where that can be
    /// told from its ends. Others are not disturbed.
    pub(super) fn too_large(&self, start: &[u8], end: &[u8], limit: u64) {
        self.saw_message.store(true, Ordering::Relaxed);
        if let Some(id) = id_at_start(start).or_else(|| id_at_end(end)) {
            self.settle(id, Err(UpstreamError::TooLarge(limit)));
        }
    }

    /// Fails everyone who waits and everyone who comes later. The first reason stands.
    pub(super) fn close(&self, reason: &UpstreamError) {
        let waiting = {
            let mut state = self.lock();
            state.closed.get_or_insert_with(|| reason.clone());
            std::mem::take(&mut state.waiting)
        };
        for waiter in waiting.into_values() {
            let _ = waiter.answer.send(Err(reason.clone()));
        }
        self.closed.cancel();
    }

    pub(super) fn closed(&self) -> &CancellationToken {
        &self.closed
    }

    pub(super) fn reason(&self) -> UpstreamError {
        self.lock().closed.clone().unwrap_or(UpstreamError::Closed)
    }

    pub(super) fn only_nonsense(&self) -> bool {
        self.saw_nonsense.load(Ordering::Relaxed) && !self.saw_message.load(Ordering::Relaxed)
    }

    fn settle(&self, id: u64, outcome: Outcome) {
        let waiter = self.lock().waiting.remove(&id);
        if let Some(waiter) = waiter {
            let _ = waiter.answer.send(outcome);
        }
    }

    /// Progress names its request by token, and our tokens are our ids. A log message names
    /// none: on a shared channel it cannot be told whose it is, so it goes to nobody.
    fn relay(&self, message: &RawJson) {
        let token = serde_json::from_str::<Value>(message.as_str())
            .ok()
            .and_then(|message| message["params"]["progressToken"].as_u64());
        let notices = token.and_then(|id| self.lock().waiting.get(&id)?.notices.clone());
        if let Some(notices) = notices {
            // One reader serves every caller: a slow one loses progress, not the others' answers.
            let _ = notices.try_send(message.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    pub(super) async fn answer(mut self) -> Outcome {
        match (&mut self.answer).await {
            Ok(outcome) => outcome,
            Err(_) => Err(self.demux.reason()),
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let unanswered = self.demux.lock().waiting.remove(&self.id).is_some();
        if unanswered && self.id >= FIRST_FREE_ID {
            let params = format!(r#"{{"requestId":{}}}"#, self.id);
            let line = frame::notification("notifications/cancelled", &params) + "\n";
            // A process that reads nothing need not hear that nobody waits.
            let _ = self.outgoing.try_send(line.into());
        }
    }
}

/// The id of a message that begins with it, as most servers write it. Only the outermost member
/// counts: results hold ids of their own.
fn id_at_start(start: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(start);
    let rest = text.trim_start().strip_prefix('{')?.trim_start();
    let rest = match member(rest, "jsonrpc") {
        Some(rest) => rest.strip_prefix(r#""2.0""#)?.trim_start().strip_prefix(',')?.trim_start(),
        None => rest,
    };
    let rest = member(rest, "id")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit())?;
    rest[..digits].parse().ok()
}

/// The id of a message that ends with it, as the TypeScript SDK writes it: what stands before the
/// last brace is a member of the outermost object.
fn id_at_end(end: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(end);
    let rest = text.trim_end().strip_suffix('}')?.trim_end();
    let digits = rest.trim_end_matches(|c: char| c.is_ascii_digit());
    let before = digits.trim_end().strip_suffix(':')?.trim_end();
    before.ends_with(r#""id""#).then(|| rest[digits.len()..].parse().ok())?
}

fn member<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let rest = text.strip_prefix('"')?.strip_prefix(name)?.strip_prefix('"')?;
    Some(rest.trim_start().strip_prefix(':')?.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demux() -> (Arc<Demux>, mpsc::Sender<Bytes>, mpsc::Receiver<Bytes>) {
        let (outgoing, lines) = mpsc::channel(8);
        (Arc::new(Demux::new(Signals::default())), outgoing, lines)
    }

    #[tokio::test]
    async fn answers_find_who_asked_whatever_their_order() {
        let (demux, outgoing, _lines) = demux();
        let one = demux.wait_for(1, None, outgoing.clone()).unwrap();
        let two = demux.wait_for(2, None, outgoing).unwrap();
        demux.take(&Bytes::from_static(br#"{"id":2,"result":"b"}"#));
        demux.take(&Bytes::from_static(b"a log line"));
        demux.take(&Bytes::from_static(br#"{"id":1,"result":"a"}"#));
        assert_eq!(one.answer().await.unwrap().unwrap().as_str(), r#""a""#);
        assert_eq!(two.answer().await.unwrap().unwrap().as_str(), r#""b""#);
    }

    #[tokio::test]
    async fn a_dropped_wait_cancels_and_a_settled_one_does_not() {
        let (demux, outgoing, mut lines) = demux();
        drop(demux.wait_for(7, None, outgoing.clone()).unwrap());
        let line = lines.try_recv().unwrap();
        assert!(line.starts_with(br#"{"jsonrpc":"2.0","method":"notifications/cancelled""#));
        drop(demux.wait_for(0, None, outgoing.clone()).unwrap());
        assert!(lines.try_recv().is_err(), "a handshake is not cancelled");
        let waiting = demux.wait_for(8, None, outgoing).unwrap();
        demux.take(&Bytes::from_static(br#"{"id":8,"result":{}}"#));
        assert!(waiting.answer().await.is_ok());
        assert!(lines.try_recv().is_err());
    }

    #[tokio::test]
    async fn a_line_that_was_too_long_fails_its_own_request() {
        let (demux, outgoing, _lines) = demux();
        let one = demux.wait_for(1, None, outgoing.clone()).unwrap();
        let two = demux.wait_for(2, None, outgoing).unwrap();
        demux.too_large(br#"{"result":{"id":2,"#, br#"x":"y"},"jsonrpc":"2.0","id":1}"#, 8);
        assert_eq!(one.answer().await, Err(UpstreamError::TooLarge(8)));
        demux.close(&UpstreamError::Exited(Some(3)));
        assert_eq!(two.answer().await, Err(UpstreamError::Exited(Some(3))));
        let (_, outgoing, _lines) = self::demux();
        assert!(demux.wait_for(3, None, outgoing).is_err());
    }

    #[test]
    fn only_the_outermost_id_says_whose_answer_it_is() {
        for (start, end, expected) in [
            (r#"{"jsonrpc":"2.0","id": 7,"result":{"#, "", Some(7)),
            (r#" {"id":7,"jsonrpc""#, "", Some(7)),
            (r#"{"result":{"id":3,"#, r#"},"jsonrpc":"2.0","id":7}"#, Some(7)),
            (r#"{"result":{"id":3,"#, r#"{"id":3}}"#, None),
            (r#"{"result":{"id":3,"#, r#""id":"x"}"#, None),
        ] {
            let found = id_at_start(start.as_bytes()).or_else(|| id_at_end(end.as_bytes()));
            assert_eq!(found, expected, "{start} … {end}");
        }
    }

    #[test]
    fn a_server_is_answered_when_it_asks() {
        let (demux, _, _) = demux();
        let reply = |text: &'static str| demux.take(&Bytes::from_static(text.as_bytes()));
        assert!(reply(r#"{"id":"p","method":"ping"}"#).unwrap().contains(r#""id":"p","result""#));
        assert!(reply(r#"{"id":1,"method":"roots/list"}"#).unwrap().contains("-32601"));
        assert!(reply(r#"{"method":"notifications/message","params":{}}"#).is_none());
    }
}
