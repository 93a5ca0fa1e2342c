//! Keeps the listing of one server fresh: lists it, waits for news or for its time, lists again.

use std::{sync::Arc, time::Duration};

use surface::doc::ListingDoc;
use tokio_util::sync::CancellationToken;

use crate::{
    Client, UpstreamError,
    schedule::{back_off, freshness, jittered},
};

/// The shortest pause between two listings, however often a server says that it changed.
const CALM: Duration = Duration::from_millis(200);

/// What became of one listing.
#[derive(Debug, Clone)]
pub enum Heard {
    /// The same `Arc` as before when nothing changed.
    Listing(Arc<ListingDoc>),
    Failure(UpstreamError),
}

/// Lists `client` until `stop`, and tells `tell` about every attempt.
pub async fn follow(client: Arc<Client>, stop: CancellationToken, mut tell: impl FnMut(Heard)) {
    let poll_interval = client.doc().poll_interval;
    let mut last: Option<Arc<ListingDoc>> = None;
    let mut failures = 0;
    // Times in a row that a server called for us and had nothing new.
    let mut false_alarms = 0;
    let mut was_called = false;
    loop {
        let listed = tokio::select! {
            listed = client.list() => listed,
            () = stop.cancelled() => return,
        };
        let pause = match listed {
            Ok(listed) => {
                failures = 0;
                let known = last.take().filter(|last| same(last, &listed.listing));
                false_alarms = if was_called && known.is_some() { false_alarms + 1 } else { 0 };
                let listing = known.unwrap_or_else(|| Arc::new(listed.listing));
                last = Some(Arc::clone(&listing));
                tell(Heard::Listing(listing));
                freshness(listed.ttl, poll_interval)
            }
            Err(error) => {
                failures += 1;
                tell(Heard::Failure(error));
                back_off(failures, poll_interval)
            }
        };
        // A server that keeps calling, or keeps dying, is heard less and less often.
        let deaf = CALM + back_off(false_alarms, poll_interval);
        was_called = tokio::select! {
            () = tokio::time::sleep(jittered(pause)) => false,
            () = news(&client, deaf) => true,
            () = stop.cancelled() => return,
        };
    }
}

/// Resolves when the server calls for us, or is lost; not before a while has passed.
async fn news(client: &Client, deaf: Duration) {
    tokio::time::sleep(deaf).await;
    tokio::select! {
        () = client.changed() => {}
        () = client.lost() => {}
    }
}

/// Whether two listings would be served alike, to the byte.
fn same(a: &ListingDoc, b: &ListingDoc) -> bool {
    let text = |raw: &Option<Arc<_>>| {
        raw.as_ref().map(|raw: &Arc<serde_json::value::RawValue>| raw.get().to_owned())
    };
    a.era == b.era
        && a.protocol_version == b.protocol_version
        && a.instructions == b.instructions
        && text(&a.server_info) == text(&b.server_info)
        && text(&a.capabilities) == text(&b.capabilities)
        && a.tools.len() == b.tools.len()
        && a.tools.iter().zip(&b.tools).all(|(a, b)| a.get() == b.get())
}
