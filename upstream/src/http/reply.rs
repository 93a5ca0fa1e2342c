//! Reads what a server answers to a POST: one JSON message, or events until the answer.

use bytes::{Bytes, BytesMut};
use futures::FutureExt as _;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};

use super::{HttpWire, pool::Reply};
use crate::{
    UpstreamError,
    frame::Frame,
    request::{Answer, Request},
    sse::SseReader,
};

pub(super) async fn answer(
    wire: &HttpWire,
    response: Reply,
    request: &Request<'_>,
) -> Result<Answer, UpstreamError> {
    let limit = wire.endpoint.limit();
    let status = response.status();
    match essence(&response).as_str() {
        "application/json" => match Frame::read(&body(response, limit).await?) {
            // An error may be too early for the server to know the id.
            Ok(Frame::Response { id: None, outcome: Err(error) }) => Ok(Err(error)),
            Ok(Frame::Response { id: Some(id), outcome }) if id == request.id => Ok(outcome),
            _ if !status.is_success() => Err(UpstreamError::HttpStatus(status.as_u16())),
            _ => Err(UpstreamError::Nonsense),
        },
        _ if !status.is_success() => Err(UpstreamError::HttpStatus(status.as_u16())),
        "text/event-stream" => answer_in_events(wire, response, request).await,
        other => Err(UpstreamError::WrongContentType(other.chars().take(64).collect())),
    }
}

async fn answer_in_events(
    wire: &HttpWire,
    response: Reply,
    request: &Request<'_>,
) -> Result<Answer, UpstreamError> {
    let mut events = Events::new(response, wire.endpoint.limit());
    while let Some(frame) = events.next().await? {
        match frame {
            Frame::Response { id: Some(id), outcome } if id == request.id => {
                events.end();
                return Ok(outcome);
            }
            Frame::Response { id: None, outcome: Err(error) } => return Ok(Err(error)),
            other => wire.aside(other, request.notices.as_ref()).await,
        }
    }
    Err(UpstreamError::Closed)
}

/// The messages of an event stream.
#[derive(Debug)]
pub(super) struct Events {
    response: Reply,
    reader: SseReader,
}

impl Events {
    pub(super) fn new(response: Reply, limit: usize) -> Self {
        Self { response, reader: SseReader::new(limit) }
    }

    /// The answer has come: what may follow is the end of the body, which nobody waits for.
    fn end(self) {
        let mut finish = Box::pin(self.response.finish());
        if (&mut finish).now_or_never().is_none() {
            tokio::spawn(finish);
        }
    }

    /// The next message; nothing when the stream has ended.
    pub(super) async fn next(&mut self) -> Result<Option<Frame>, UpstreamError> {
        loop {
            match self.reader.next()? {
                // Some servers open a stream with an empty event.
                Some(data) if data.iter().all(u8::is_ascii_whitespace) => {}
                Some(data) => {
                    return Frame::read(&data).map(Some).map_err(|_| UpstreamError::Nonsense);
                }
                None => match self.response.chunk().await? {
                    Some(chunk) => self.reader.push(&chunk),
                    None => return Ok(None),
                },
            }
        }
    }
}

async fn body(mut response: Reply, limit: usize) -> Result<Bytes, UpstreamError> {
    let too_large = || UpstreamError::TooLarge(limit as u64);
    let announced = response.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    if announced.is_some_and(|length| length.parse().is_ok_and(|length: u64| length > limit as u64))
    {
        return Err(too_large());
    }
    // An answer in one piece, as most are, is not copied: its bytes become the whole.
    let mut whole = BytesMut::new();
    while let Some(piece) = response.chunk().await? {
        if whole.len() + piece.len() > limit {
            return Err(too_large());
        }
        if whole.is_empty() {
            whole = BytesMut::from(piece);
        } else {
            whole.extend_from_slice(&piece);
        }
    }
    Ok(whole.freeze())
}

/// The content type without its parameters, in lower case.
fn essence(response: &Reply) -> String {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = value.unwrap_or_default().split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}
