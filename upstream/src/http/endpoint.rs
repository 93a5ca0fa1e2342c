//! One server's MCP endpoint: where requests go, with which of our headers, and which redirects
//! are followed.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri, header};
use http_body_util::Full;
use secrecy::ExposeSecret as _;
use surface::{credential::Credential, doc::TlsDoc};
use url::Url;

use super::{
    dial::Dialer,
    pool::{Pool, Reply},
};
use crate::{UpstreamError, address::AddressRules};

/// Redirects within the server that are followed: it may want a slash at the end of its path.
const MAX_REDIRECTS: usize = 3;

#[derive(Debug)]
pub(crate) struct Endpoint {
    url: Url,
    /// Path and query that requests name: those of `url`, or where the server redirected to.
    target: Mutex<Uri>,
    headers: HeaderMap,
    pool: Arc<Pool>,
    limit: usize,
}

/// What an endpoint is made of.
#[derive(Debug)]
pub(crate) struct EndpointParts<'a> {
    pub(crate) url: &'a str,
    pub(crate) headers: &'a [(String, String)],
    pub(crate) tls: &'a TlsDoc,
    pub(crate) credential: &'a Credential,
    pub(crate) rules: AddressRules,
    pub(crate) connect_timeout: Duration,
    pub(crate) limit: usize,
}

impl Endpoint {
    pub(crate) fn new(parts: EndpointParts<'_>) -> Result<Self, UpstreamError> {
        let EndpointParts { url, headers, tls, credential, rules, connect_timeout, limit } = parts;
        let invalid = || UpstreamError::Unreachable("its URL cannot be used".to_owned());
        let url: Url = url.parse().map_err(|_| invalid())?;
        let mut headers = own_headers(headers, credential)?;
        headers.insert(header::HOST, host(&url).ok_or_else(invalid)?);
        let dialer = Dialer::new(&url, tls, credential, rules, connect_timeout)?;
        let (pool, target) = (Arc::new(Pool::new(dialer)), target(&url).ok_or_else(invalid)?);
        Ok(Self { url, target: Mutex::new(target), headers, pool, limit })
    }

    /// Largest message accepted, in bytes.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    pub(super) async fn post(
        &self,
        mut headers: HeaderMap,
        body: String,
    ) -> Result<Reply, UpstreamError> {
        let json = HeaderValue::from_static("application/json");
        headers.insert(header::CONTENT_TYPE, json);
        self.send(Method::POST, headers, body.into()).await
    }

    pub(super) async fn get(&self, headers: HeaderMap) -> Result<Reply, UpstreamError> {
        self.send(Method::GET, headers, Bytes::new()).await
    }

    pub(super) async fn delete(&self, headers: HeaderMap) -> Result<Reply, UpstreamError> {
        self.send(Method::DELETE, headers, Bytes::new()).await
    }

    async fn send(
        &self,
        method: Method,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Result<Reply, UpstreamError> {
        // The protocol's own headers stand; manifests cannot name them.
        headers.extend(self.headers.clone());
        for _ in 0..=MAX_REDIRECTS {
            let mut request = Request::new(Full::new(body.clone()));
            *request.method_mut() = method.clone();
            *request.uri_mut() = self.target().clone();
            *request.headers_mut() = headers.clone();
            let reply = self.pool.send(request).await?;
            match reply.status().as_u16() {
                status @ (401 | 403) => return Err(UpstreamError::Unauthorized(status)),
                // Other redirects would turn a POST into a GET.
                307 | 308 => {
                    let next = self.same_host(&reply).ok_or(UpstreamError::Redirected)?;
                    *self.target() = next;
                    reply.finish().await;
                }
                300..=399 => return Err(UpstreamError::Redirected),
                _ => return Ok(reply),
            }
        }
        Err(UpstreamError::Redirected)
    }

    fn target(&self) -> MutexGuard<'_, Uri> {
        self.target.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn same_host(&self, reply: &Reply) -> Option<Uri> {
        let location = reply.headers().get(header::LOCATION)?.to_str().ok()?;
        let next = self.url.join(location).ok()?;
        (next.origin() == self.url.origin()).then(|| target(&next))?
    }
}

fn target(url: &Url) -> Option<Uri> {
    let query = url.query().map(|query| format!("?{query}"));
    format!("{}{}", url.path(), query.unwrap_or_default()).parse().ok()
}

fn host(url: &Url) -> Option<HeaderValue> {
    let host = url.host_str()?;
    let port = url.port().map(|port| format!(":{port}"));
    HeaderValue::try_from(format!("{host}{}", port.unwrap_or_default())).ok()
}

fn own_headers(
    literal: &[(String, String)],
    credential: &Credential,
) -> Result<HeaderMap, UpstreamError> {
    let invalid =
        |name: &str| UpstreamError::Unreachable(format!("the header {name:?} cannot be sent"));
    let mut headers = HeaderMap::new();
    let mut insert = |name: &str, value: &str, sensitive: bool| {
        let key = HeaderName::try_from(name).map_err(|_| invalid(name))?;
        let mut value = HeaderValue::try_from(value).map_err(|_| invalid(name))?;
        value.set_sensitive(sensitive);
        headers.insert(key, value);
        Ok(())
    };
    for (name, value) in literal {
        insert(name, value, false)?;
    }
    for (name, value) in &credential.headers {
        insert(name, value.expose_secret(), true)?;
    }
    Ok(headers)
}
