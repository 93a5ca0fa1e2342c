//! Connections that are kept between requests, each driven by whoever uses it.
//!
//! The usual client gives every connection a task of its own, and a request crosses to it and
//! back. Here the caller's task writes, waits and reads itself: two wake-ups less per call.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures::FutureExt as _;
use http::{HeaderMap, StatusCode, response};
use http_body_util::{BodyExt as _, Full};
use hyper::{
    body::Incoming,
    client::conn::http1::{self, Connection, SendRequest},
};
use hyper_util::rt::TokioIo;

use super::dial::{Dialer, Stream};
use crate::UpstreamError;

/// How long a connection is kept. Common servers close theirs after five seconds, and a request
/// that meets a closing connection is lost.
const IDLE: Duration = Duration::from_secs(4);

/// Connections kept per server; more are closed after use.
const MAX_IDLE: usize = 64;

#[derive(Debug)]
pub(super) struct Pool {
    dialer: Dialer,
    idle: Mutex<Vec<(Link, Instant)>>,
}

/// One connection.
#[derive(Debug)]
struct Link {
    sender: SendRequest<Full<Bytes>>,
    driver: Driver,
}

type Http1 = Connection<TokioIo<Box<dyn Stream>>, Full<Bytes>>;

/// The other half of a connection, which moves only when it is polled.
#[derive(Debug)]
struct Driver {
    connection: Pin<Box<Http1>>,
    is_over: bool,
}

/// A response whose body is still to be read. Dropped before its end, it closes the connection.
#[derive(Debug)]
pub(super) struct Reply {
    head: response::Parts,
    body: Incoming,
    link: Option<Link>,
    pool: Arc<Pool>,
}

impl Pool {
    pub(super) fn new(dialer: Dialer) -> Self {
        Self { dialer, idle: Mutex::default() }
    }

    pub(super) async fn send(
        self: &Arc<Self>,
        request: http::Request<Full<Bytes>>,
    ) -> Result<Reply, UpstreamError> {
        let mut link = match self.take() {
            Some(link) => link,
            // Boxed: rare, and large beside what every request carries along.
            None => Link::open(&self.dialer).boxed().await?,
        };
        let (head, body) = link.exchange(request).await?.into_parts();
        Ok(Reply { head, body, link: Some(link), pool: Arc::clone(self) })
    }

    /// A kept connection that is still open.
    fn take(&self) -> Option<Link> {
        loop {
            let (mut link, since) = self.lock().pop()?;
            if since.elapsed() < IDLE && link.is_ready() {
                return Some(link);
            }
        }
    }

    fn keep(&self, mut link: Link) {
        if link.is_ready() {
            let mut idle = self.lock();
            idle.retain(|(_, since)| since.elapsed() < IDLE);
            if idle.len() < MAX_IDLE {
                idle.push((link, Instant::now()));
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(Link, Instant)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Link {
    async fn open(dialer: &Dialer) -> Result<Self, UpstreamError> {
        let stream = TokioIo::new(dialer.dial().await?);
        let (sender, connection) =
            http1::handshake(stream).await.map_err(|_| UpstreamError::Closed)?;
        let driver = Driver { connection: Box::pin(connection), is_over: false };
        Ok(Self { sender, driver })
    }

    async fn exchange(
        &mut self,
        request: http::Request<Full<Bytes>>,
    ) -> Result<http::Response<Incoming>, UpstreamError> {
        let Self { sender, driver } = self;
        let response = async {
            sender.ready().await?;
            sender.send_request(request).await
        };
        driver.drive(response).await.map_err(|_| UpstreamError::Closed)
    }

    /// Whether it could take a request now. Looks once, so that a connection the server has
    /// closed is found out before it is used.
    fn is_ready(&mut self) -> bool {
        self.driver.poll(&mut Context::from_waker(Waker::noop()));
        !self.driver.is_over && self.sender.is_ready()
    }
}

impl Driver {
    /// Moves the connection until `future` is done.
    async fn drive<T>(&mut self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        poll_fn(|context| {
            if let Poll::Ready(output) = future.as_mut().poll(context) {
                return Poll::Ready(output);
            }
            self.poll(context);
            // What the connection has just brought is taken at once.
            future.as_mut().poll(context)
        })
        .await
    }

    fn poll(&mut self, context: &mut Context<'_>) {
        if !self.is_over {
            // How it ended is told to the request that was on it.
            self.is_over = self.connection.as_mut().poll(context).is_ready();
        }
    }
}

impl Reply {
    pub(super) fn status(&self) -> StatusCode {
        self.head.status
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// Reads what is left, so that the connection can be used again. A server that does not come
    /// to an end soon loses it.
    pub(super) async fn finish(mut self) {
        const LEFT: usize = 64 * 1024;
        let end = async {
            let mut read = 0;
            while let Ok(Some(piece)) = self.chunk().await {
                read += piece.len();
                if read > LEFT {
                    return;
                }
            }
        };
        // Dropped unfinished, it closes the connection.
        let _ = tokio::time::timeout(Duration::from_millis(100), end).await;
    }

    /// The next piece of the body; nothing at its end, where the connection is kept for others.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, UpstreamError> {
        let Some(link) = &mut self.link else { return Ok(None) };
        loop {
            match link.driver.drive(self.body.frame()).await {
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
                Some(Err(_)) => return Err(UpstreamError::Closed),
                None => break,
            }
        }
        if let Some(link) = self.link.take() {
            self.pool.keep(link);
        }
        Ok(None)
    }
}
