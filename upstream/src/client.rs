//! One server as everything else sees it: list it, call it, follow it.
//! Connects when needed, once at a time; limits and the breaker stand before every call.

mod call;

use std::{
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
};

use futures::FutureExt as _;
use surface::{
    credential::Credential,
    doc::{Era, ServerDoc},
};
use tokio::{runtime::Handle, sync::Semaphore, time::Instant};

pub use self::call::Call;
use crate::{
    Answer, UpstreamError,
    breaker::Breaker,
    connection::{Connection, Opening},
    error::FailureKind,
    listing::{self, Listed},
    request::Signals,
};

/// A server we speak to.
#[derive(Debug)]
pub struct Client {
    doc: Arc<ServerDoc>,
    credential: Credential,
    /// Addresses never dialled: the API server.
    blocked: Arc<[IpAddr]>,
    signals: Signals,
    current: Mutex<Current>,
    /// Held while connecting, so that a burst of calls makes one connection.
    connecting: tokio::sync::Mutex<()>,
    permits: Semaphore,
    breaker: Breaker,
}

#[derive(Debug, Default)]
struct Current {
    connection: Option<Arc<Connection>>,
    /// What it was found to speak; kept when the connection is lost.
    era: Option<Era>,
}

impl Client {
    pub fn new(doc: Arc<ServerDoc>, credential: Credential, blocked: Arc<[IpAddr]>) -> Self {
        Self {
            permits: Semaphore::new(doc.limits.concurrency as usize),
            breaker: Breaker::new(doc.breaker.clone()),
            signals: Signals::default(),
            current: Mutex::default(),
            connecting: tokio::sync::Mutex::default(),
            doc,
            credential,
            blocked,
        }
    }

    pub fn doc(&self) -> &Arc<ServerDoc> {
        &self.doc
    }

    /// Calls a tool. Dropping the future cancels the call at the server.
    pub async fn call(&self, call: Call<'_>) -> Result<Answer, UpstreamError> {
        let Ok(_permit) = self.permits.try_acquire() else {
            return Err(UpstreamError::Busy(self.doc.limits.concurrency));
        };
        self.breaker.admit(Instant::now())?;
        let patience = self.doc.limits.call_timeout;
        let outcome = tokio::time::timeout(patience, self.attempt(&call))
            .await
            .unwrap_or(Err(UpstreamError::Timeout(patience)));
        match outcome.as_ref().map_err(UpstreamError::kind) {
            Ok(_) => self.breaker.succeeded(),
            // Our own limits, and what one caller asked for: no sign of a failing server.
            Err(FailureKind::Limited) => {}
            Err(_) if matches!(outcome, Err(UpstreamError::TooLarge(_))) => {}
            Err(_) => self.breaker.failed(Instant::now()),
        }
        outcome
    }

    async fn attempt(&self, call: &Call<'_>) -> Result<Answer, UpstreamError> {
        let connection = self.connection().await?;
        let outcome = call.send(&connection).await;
        if forgot_us(&connection, outcome.as_ref().err()) {
            return call.send(&*self.connection().await?).await;
        }
        outcome
    }

    /// Reads everything the server lists.
    pub(crate) async fn list(&self) -> Result<Listed, UpstreamError> {
        let patience = self.doc.limits.call_timeout;
        let mut connection = self.connection().await?;
        let attempt = async {
            let listed = listing::list(&connection).await;
            if forgot_us(&connection, listed.as_ref().err()) {
                connection = self.connection().await?;
                return listing::list(&connection).await;
            }
            listed
        };
        let listed = tokio::time::timeout(patience, attempt)
            .await
            .unwrap_or(Err(UpstreamError::Timeout(patience)));
        if listed.is_err() {
            // What was known of it may be wrong: the next attempt starts over.
            self.forget(&connection);
        }
        listed
    }

    /// Resolves when the server says that its tools changed.
    pub(crate) async fn changed(&self) {
        self.signals.changed.notified().await;
    }

    /// Resolves when the present connection is lost; never while there is none.
    pub(crate) async fn lost(&self) {
        let connection = self.lock().connection.clone();
        match connection {
            Some(connection) => connection.closed().cancelled().await,
            None => std::future::pending().await,
        }
    }

    /// Ends the connection and what it runs.
    pub async fn shutdown(&self) {
        let connection = self.lock().connection.take();
        if let Some(connection) = connection {
            connection.shutdown().await;
        }
    }

    async fn connection(&self) -> Result<Arc<Connection>, UpstreamError> {
        match self.present() {
            Some(connection) => Ok(connection),
            // Boxed: rare, and large beside what every call carries along.
            None => self.connect().boxed().await,
        }
    }

    async fn connect(&self) -> Result<Arc<Connection>, UpstreamError> {
        let _one_at_a_time = self.connecting.lock().await;
        if let Some(connection) = self.present() {
            return Ok(connection);
        }
        let known = self.lock().era;
        let opening = Opening {
            doc: &self.doc,
            credential: &self.credential,
            blocked: &self.blocked,
            signals: self.signals.clone(),
            known,
        };
        let opened = Connection::open(&opening).await;
        let mut current = self.lock();
        current.era = opened.as_ref().ok().map(|connection| connection.greeting().era);
        current.connection = opened.as_ref().ok().cloned();
        opened
    }

    fn present(&self) -> Option<Arc<Connection>> {
        self.lock().connection.clone().filter(|connection| !is_closed(connection))
    }

    /// Takes a connection out of use. Calls under way keep it until they are done; the last one
    /// ends it.
    fn forget(&self, connection: &Arc<Connection>) {
        connection.retire();
        let mut current = self.lock();
        if current.connection.as_ref().is_some_and(|present| Arc::ptr_eq(present, connection)) {
            *current = Current::default();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A client that nobody holds any more has no call under way: its server is let go.
impl Drop for Client {
    fn drop(&mut self) {
        let connection = self.lock().connection.take();
        if let (Some(connection), Ok(runtime)) = (connection, Handle::try_current()) {
            runtime.spawn(async move { connection.shutdown().await });
        }
    }
}

/// Whether a server had forgotten our session, and so did nothing: a new one is safe.
fn forgot_us(connection: &Connection, error: Option<&UpstreamError>) -> bool {
    error == Some(&UpstreamError::Closed) && connection.is_http() && is_closed(connection)
}

fn is_closed(connection: &Connection) -> bool {
    connection.closed().is_cancelled()
}
