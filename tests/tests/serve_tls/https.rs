//! The fixture behind TLS: an authority made for one test, and a relay that ends TLS in front of a
//! plain server. What the gateway makes of them is told by the tests.

use std::{net::SocketAddr, sync::Arc};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::{
    RootCertStore, ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
    server::{WebPkiClientVerifier, danger::ClientCertVerifier},
};
use tests::harness::FixtureServer;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::AbortHandle,
};
use tokio_rustls::TlsAcceptor;

/// Who signs certificates.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate with its key.
pub(crate) struct Identity {
    certificate: rcgen::Certificate,
    key: KeyPair,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for these names and addresses.
    pub(crate) fn sign(&self, names: &[&str]) -> Identity {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(names).unwrap();
        Identity { certificate: params.signed_by(&key, &self.0).unwrap(), key }
    }

    fn verifier(&self) -> Arc<dyn ClientCertVerifier> {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        let provider = Arc::new(ring::default_provider());
        WebPkiClientVerifier::builder_with_provider(roots.into(), provider).build().unwrap()
    }
}

impl Identity {
    pub(crate) fn certificate_pem(&self) -> String {
        self.certificate.pem()
    }

    pub(crate) fn key_pem(&self) -> String {
        self.key.serialize_pem()
    }

    fn chain(&self) -> Vec<CertificateDer<'static>> {
        vec![self.certificate.der().clone()]
    }

    fn key_der(&self) -> PrivateKeyDer<'static> {
        PrivatePkcs8KeyDer::from(self.key.serialize_der()).into()
    }
}

/// A fixture that speaks https.
pub(crate) struct HttpsServer {
    address: SocketAddr,
    relay: AbortHandle,
    _fixture: FixtureServer,
}

impl HttpsServer {
    /// Shows `identity`; asks for a certificate that `clients` signed, if they are given.
    pub(crate) async fn start(identity: &Identity, clients: Option<&Authority>) -> Self {
        let provider = Arc::new(ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider);
        let config = config.with_safe_default_protocol_versions().unwrap();
        let config = match clients {
            Some(clients) => config.with_client_cert_verifier(clients.verifier()),
            None => config.with_no_client_auth(),
        };
        let config = config.with_single_cert(identity.chain(), identity.key_der()).unwrap();
        let fixture = FixtureServer::start(&[]).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let relay = tokio::spawn(relay(listener, acceptor, fixture.authority().to_owned()));
        Self { address, relay: relay.abort_handle(), _fixture: fixture }
    }

    /// Its MCP endpoint, under the address it listens on.
    pub(crate) fn url(&self) -> String {
        format!("https://{}/mcp", self.address)
    }
}

impl Drop for HttpsServer {
    fn drop(&mut self) {
        self.relay.abort();
    }
}

async fn relay(listener: TcpListener, acceptor: TlsAcceptor, to: String) {
    while let Ok((stream, _)) = listener.accept().await {
        let (acceptor, to) = (acceptor.clone(), to.clone());
        tokio::spawn(async move {
            // A client that is refused, or refuses, is gone; the test sees it from its side.
            let Ok(mut client) = acceptor.accept(stream).await else { return };
            let mut server = TcpStream::connect(to).await.unwrap();
            let _ = copy_bidirectional(&mut client, &mut server).await;
        });
    }
}
