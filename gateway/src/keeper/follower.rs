//! One server that is followed: its client, its task, and what came of its last attempt.

use std::{sync::Arc, time::SystemTime};

use surface::{
    credential::Credential,
    doc::{ListingDoc, ServerDoc},
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use upstream::{
    Client,
    follow::{Heard, follow},
};

use crate::status::Attempt;

#[derive(Debug)]
pub(super) struct Follower {
    pub(super) number: u64,
    pub(super) client: Arc<Client>,
    pub(super) listing: Option<Arc<ListingDoc>>,
    attempt: Attempt,
    fingerprint: [u8; 32],
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Follower {
    pub(super) fn start(
        number: u64,
        server: &ServerDoc,
        credential: Credential,
        listing: Option<Arc<ListingDoc>>,
        tell: impl FnMut(Heard) + Send + 'static,
    ) -> Self {
        let fingerprint = credential.fingerprint();
        // Standalone, so there is no API server to keep away from.
        let client = Arc::new(Client::new(Arc::new(server.clone()), credential, Arc::from([])));
        let stop = CancellationToken::new();
        let task = tokio::spawn(follow(Arc::clone(&client), stop.clone(), tell));
        let attempt = Attempt::default();
        Self { number, client, listing, attempt, fingerprint, stop, task }
    }

    /// Whether it already follows this server in this way. What is withheld is decided when the
    /// snapshot is compiled and needs no other connection.
    pub(super) fn serves(&self, server: &ServerDoc, credential: &Credential) -> bool {
        let plain = |doc: &ServerDoc| ServerDoc { withheld: Vec::new(), ..doc.clone() };
        plain(self.client.doc()) == plain(server) && self.fingerprint == credential.fingerprint()
    }

    /// Its listing, where that is the same server's.
    pub(super) fn listing_for(&self, server: &ServerDoc) -> Option<Arc<ListingDoc>> {
        self.listing.clone().filter(|_| self.client.doc().transport == server.transport)
    }

    pub(super) fn hear(&mut self, heard: Heard, now: SystemTime) {
        let namespace = &self.client.doc().namespace;
        match heard {
            Heard::Listing(listing) => {
                if self.attempt.result != Some(Ok(())) {
                    let (era, tools) = (listing.era.as_str(), listing.tools.len());
                    tracing::info!(server = %namespace, era, tools, "listed");
                }
                self.listing = Some(listing);
                self.attempt = Attempt { result: Some(Ok(())), observed_at: Some(now) };
            }
            Heard::Failure(error) => {
                tracing::warn!(server = %namespace, reason = error.reason(), "{error}");
                self.attempt.result = Some(Err(error));
            }
        }
    }

    pub(super) fn attempt(&self) -> &Attempt {
        &self.attempt
    }

    /// Lets it go. Calls under way hold the client and finish; the last one ends the server.
    pub(super) fn retire(self) {
        self.stop.cancel();
    }

    /// Ends it now.
    pub(super) async fn end(self) {
        self.stop.cancel();
        // Fails only if it panicked, which was reported when it did.
        let _ = self.task.await;
        self.client.shutdown().await;
    }
}
