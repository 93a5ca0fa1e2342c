//! What is dialled for one server: its URL, our headers and TLS, and the rules for addresses.

use std::{
    error::Error as _,
    net::IpAddr,
    sync::{Arc, Once},
    time::Duration,
};

use http::{HeaderMap, HeaderName, HeaderValue, header};
use reqwest::{Certificate, Identity, Response, redirect};
use secrecy::ExposeSecret as _;
use surface::{credential::Credential, doc::TlsDoc};
use url::{Host, Url};

use crate::{
    UpstreamError,
    address::{AddressError, AddressRules, CheckedResolver},
};

/// Same-host redirects that are followed: a server may add a slash to its path.
const MAX_REDIRECTS: usize = 3;

#[derive(Debug)]
pub(crate) struct Endpoint {
    client: reqwest::Client,
    url: Url,
    headers: HeaderMap,
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
        let unreachable = |what: &str| UpstreamError::Unreachable(what.to_owned());
        let mut url: Url = url.parse().map_err(|_| unreachable("its URL cannot be parsed"))?;
        check_literal(&url, &rules)?;
        let mut headers = own_headers(headers, credential)?;
        let dial = match &tls.server_name {
            Some(name) => Some(dial_elsewhere(&mut url, &mut headers, name)?),
            None => None,
        };
        let mut builder = reqwest::Client::builder()
            .no_proxy()
            .redirect(same_host())
            .connect_timeout(connect_timeout)
            .dns_resolver(CheckedResolver { rules, dial })
            .tcp_nodelay(true)
            .http1_only();
        if let Some(pem) = &tls.ca_bundle {
            let certificates = Certificate::from_pem_bundle(pem.as_bytes())
                .map_err(|_| unreachable("its CA bundle is not PEM"))?;
            builder = builder.tls_certs_only(certificates);
        }
        if let Some(pem) = &credential.client_identity {
            let identity = Identity::from_pem(pem.expose_secret().as_bytes())
                .map_err(|_| unreachable("its client certificate is not PEM"))?;
            builder = builder.identity(identity);
        }
        install_crypto();
        let client = builder.build().map_err(|_| unreachable("its TLS settings are unusable"))?;
        Ok(Self { client, url, headers, limit })
    }

    /// Largest message accepted, in bytes.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    pub(crate) async fn post(
        &self,
        headers: HeaderMap,
        body: String,
    ) -> Result<Response, UpstreamError> {
        let json = HeaderValue::from_static("application/json");
        let request = self.client.post(self.url.clone()).header(header::CONTENT_TYPE, json);
        self.send(request.body(body), headers).await
    }

    pub(crate) async fn get(&self, headers: HeaderMap) -> Result<Response, UpstreamError> {
        self.send(self.client.get(self.url.clone()), headers).await
    }

    pub(crate) async fn delete(&self, headers: HeaderMap) -> Result<Response, UpstreamError> {
        self.send(self.client.delete(self.url.clone()), headers).await
    }

    async fn send(
        &self,
        request: reqwest::RequestBuilder,
        headers: HeaderMap,
    ) -> Result<Response, UpstreamError> {
        let response = request
            .headers(self.headers.clone())
            .headers(headers)
            .send()
            .await
            .map_err(|error| describe(&error))?;
        match response.status().as_u16() {
            status @ (401 | 403) => Err(UpstreamError::Unauthorized(status)),
            300..=399 => Err(UpstreamError::Redirected),
            _ => Ok(response),
        }
    }
}

/// The cause without the URL, which may hold a key, and without what the peer wrote.
pub(super) fn describe(error: &reqwest::Error) -> UpstreamError {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(refused) = cause.downcast_ref::<AddressError>() {
            return UpstreamError::AddressRefused(refused.to_string());
        }
        if let Some(io) = cause.downcast_ref::<std::io::Error>() {
            // A resolver's refusal travels inside an io::Error.
            if let Some(refused) = io.get_ref().and_then(|e| e.downcast_ref::<AddressError>()) {
                return UpstreamError::AddressRefused(refused.to_string());
            }
            if error.is_connect() {
                return UpstreamError::Unreachable(io.kind().to_string());
            }
        }
        source = cause.source();
    }
    if error.is_redirect() {
        UpstreamError::Redirected
    } else if error.is_connect() && error.is_timeout() {
        UpstreamError::Unreachable("connecting took too long".to_owned())
    } else if error.is_connect() {
        UpstreamError::Unreachable("the connection could not be made".to_owned())
    } else {
        UpstreamError::Closed
    }
}

/// Literal addresses never reach the resolver.
fn check_literal(url: &Url, rules: &AddressRules) -> Result<(), UpstreamError> {
    let address = match url.host() {
        Some(Host::Ipv4(address)) => IpAddr::V4(address),
        Some(Host::Ipv6(address)) => IpAddr::V6(address),
        Some(Host::Domain(_)) => return Ok(()),
        None => return Err(UpstreamError::Unreachable("its URL names no host".to_owned())),
    };
    rules.check(address).map_err(|error| UpstreamError::AddressRefused(error.to_string()))
}

/// TLS shall expect `name`, the network shall see the URL's host: the URL takes the name, the
/// resolver looks up the host, and the server reads its own host in the `Host` header.
fn dial_elsewhere(
    url: &mut Url,
    headers: &mut HeaderMap,
    name: &str,
) -> Result<Arc<str>, UpstreamError> {
    let invalid = || UpstreamError::Unreachable("its TLS server name is no host name".to_owned());
    let host = url.host_str().ok_or_else(invalid)?.trim_matches(['[', ']']).to_owned();
    let authority = url.authority().to_owned();
    url.set_host(Some(name)).map_err(|_| invalid())?;
    let authority = HeaderValue::try_from(authority).map_err(|_| invalid())?;
    headers.insert(header::HOST, authority);
    Ok(host.into())
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

fn same_host() -> redirect::Policy {
    redirect::Policy::custom(|attempt| {
        let next = attempt.url().clone();
        let same = attempt.previous().first().is_some_and(|first| first.origin() == next.origin());
        // Other redirects turn a POST into a GET.
        let keeps_method = matches!(attempt.status().as_u16(), 307 | 308);
        if same && keeps_method && attempt.previous().len() <= MAX_REDIRECTS {
            attempt.follow()
        } else {
            attempt.stop()
        }
    })
}

fn install_crypto() {
    static ONCE: Once = Once::new();
    // Fails when the program has already chosen a provider, which is its right.
    ONCE.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
}
