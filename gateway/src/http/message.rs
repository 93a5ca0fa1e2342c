//! A JSON-RPC response as bytes. Its result is shared with who made it and not copied: a list of a
//! thousand tools is written to the socket from where the snapshot holds it.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use crate::{failure::Rendered, mcp::exchange::Answered};

/// Below this, one write of a copy is cheaper than several pieces.
const COPIED: usize = 16 * 1024;

/// The pieces of one message, in order.
#[derive(Debug)]
pub(crate) struct Message(std::collections::VecDeque<Bytes>);

impl Message {
    pub(crate) fn new(answered: Answered) -> Self {
        let Answered { id, speaker: _, outcome } = answered;
        let (member, value) = match outcome {
            Ok(result) => ("result", result),
            Err(failure) => match failure.render() {
                Rendered::Result(result) => ("result", result.into()),
                Rendered::Error(error) => ("error", error.into()),
            },
        };
        let copied = if value.len() < COPIED { value.len() + 1 } else { 0 };
        let mut head = Vec::with_capacity(id.len() + copied + 40);
        for part in [&br#"{"jsonrpc":"2.0","id":"#[..], &id, b",\"", member.as_bytes(), b"\":"] {
            head.extend_from_slice(part);
        }
        if copied == 0 {
            return Self([head.into(), value, Bytes::from_static(b"}")].into());
        }
        head.extend_from_slice(&value);
        head.push(b'}');
        Self([head.into()].into())
    }

    /// The whole message in one piece.
    pub(crate) fn into_bytes(self) -> Bytes {
        let Self(mut pieces) = self;
        match pieces.pop_front() {
            Some(only) if pieces.is_empty() => only,
            first => first.into_iter().chain(pieces).collect::<Vec<_>>().concat().into(),
        }
    }
}

impl Body for Message {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.iter().map(|piece| piece.len() as u64).sum())
    }
}
