//! Host and Origin allow-lists: a page in a browser cannot be made to speak for its user.
//! Who the caller is, is not asked here.

use std::{net::IpAddr, sync::Arc};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, StatusCode, Uri, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};

/// What may stand in the two headers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Allowed {
    /// Host names without port, beside the loopback ones.
    pub(crate) hosts: Vec<String>,
    /// Origins as browsers send them, beside those of loopback hosts: `https://app.example`.
    pub(crate) origins: Vec<String>,
}

pub(crate) async fn guard(
    State(allowed): State<Arc<Allowed>>,
    request: Request,
    next: Next,
) -> Response {
    match allowed.check(request.headers(), request.uri()) {
        Ok(()) => next.run(request).await,
        Err(why) => (StatusCode::FORBIDDEN, format!("{why}\n")).into_response(),
    }
}

impl Allowed {
    fn check(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), &'static str> {
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default());
        let authority =
            text(header::HOST).or_else(|| uri.authority().map(http::uri::Authority::as_str));
        let host = authority.map(host_of);
        if !host.is_some_and(|host| is_loopback(host) || contains(&self.hosts, host)) {
            return Err("this Host is not allowed; add it to allowedHosts");
        }
        match text(header::ORIGIN) {
            None => Ok(()),
            Some(origin) if contains(&self.origins, origin) => Ok(()),
            Some(origin)
                if origin.split_once("://").is_some_and(|(_, rest)| is_loopback(host_of(rest))) =>
            {
                Ok(())
            }
            Some(_) => Err("this Origin is not allowed; add it to allowedOrigins"),
        }
    }
}

fn contains(list: &[String], value: &str) -> bool {
    list.iter().any(|item| item.eq_ignore_ascii_case(value))
}

/// The host of `host:port`; brackets of an IPv6 address are dropped.
fn host_of(authority: &str) -> &str {
    match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, _)) => host,
        None => authority.rsplit_once(':').map_or(authority, |(host, _)| host),
    }
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(host: &str, origin: Option<&str>, expected: bool) {
        let allowed = Allowed {
            hosts: vec!["mcp.example".to_owned()],
            origins: vec!["https://app.example".to_owned()],
        };
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        let actual = allowed.check(&headers, &Uri::from_static("/")).is_ok();
        assert_eq!(actual, expected, "{host} {origin:?}");
    }

    #[test]
    fn loopback_and_listed_names_pass() {
        for host in ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "[::1]:8080", "mcp.example:443"]
        {
            check(host, None, true);
        }
        for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", ""] {
            check(host, None, false);
        }
        for (origin, expected) in [
            ("http://localhost:6274", true),
            ("http://[::1]:1", true),
            ("https://app.example", true),
            ("https://evil.example", false),
            ("https://localhost.evil.example", false),
            ("null", false),
        ] {
            check("localhost", Some(origin), expected);
        }
    }
}
