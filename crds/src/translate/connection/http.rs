//! Endpoints over HTTP: headers and TLS.

use secrecy::ExposeSecret as _;
use surface::doc::{TlsDoc, TransportDoc};

use super::Resolver;
use crate::{
    header::is_value,
    reference::{SecretName, ValueSource},
    translate::lookup::Found,
    upstream_server::{Header, HttpEndpoint, Tls},
};

pub(super) const UNSENDABLE: &str =
    "holds a line break or another character that no header may hold";

impl Resolver<'_> {
    pub(super) fn endpoint(&mut self, path: &str, endpoint: &HttpEndpoint) -> TransportDoc {
        let HttpEndpoint { url, headers, tls, allow_private_endpoint } = endpoint;
        TransportDoc::StreamableHttp {
            url: url.clone(),
            headers: self.headers(path, headers),
            tls: tls.as_ref().map(|tls| self.tls(path, tls)).unwrap_or_default(),
            allow_private_endpoint: *allow_private_endpoint,
        }
    }

    /// The literal headers; the secret ones go to the credential.
    fn headers(&mut self, path: &str, headers: &[Header]) -> Vec<(String, String)> {
        let mut literal = Vec::new();
        for (place, Header { name, value, value_from }) in headers.iter().enumerate() {
            let path = format!("{path}.headers[{place}].valueFrom");
            match value
                .clone()
                .map(Found::Literal)
                .or_else(|| self.header(&path, value_from.as_ref()))
            {
                Some(Found::Literal(value)) => literal.push((name.clone(), value)),
                Some(Found::Secret(value)) => self.credential.headers.push((name.clone(), value)),
                None => {}
            }
        }
        literal
    }

    fn header(&mut self, path: &str, from: Option<&ValueSource>) -> Option<Found> {
        let found = self.lookup.source(path, from)?.without_line_break();
        if is_value(found.text()) { Some(found) } else { self.lookup.refuse(path, UNSENDABLE) }
    }

    fn tls(&mut self, path: &str, tls: &Tls) -> TlsDoc {
        let Tls { ca_bundle_ref, server_name, client_certificate_ref } = tls;
        let ca_bundle = ca_bundle_ref
            .as_ref()
            .and_then(|source| self.ca_bundle(&format!("{path}.tls.caBundleRef"), source));
        if let Some(certificate) = client_certificate_ref {
            self.client_certificate(&format!("{path}.tls.clientCertificateRef"), certificate);
        }
        TlsDoc { ca_bundle, server_name: server_name.clone() }
    }

    fn ca_bundle(&mut self, path: &str, source: &ValueSource) -> Option<String> {
        let found = self.lookup.source(path, Some(source))?;
        let bundle = certificates(found.text());
        if bundle.is_empty() {
            self.lookup.refuse(path, "holds no PEM certificate")
        } else {
            Some(bundle)
        }
    }

    fn client_certificate(&mut self, path: &str, SecretName { name }: &SecretName) {
        let [certificate, key] =
            ["tls.crt", "tls.key"].map(|key| self.lookup.secret(path, name, key));
        if let (Some(certificate), Some(key)) = (certificate, key) {
            let pem = format!("{}\n{}", certificate.expose_secret(), key.expose_secret());
            self.credential.client_identity = Some(pem.into());
        }
    }
}

/// The certificates of a text, and nothing else: they are public and go into the snapshot, and
/// what a Secret holds beside them must not. Empty where one is broken.
fn certificates(text: &str) -> String {
    const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
    const END: &str = "-----END CERTIFICATE-----";
    let mut bundle = String::new();
    let mut inside = false;
    for line in text.lines().map(str::trim) {
        let broken = if inside { line.starts_with("---") && line != END } else { line == END };
        if broken {
            return String::new();
        }
        inside |= line == BEGIN;
        if inside {
            bundle.push_str(line);
            bundle.push('\n');
        }
        inside &= line != END;
    }
    if inside { String::new() } else { bundle }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_certificates_leave_a_bundle() {
        const ONE: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        const KEY: &str = "-----BEGIN PRIVATE KEY-----\nBBBB\n-----END PRIVATE KEY-----\n";
        for (text, expected) in [
            (ONE.to_owned(), ONE.to_owned()),
            (format!("# root\n{ONE}{KEY}{ONE}"), format!("{ONE}{ONE}")),
            (ONE.replace('\n', "\r\n"), ONE.to_owned()),
            (KEY.to_owned(), String::new()),
            (format!("-----BEGIN CERTIFICATE-----\n{KEY}"), String::new()),
            (ONE.replace("AAAA\n", KEY), String::new()),
        ] {
            assert_eq!(certificates(&text), expected, "{text}");
        }
    }
}
