//! A transport after its handshake, whichever it is: carries one request and brings its answer.
//! Ids, eras and retries belong to the connection above.

use futures::FutureExt as _;
use tokio_util::sync::CancellationToken;

use crate::{
    UpstreamError,
    http::HttpWire,
    request::{Answer, Request},
    stdio::StdioWire,
};

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
            Self::Http(wire) => wire.request(request).boxed().await,
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
