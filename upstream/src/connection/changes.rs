//! The stream on which a server announces changes. What it brings arrives as a signal.

use std::{sync::Weak, time::Duration};

use surface::doc::Era;

use super::Connection;
use crate::{UpstreamError, handshake, request::Request, schedule::jittered, wire::Wire};

/// Pauses before the stream is opened again after it ended.
const REOPEN: Duration = Duration::from_secs(5);

/// Keeps the server's change stream open for as long as the connection lives. What it brings
/// arrives as a signal; that it is missing costs only the wait for the next poll.
pub(super) async fn follow(connection: Weak<Connection>) {
    loop {
        let Some(alive) = connection.upgrade() else { return };
        let (closed, retired) = (alive.closed().clone(), alive.retired.clone());
        let again = tokio::select! {
            again = listen_once(&alive) => again,
            () = closed.cancelled() => false,
            () = retired.cancelled() => false,
        };
        // Not held over the pause: the last caller's hold decides when the connection ends.
        drop(alive);
        if !again {
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(jittered(REOPEN)) => {}
            () = retired.cancelled() => return,
        }
    }
}

/// Whether it is worth opening the stream again.
async fn listen_once(connection: &Connection) -> bool {
    match (&connection.wire, connection.greeting.era) {
        // A legacy process announces changes unasked.
        (Wire::Stdio(_), Era::Legacy) => false,
        (Wire::Http(wire), Era::Legacy) => {
            !matches!(wire.listen().await, Err(UpstreamError::HttpStatus(400..=499)))
        }
        (wire, Era::Modern) => {
            let params = format!(
                r#"{{"_meta":{},"notifications":{{"toolsListChanged":true}}}}"#,
                handshake::own_meta()
            );
            let request = Request::plain(connection.next_id(), "subscriptions/listen", params);
            !matches!(wire.request(request).await, Ok(Err(_)))
        }
    }
}
