//! What we present to a server, resolved from secrets.
//! Never serialised, never printed: `Debug` shows names only, and nothing here implements serde.

use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest as _, Sha256};

/// The secret half of a server's connection; the literal half is in its `ServerDoc`.
#[derive(Debug, Clone, Default)]
pub struct Credential {
    /// Headers sent with every HTTP request, `Authorization` included.
    pub headers: Vec<(String, SecretString)>,
    /// Environment of a child process.
    pub env: Vec<(String, SecretString)>,
    /// PEM of a client certificate and its key, for mutual TLS.
    pub client_identity: Option<SecretString>,
}

impl Credential {
    /// Changes exactly when a value changes, so that rotation is noticed without comparing
    /// secrets. Not reversible in practice and not for publication.
    pub fn fingerprint(&self) -> [u8; 32] {
        let Self { headers, env, client_identity } = self;
        let mut hash = Sha256::new();
        let mut part = |text: &str| {
            hash.update(text.len().to_le_bytes());
            hash.update(text);
        };
        for (section, pairs) in [("headers", headers), ("env", env)] {
            part(section);
            for (name, value) in pairs {
                part(name);
                part(value.expose_secret());
            }
        }
        part(client_identity.as_ref().map_or("", |pem| pem.expose_secret()));
        hash.finalize().into()
    }
}
