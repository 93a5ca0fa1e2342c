//! One request and what comes back, for every transport.
//! Framing belongs to the transports, meaning to the connection above them.

use std::sync::Arc;

use tokio::sync::{Notify, mpsc};

use crate::frame::{RawJson, RpcError};

/// Handshakes come first, so they have the first ids. They are not cancelled: there are servers
/// that end over a notification that comes before their `initialize`.
pub(crate) const DISCOVER_ID: u64 = 0;
pub(crate) const INITIALIZE_ID: u64 = 1;
pub(crate) const FIRST_FREE_ID: u64 = 2;

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
