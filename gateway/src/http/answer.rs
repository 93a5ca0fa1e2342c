//! Answers as HTTP: one JSON message, or events when there is something to tell before it.

use std::pin::Pin;

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use futures::stream;
use tokio::sync::mpsc;
use upstream::RawJson;

use super::message::Message;
use crate::{
    failure::Failure,
    mcp::{
        exchange::{Answered, Exchange},
        message::Refused,
        modern::Speaker,
    },
};

type Pending = Pin<Box<dyn Future<Output = Answered> + Send>>;

impl Refused {
    pub(crate) fn anonymous(failure: Failure) -> Self {
        Self { id: Bytes::from_static(b"null"), failure }
    }
}

/// Answers with one message when the answer comes first, with events when a notice does.
pub(super) async fn stream_or_single(
    exchange: Exchange,
    mut notices: mpsc::Receiver<RawJson>,
) -> Response {
    let mut pending: Pending = Box::pin(exchange.answer());
    let first = tokio::select! {
        biased;
        Some(notice) = notices.recv() => notice,
        answered = &mut pending => return single(answered),
    };
    let events = stream::unfold(State::Told { first, notices, pending }, next_event);
    let mut response = Body::from_stream(events).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Proxies in front of us must not hold events back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

enum State {
    Told { first: RawJson, notices: mpsc::Receiver<RawJson>, pending: Pending },
    Telling { notices: mpsc::Receiver<RawJson>, pending: Pending },
    Over,
}

async fn next_event(state: State) -> Option<(Result<Bytes, std::convert::Infallible>, State)> {
    let (mut notices, mut pending) = match state {
        State::Told { first, notices, pending } => {
            return Some((
                Ok(event(first.as_str().as_bytes())),
                State::Telling { notices, pending },
            ));
        }
        State::Telling { notices, pending } => (notices, pending),
        State::Over => return None,
    };
    tokio::select! {
        // Notices come before the answer they belong to.
        biased;
        Some(notice) = notices.recv() => {
            Some((Ok(event(notice.as_str().as_bytes())), State::Telling { notices, pending }))
        }
        answered = &mut pending => Some((Ok(event(&Message::new(answered).into_bytes())), State::Over)),
    }
}

/// A message holds no raw line end: JSON escapes them, and a server's pretty print is one line
/// per data field.
fn event(message: &[u8]) -> Bytes {
    let mut event = Vec::with_capacity(message.len() + 32);
    event.extend_from_slice(b"event: message\n");
    for line in message.split(|c| matches!(c, b'\n' | b'\r')) {
        event.extend_from_slice(b"data: ");
        event.extend_from_slice(line);
        event.push(b'\n');
    }
    event.push(b'\n');
    event.into()
}

pub(super) fn refusal(refused: Refused) -> Response {
    let Refused { id, failure } = refused;
    single(Answered { id, speaker: Speaker::Modern, outcome: Err(failure) })
}

pub(super) fn single(answered: Answered) -> Response {
    let status = match (&answered.outcome, answered.speaker) {
        (Err(failure), Speaker::Modern) => failure.row().status,
        _ => StatusCode::OK,
    };
    json(status, Body::new(Message::new(answered)))
}

pub(super) fn json(status: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}
