//! Brings together what the manifests say and what the servers say, and swaps the result in.
//! One task; nothing here is on a request's way.

mod follower;
mod last_good;

use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
    sync::Arc,
    time::SystemTime,
};

use crds::translate::{ObjectStatus, Translation};
use surface::{
    credential::Credential,
    doc::{ServerDoc, SnapshotDoc},
    name::Namespace,
    snapshot::{Snapshot, compile},
};
use tokio::{sync::mpsc, task::block_in_place};
use tokio_util::sync::CancellationToken;
use upstream::follow::Heard;

use self::{follower::Follower, last_good::LastGood};
use crate::{
    metrics::Metrics,
    serving::{Live, Serving},
    status::ServerStatus,
};

/// What reaches the keeper.
#[derive(Debug)]
pub(crate) enum News {
    /// The manifests, whole.
    Declared(Box<Translation>),
    /// What a server said, with the number of the follower that heard it.
    Heard { namespace: Namespace, follower: u64, heard: Heard },
}

/// The keeper's books.
#[derive(Debug)]
pub(crate) struct Keeper {
    live: Live,
    metrics: Arc<Metrics>,
    news: mpsc::UnboundedSender<News>,
    last_good: Option<LastGood>,
    followers: BTreeMap<Namespace, Follower>,
    followers_made: u64,
    /// Documents of the servers, as declared.
    servers: Vec<ServerDoc>,
    statuses: Vec<ObjectStatus>,
    problems: Arc<[String]>,
    snapshot: Arc<Snapshot>,
    ready: bool,
}

impl Keeper {
    /// A keeper and the way to send it news.
    pub(crate) fn new(
        live: Live,
        metrics: Arc<Metrics>,
        state: Option<PathBuf>,
    ) -> (Self, mpsc::UnboundedReceiver<News>) {
        let (news, receiver) = mpsc::unbounded_channel();
        let keeper = Self {
            live,
            metrics,
            news,
            last_good: state.map(LastGood::new),
            followers: BTreeMap::new(),
            followers_made: 0,
            servers: Vec::new(),
            statuses: Vec::new(),
            problems: Arc::from([]),
            snapshot: Arc::new(Snapshot::empty()),
            ready: false,
        };
        (keeper, receiver)
    }

    pub(crate) fn sender(&self) -> mpsc::UnboundedSender<News> {
        self.news.clone()
    }

    /// Works until `stop`, then ends every server.
    pub(crate) async fn run(
        mut self,
        mut news: mpsc::UnboundedReceiver<News>,
        stop: CancellationToken,
    ) {
        loop {
            let first = tokio::select! {
                Some(first) = news.recv() => first,
                () = stop.cancelled() => break,
            };
            self.take(first).await;
            // What has arrived together is compiled together.
            while let Ok(more) = news.try_recv() {
                self.take(more).await;
            }
            self.publish().await;
        }
        let followers = std::mem::take(&mut self.followers);
        futures::future::join_all(followers.into_values().map(Follower::end)).await;
    }

    async fn take(&mut self, news: News) {
        match news {
            News::Declared(translation) => self.declare(*translation).await,
            News::Heard { namespace, follower, heard } => {
                if let Some(known) = self.followers.get_mut(&namespace)
                    && known.number == follower
                {
                    known.hear(heard, SystemTime::now());
                }
            }
        }
    }

    /// Starts, restarts and ends followers so that they are those of the manifests.
    async fn declare(&mut self, translation: Translation) {
        let Translation { doc, mut credentials, statuses, problems } = translation;
        for problem in &problems {
            tracing::warn!("{problem}");
        }
        self.statuses = statuses;
        self.problems = problems.iter().map(ToString::to_string).collect();
        self.servers = doc.servers;
        let mut before = std::mem::take(&mut self.followers);
        let mut restored = match &mut self.last_good {
            Some(last_good) => last_good.take().await,
            None => None,
        };
        for server in &self.servers {
            let namespace = server.namespace.clone();
            let credential = credentials.remove(&namespace).unwrap_or_default();
            let old = before.remove(&namespace);
            let follower = match old {
                Some(old) if old.serves(server, &credential) => old,
                old => {
                    let listing = match &old {
                        Some(old) => old.listing_for(server),
                        None => restored.as_mut().and_then(|doc| last_good::listing(doc, server)),
                    };
                    old.into_iter().for_each(Follower::retire);
                    self.followers_made += 1;
                    self.start(server, credential, listing)
                }
            };
            self.followers.insert(namespace, follower);
        }
        before.into_values().for_each(Follower::retire);
    }

    fn start(
        &self,
        server: &ServerDoc,
        credential: Credential,
        listing: Option<Arc<surface::doc::ListingDoc>>,
    ) -> Follower {
        let (news, namespace, follower) =
            (self.news.clone(), server.namespace.clone(), self.followers_made);
        Follower::start(follower, server, credential, listing, move |heard| {
            // Refused only when the keeper is gone, and with it everyone it could matter to.
            let _ = news.send(News::Heard { namespace: namespace.clone(), follower, heard });
        })
    }

    /// Compiles aside and swaps. A document that does not compile changes nothing.
    async fn publish(&mut self) {
        let mut doc = SnapshotDoc::new(self.servers.clone());
        doc.listings = self
            .followers
            .iter()
            .filter_map(|(namespace, f)| Some((namespace.clone(), Arc::clone(f.listing.as_ref()?))))
            .collect();
        // Ten thousand tools take their time; requests must not wait on this thread for it.
        let is_new = match block_in_place(|| compile(&doc, Some(&self.snapshot))) {
            Ok(snapshot) => {
                self.metrics.compiled(true);
                self.adopt(snapshot)
            }
            Err(errors) => {
                self.metrics.compiled(false);
                for error in errors {
                    tracing::error!(%error, "keeping the last good snapshot");
                }
                false
            }
        };
        self.ready = self.ready
            || self.followers.values().all(|follower| follower.attempt().result.is_some());
        self.live.store(Serving {
            snapshot: Arc::clone(&self.snapshot),
            clients: Arc::new(self.clients()),
            statuses: self.statuses(),
            policies: self.policies(),
            problems: Arc::clone(&self.problems),
            ready: self.ready,
        });
        // Afterwards: a slow disk must not keep agents waiting for what is served.
        if let Some(last_good) = self.last_good.as_ref().filter(|_| is_new) {
            last_good.save(&doc).await;
        }
    }

    /// Whether it serves something else than the one before.
    fn adopt(&mut self, snapshot: Snapshot) -> bool {
        if snapshot.digest() == self.snapshot.digest() {
            return false;
        }
        tracing::info!(digest = %snapshot.digest().short(), "serving a new snapshot");
        for server in snapshot.servers() {
            let before = self.snapshot.server(server.namespace().as_str());
            if before.is_some_and(|before| Arc::ptr_eq(before, server)) {
                continue;
            }
            for exclusion in server.heard().map_or(&[][..], surface::snapshot::Heard::exclusions) {
                tracing::warn!(server = %server.namespace(), "tool {exclusion}");
            }
        }
        self.snapshot = Arc::new(snapshot);
        true
    }

    fn policies(&self) -> Vec<ObjectStatus> {
        let policies = self.statuses.iter().filter(|status| status.object.kind == "ToolPolicy");
        policies.cloned().collect()
    }

    fn clients(&self) -> HashMap<Namespace, Arc<upstream::Client>> {
        self.followers.iter().map(|(name, f)| (name.clone(), Arc::clone(&f.client))).collect()
    }

    fn statuses(&self) -> Vec<ServerStatus> {
        self.statuses
            .iter()
            .filter(|status| status.object.kind == "UpstreamServer")
            .map(|status| {
                let served = self.servers.iter().find(|server| {
                    server.object.namespace == status.object.namespace
                        && server.object.name == status.object.name
                });
                let follower = served.and_then(|server| self.followers.get(&server.namespace));
                ServerStatus::new(status, served, follower.map(Follower::attempt))
            })
            .collect()
    }
}
