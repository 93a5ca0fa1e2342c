//! One conversation with one server. How it begins is in `open`; what it announces, in `changes`.

mod changes;
mod open;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use surface::doc::TransportDoc;
use tokio_util::sync::CancellationToken;

pub(crate) use self::open::Opening;
use crate::{
    UpstreamError,
    handshake::Greeting,
    request::{Answer, FIRST_FREE_ID, Request},
    wire::Wire,
};

#[derive(Debug)]
pub(crate) struct Connection {
    wire: Wire,
    greeting: Greeting,
    ids: AtomicU64,
    /// Cancelled when it takes no new requests; its change stream is given up then.
    retired: CancellationToken,
}

impl Connection {
    /// Opens one within the server's connect timeout.
    pub(crate) async fn open(opening: &Opening<'_>) -> Result<Arc<Self>, UpstreamError> {
        let patience = opening.doc.limits.connect_timeout;
        let opened = tokio::time::timeout(patience, async {
            match &opening.doc.transport {
                TransportDoc::Stdio { .. } => open::stdio(opening).await,
                TransportDoc::StreamableHttp { .. } => open::http(opening).await,
            }
        })
        .await
        .unwrap_or(Err(UpstreamError::Timeout(patience)))?;
        let (wire, greeting) = opened;
        let connection = Arc::new(Self {
            wire,
            greeting,
            ids: AtomicU64::new(FIRST_FREE_ID),
            retired: CancellationToken::new(),
        });
        if connection.greeting.offers().tools_list_changed {
            tokio::spawn(changes::follow(Arc::downgrade(&connection)));
        }
        Ok(connection)
    }

    pub(crate) fn greeting(&self) -> &Greeting {
        &self.greeting
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn is_http(&self) -> bool {
        matches!(self.wire, Wire::Http(_))
    }

    pub(crate) async fn request(&self, request: Request<'_>) -> Result<Answer, UpstreamError> {
        self.wire.request(request).await
    }

    pub(crate) fn closed(&self) -> &CancellationToken {
        self.wire.closed()
    }

    pub(crate) fn retire(&self) {
        self.retired.cancel();
    }

    pub(crate) async fn shutdown(&self) {
        self.retire();
        self.wire.shutdown().await;
    }
}
