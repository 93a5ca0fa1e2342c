//! What is served at one moment: the snapshot, the way to its servers, and what is known of them.
//! Swapped whole; a request loads it once and carries it.

use std::{collections::HashMap, sync::Arc};

use arc_swap::ArcSwap;
use crds::translate::ObjectStatus;
use surface::{name::Namespace, snapshot::Snapshot};
use tokio_util::sync::CancellationToken;
use upstream::Client;

use crate::status::ServerStatus;

/// One consistent view. Immutable.
#[derive(Debug)]
pub(crate) struct Serving {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) clients: Arc<HashMap<Namespace, Arc<Client>>>,
    pub(crate) statuses: Vec<ServerStatus>,
    /// What the manifests of policies came to.
    pub(crate) policies: Vec<ObjectStatus>,
    /// What is wrong with the manifests, one line each.
    pub(crate) problems: Arc<[String]>,
    /// Whether every server of the first snapshot has been tried once.
    pub(crate) ready: bool,
}

/// The place where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Live {
    serving: Arc<ArcSwap<Serving>>,
    /// Cancelled once what stands there is ready; it stays so.
    ready: CancellationToken,
}

impl Live {
    pub(crate) fn new() -> Self {
        let nothing = Serving {
            snapshot: Arc::new(Snapshot::empty()),
            clients: Arc::default(),
            statuses: Vec::new(),
            policies: Vec::new(),
            problems: Arc::from([]),
            ready: false,
        };
        Self { serving: Arc::new(ArcSwap::from_pointee(nothing)), ready: CancellationToken::new() }
    }

    pub(crate) fn load(&self) -> Arc<Serving> {
        self.serving.load_full()
    }

    /// Resolves once every server of the first snapshot has been tried.
    pub(crate) async fn ready(&self) {
        self.ready.cancelled().await;
    }

    pub(crate) fn store(&self, serving: Serving) {
        let ready = serving.ready;
        self.serving.store(Arc::new(serving));
        // After it stands there: who waits reads it at once.
        if ready {
            self.ready.cancel();
        }
    }
}

impl Serving {
    pub(crate) fn status(&self, namespace: &Namespace) -> Option<&ServerStatus> {
        self.statuses.iter().find(|status| status.namespace.as_ref() == Some(namespace))
    }
}
