//! Opens one connection: resolves, checks, connects, and speaks TLS where the URL asks for it.

use std::{
    fmt::Debug,
    sync::{Arc, LazyLock},
    time::Duration,
};

use rustls::{
    CertificateError, ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject as _},
};
use secrecy::ExposeSecret as _;
use surface::{credential::Credential, doc::TlsDoc};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::TlsConnector;
use url::{Host, Url};

use crate::{UpstreamError, address::AddressRules};

/// A connected stream, encrypted or not.
pub(super) trait Stream: AsyncRead + AsyncWrite + Debug + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Debug + Send + Unpin> Stream for S {}

pub(super) struct Dialer {
    host: String,
    port: u16,
    rules: AddressRules,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    patience: Duration,
}

impl Debug for Dialer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Dialer({}:{})", self.host, self.port)
    }
}

impl Dialer {
    pub(super) fn new(
        url: &Url,
        tls: &TlsDoc,
        credential: &Credential,
        rules: AddressRules,
        patience: Duration,
    ) -> Result<Self, UpstreamError> {
        let host = match url.host() {
            Some(Host::Domain(name)) => name.to_owned(),
            Some(Host::Ipv4(address)) => address.to_string(),
            Some(Host::Ipv6(address)) => address.to_string(),
            None => return Err(unusable("its URL names no host")),
        };
        let port = url.port_or_known_default().ok_or_else(|| unusable("its URL names no port"))?;
        let tls = match url.scheme() {
            "https" => {
                // The name may differ from the one that is dialled, as behind a tunnel.
                let name = tls.server_name.clone().unwrap_or_else(|| host.clone());
                let name = ServerName::try_from(name)
                    .map_err(|_| unusable("its TLS server name is no host name"))?;
                Some((TlsConnector::from(Arc::new(config(tls, credential)?)), name))
            }
            _ => None,
        };
        Ok(Self { host, port, rules, tls, patience })
    }

    pub(super) async fn dial(&self) -> Result<Box<dyn Stream>, UpstreamError> {
        tokio::time::timeout(self.patience, self.connect())
            .await
            .unwrap_or_else(|_| Err(unusable("connecting took too long")))
    }

    async fn connect(&self) -> Result<Box<dyn Stream>, UpstreamError> {
        let stream = self.connect_tcp().await?;
        let Some((connector, name)) = &self.tls else { return Ok(Box::new(stream)) };
        match connector.connect(name.clone(), stream).await {
            Ok(stream) => Ok(Box::new(stream)),
            Err(error) => Err(unusable(&format!("TLS failed: {}", tls_cause(&error)))),
        }
    }

    async fn connect_tcp(&self) -> Result<TcpStream, UpstreamError> {
        let addresses = self.rules.resolve(&self.host, self.port).await?;
        // One that swallows packets must leave time for the others.
        let share = self.patience / u32::try_from(addresses.len()).unwrap_or(1).max(1);
        let mut cause = String::new();
        for address in addresses {
            match tokio::time::timeout(share, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => {
                    // Requests are written whole; waiting to fill a segment only delays them.
                    let _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Ok(Err(error)) => cause = error.kind().to_string(),
                Err(_) => "connecting took too long".clone_into(&mut cause),
            }
        }
        Err(UpstreamError::Unreachable(cause))
    }
}

fn unusable(what: &str) -> UpstreamError {
    UpstreamError::Unreachable(what.to_owned())
}

/// What rustls says, without what the peer wrote.
fn tls_cause(error: &std::io::Error) -> String {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        )) => "its certificate is for another name".to_owned(),
        Some(rustls::Error::InvalidCertificate(cause)) => format!("its certificate: {cause}"),
        Some(_) => "the handshake was refused".to_owned(),
        None => error.kind().to_string(),
    }
}

fn config(tls: &TlsDoc, credential: &Credential) -> Result<ClientConfig, UpstreamError> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|_| unusable("its TLS settings cannot be used"))?
        .with_root_certificates(roots(tls.ca_bundle.as_deref())?);
    let Some(identity) = &credential.client_identity else {
        return Ok(builder.with_no_client_auth());
    };
    let pem = identity.expose_secret().as_bytes();
    let certificates = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
    let key = PrivateKeyDer::from_pem_slice(pem);
    let (Ok(certificates), Ok(key)) = (certificates, key) else {
        return Err(unusable("its client certificate is not PEM"));
    };
    builder
        .with_client_auth_cert(certificates, key)
        .map_err(|_| unusable("its client certificate cannot be used"))
}

/// The named certificates, or those that the system trusts.
fn roots(bundle: Option<&str>) -> Result<RootCertStore, UpstreamError> {
    // Read once: it is a file of hundreds.
    static SYSTEM: LazyLock<Vec<CertificateDer<'static>>> =
        LazyLock::new(|| rustls_native_certs::load_native_certs().certs);
    let mut store = RootCertStore::empty();
    let Some(pem) = bundle else {
        // A certificate of the system that cannot be used is a certificate less.
        store.add_parsable_certificates(SYSTEM.iter().cloned());
        return Ok(store);
    };
    let certificates = CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|_| unusable("its CA bundle is not PEM"))?;
    for certificate in certificates {
        store.add(certificate).map_err(|_| unusable("its CA bundle cannot be used"))?;
    }
    Ok(store)
}
