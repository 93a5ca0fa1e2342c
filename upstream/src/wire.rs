//! What every transport does: carry one request and bring back its answer.
//! Ids, eras and retries belong to the connection above; framing belongs to the transports.

use std::sync::Arc;

use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use crate::{
    UpstreamError,
    frame::{RawJson, RpcError},
    http::HttpWire,
    stdio::StdioWire,
};

/// What a server answered: a result, or an error of its own.
pub type Answer = Result<RawJson, RpcError>;

/// Where progress and log messages of one request go: whole JSON-RPC notifications.
pub(crate) type Notices = mpsc::Sender<RawJson>;

/// One request on its way.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) id: u64,
    pub(crate) method: &'static str,
    /// The `params` object as JSON.
    pub(crate) params: String,
    /// What a modern client mirrors into `Mcp-Name`.
    pub(crate) name: Option<&'a str>,
    /// What it mirrors into `Mcp-Param-…`: header names and values, not yet encoded.
    pub(crate) param_headers: Vec<(String, String)>,
    pub(crate) notices: Option<Notices>,
}

impl Request<'_> {
    pub(crate) fn plain(id: u64, method: &'static str, params: String) -> Self {
        Self { id, method, params, name: None, param_headers: Vec::new(), notices: None }
    }
}

/// Signals that concern the server rather than one request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Signals {
    /// The server said that its tools changed.
    pub(crate) changed: Arc<Notify>,
}

impl Signals {
    /// Takes note of a notification that belongs to no request.
    pub(crate) fn notice(&self, method: &str) {
        if method == "notifications/tools/list_changed" {
            self.changed.notify_one();
        }
    }
}

/// Whether a notification belongs to a request and is relayed to who made it.
pub(crate) fn is_relayed(method: &str) -> bool {
    matches!(method, "notifications/progress" | "notifications/message")
}

/// A transport after its handshake.
#[derive(Debug)]
pub(crate) enum Wire {
    Stdio(StdioWire),
    Http(HttpWire),
}

impl Wire {
    /// Sends a request and waits for its answer. Dropping the future cancels the request.
    pub(crate) async fn request(&self, request: Request<'_>) -> Result<Answer, UpstreamError> {
        match self {
            Self::Stdio(wire) => wire.request(request).await,
            // Boxed: the state of an exchange is kilobytes, and everything above would be moved
            // along with it.
            Self::Http(wire) => Box::pin(wire.request(request)).await,
        }
    }

    pub(crate) async fn notify(&self, method: &str, params: &str) -> Result<(), UpstreamError> {
        match self {
            Self::Stdio(wire) => wire.notify(method, params).await,
            Self::Http(wire) => wire.notify(method, params).await,
        }
    }

    /// Resolves once nothing can be sent any more.
    pub(crate) fn closed(&self) -> &CancellationToken {
        match self {
            Self::Stdio(wire) => wire.closed(),
            Self::Http(wire) => wire.closed(),
        }
    }

    /// Ends what the transport runs, and waits for it.
    pub(crate) async fn shutdown(&self) {
        match self {
            Self::Stdio(wire) => wire.shutdown().await,
            Self::Http(wire) => wire.shutdown().await,
        }
    }
}
