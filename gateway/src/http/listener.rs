//! Listening and draining.

use std::{net::SocketAddr, time::Duration};

use axum::{Router, serve::ListenerExt as _};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// How long requests under way may take once we were asked to stop.
const DRAIN: Duration = Duration::from_secs(10);

/// An address that could not be listened on.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}; is something else using it?")]
pub(crate) struct ListenError {
    address: SocketAddr,
    source: std::io::Error,
}

pub(crate) async fn bind(address: SocketAddr) -> Result<TcpListener, ListenError> {
    TcpListener::bind(address).await.map_err(|source| ListenError { address, source })
}

/// Serves until `stop`, then lets requests under way finish.
pub(crate) async fn serve(listener: TcpListener, routes: Router, stop: CancellationToken) {
    // Without it the end of an event waits 40 ms for the client's acknowledgement.
    let listener = listener.tap_io(|io| {
        if let Err(error) = io.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
    });
    let drained = stop.clone();
    let served = axum::serve(listener, routes).with_graceful_shutdown(drained.cancelled_owned());
    let overdue = async {
        stop.cancelled().await;
        tokio::time::sleep(DRAIN).await;
    };
    tokio::select! {
        result = served.into_future() => {
            if let Err(error) = result {
                tracing::error!(%error, "serving ended");
            }
        }
        () = overdue => tracing::warn!("requests were still under way and are dropped"),
    }
}
