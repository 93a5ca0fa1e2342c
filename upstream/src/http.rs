//! The streamable HTTP transport: every message its own POST, answered by JSON or by events.
//! Where it goes is in `endpoint`, over which connection in `pool` and `dial`, what comes back in
//! `reply`.

mod dial;
mod endpoint;
mod pool;
mod reply;

use std::{sync::Arc, time::Duration};

use ::http::{HeaderMap, HeaderName, HeaderValue, header::ACCEPT};
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

pub(crate) use self::endpoint::{Endpoint, EndpointParts};
use self::reply::Events;
use crate::{
    UpstreamError, frame,
    frame::Frame,
    mirror,
    request::{Answer, Notices, Request, Signals, is_relayed},
};

const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

/// How long a message may take that nobody waits for, or that only answers a server.
const ASIDE: Duration = Duration::from_secs(2);

/// What the messages of one server look like.
#[derive(Debug, Clone)]
pub(crate) enum Dialect {
    /// Metadata mirrored into headers.
    Modern { version: HeaderValue },
    /// Before the handshake of a legacy server.
    Opening,
    /// After it.
    Legacy { version: HeaderValue, session: Option<HeaderValue> },
}

#[derive(Debug)]
pub(crate) struct HttpWire {
    endpoint: Arc<Endpoint>,
    dialect: Dialect,
    signals: Signals,
    closed: CancellationToken,
    /// Ends what listens for this wire.
    _guard: DropGuard,
}

impl HttpWire {
    pub(crate) fn new(endpoint: Arc<Endpoint>, dialect: Dialect, signals: Signals) -> Self {
        let closed = CancellationToken::new();
        Self { endpoint, dialect, signals, _guard: closed.clone().drop_guard(), closed }
    }

    pub(crate) async fn request(&self, request: Request<'_>) -> Result<Answer, UpstreamError> {
        self.exchange(request).await.map(|(answer, _)| answer)
    }

    /// The same, with the session id that a legacy server hands out.
    pub(crate) async fn exchange(
        &self,
        request: Request<'_>,
    ) -> Result<(Answer, Option<HeaderValue>), UpstreamError> {
        let cancel = CancelOnDrop::new(self, &request);
        let outcome = self.exchange_uncancelled(request).await;
        // Answered or failed: either way there is nothing left to cancel.
        cancel.disarm();
        outcome
    }

    async fn exchange_uncancelled(
        &self,
        request: Request<'_>,
    ) -> Result<(Answer, Option<HeaderValue>), UpstreamError> {
        let body = frame::request(request.id, request.method, &request.params);
        let response = self.endpoint.post(self.headers(&request), body).await?;
        if response.status() == ::http::StatusCode::NOT_FOUND && self.session().is_some() {
            // The server forgot the session, and so did nothing with the request.
            self.closed.cancel();
            return Err(UpstreamError::Closed);
        }
        let session = response.headers().get(SESSION_ID).cloned();
        let answer = reply::answer(self, response, &request).await?;
        Ok((answer, session))
    }

    pub(crate) async fn notify(&self, method: &str, params: &str) -> Result<(), UpstreamError> {
        self.post_message(frame::notification(method, params)).await
    }

    /// Reads the legacy GET stream until it ends. Nothing where the server has none.
    pub(crate) async fn listen(&self) -> Result<(), UpstreamError> {
        let mut headers = self.dialect_headers();
        headers.insert(ACCEPT, EVENTS);
        let response = self.endpoint.get(headers).await?;
        if !response.status().is_success() {
            return Err(UpstreamError::HttpStatus(response.status().as_u16()));
        }
        let mut events = Events::new(response, self.endpoint.limit());
        while let Some(frame) = events.next().await? {
            self.aside(frame, None).await;
        }
        Ok(())
    }

    pub(crate) fn closed(&self) -> &CancellationToken {
        &self.closed
    }

    /// Gives a legacy session back.
    pub(crate) async fn shutdown(&self) {
        self.closed.cancel();
        if self.session().is_some() {
            // Best effort: the server expires it by itself.
            let _ = timeout(ASIDE, self.endpoint.delete(self.dialect_headers())).await;
        }
    }

    /// Deals with what is no answer: relays, takes note, or replies.
    async fn aside(&self, frame: Frame, notices: Option<&Notices>) {
        match frame {
            Frame::Notification { method, message } if is_relayed(&method) => {
                if let Some(notices) = notices {
                    // A client that reads slowly loses notices, not the time its call has.
                    let _ = notices.try_send(message);
                }
            }
            Frame::Notification { method, .. } => self.signals.notice(&method),
            Frame::Request { id, method } => {
                // Its failure shows in what the server does next.
                let _ = self.post_message(frame::reply(&id, &method)).await;
            }
            Frame::Response { .. } => {}
        }
    }

    async fn post_message(&self, body: String) -> Result<(), UpstreamError> {
        let mut headers = self.dialect_headers();
        headers.insert(ACCEPT, BOTH);
        let sent = async {
            let response = self.endpoint.post(headers, body).await?;
            let status = response.status();
            response.finish().await;
            match status {
                status if status.is_success() => Ok(()),
                status => Err(UpstreamError::HttpStatus(status.as_u16())),
            }
        };
        timeout(ASIDE, sent).await.unwrap_or(Err(UpstreamError::Timeout(ASIDE)))
    }

    fn headers(&self, request: &Request<'_>) -> HeaderMap {
        let mut headers = self.dialect_headers();
        headers.insert(ACCEPT, BOTH);
        if let Dialect::Modern { .. } = self.dialect {
            headers.insert(METHOD, HeaderValue::from_static(request.method));
            let mirrored = |value: &str| HeaderValue::try_from(mirror::encode(value));
            if let Some(Ok(name)) = request.name.map(mirrored) {
                headers.insert(NAME, name);
            }
            for (name, value) in &request.param_headers {
                let name = HeaderName::try_from(format!("mcp-param-{name}"));
                if let (Ok(name), Ok(value)) = (name, mirrored(value)) {
                    headers.insert(name, value);
                }
            }
        }
        headers
    }

    fn dialect_headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(16);
        match &self.dialect {
            Dialect::Opening => {}
            Dialect::Modern { version } => {
                headers.insert(PROTOCOL_VERSION, version.clone());
            }
            Dialect::Legacy { version, session } => {
                headers.insert(PROTOCOL_VERSION, version.clone());
                if let Some(session) = session {
                    headers.insert(SESSION_ID, session.clone());
                }
            }
        }
        headers
    }

    fn session(&self) -> Option<&HeaderValue> {
        match &self.dialect {
            Dialect::Legacy { session, .. } => session.as_ref(),
            Dialect::Modern { .. } | Dialect::Opening => None,
        }
    }
}

/// Closing the connection cancels a modern request; a legacy server must be told.
struct CancelOnDrop(Option<(Arc<Endpoint>, HeaderMap, u64)>);

impl CancelOnDrop {
    fn new(wire: &HttpWire, request: &Request<'_>) -> Self {
        let Dialect::Legacy { .. } = wire.dialect else { return Self(None) };
        let mut headers = wire.dialect_headers();
        headers.insert(ACCEPT, BOTH);
        Self(Some((Arc::clone(&wire.endpoint), headers, request.id)))
    }

    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let (Some((endpoint, headers, id)), Ok(runtime)) =
            (self.0.take(), tokio::runtime::Handle::try_current())
        {
            let params = format!(r#"{{"requestId":{id}}}"#);
            let body = frame::notification("notifications/cancelled", &params);
            // Best effort: the server that should hear it may be the one that hangs.
            runtime
                .spawn(timeout(ASIDE, async move { endpoint.post(headers, body).await.map(drop) }));
        }
    }
}
