//! Answers as HTTP: one JSON message, or events when there is something to tell before it.

use std::convert::Infallible;

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use futures::{StreamExt as _, stream};

use super::message::Message;
use crate::{
    failure::Failure,
    mcp::{
        exchange::{Answered, Exchange, Telling, Told},
        message::Refused,
        modern::Speaker,
    },
};

impl Refused {
    pub(crate) fn anonymous(failure: Failure) -> Self {
        Self { id: Bytes::from_static(b"null"), failure }
    }
}

/// Answers with one message when the answer comes first, with events when a notice does.
pub(super) async fn stream_or_single(exchange: Exchange) -> Response {
    let mut telling = exchange.tell();
    match telling.next().await {
        Told::Answer(answered) => single(answered),
        first @ Told::Notice(_) => events(first, telling),
    }
}

fn events(first: Told, telling: Telling) -> Response {
    let rest = stream::unfold(Some(telling), async |telling| {
        let mut telling = telling?;
        let told = telling.next().await;
        let over = matches!(told, Told::Answer(_));
        Some((told, (!over).then_some(telling)))
    });
    let events = stream::once(std::future::ready(first)).chain(rest);
    let mut response = Body::from_stream(events.map(|told| {
        Ok::<_, Infallible>(match told {
            Told::Notice(notice) => event(notice.as_str().as_bytes()),
            Told::Answer(answered) => event(&Message::new(answered).into_bytes()),
        })
    }))
    .into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Proxies in front of us must not hold events back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
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
