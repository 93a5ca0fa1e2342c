//! `spec.credential` as the header it becomes.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use secrecy::{ExposeSecret as _, SecretString};

use super::Resolver;
use crate::{
    header::is_value,
    translate::lookup::without_line_break,
    upstream_server::{Credential, CredentialType},
};

const PATH: &str = "spec.credential.secretRef";

impl Resolver<'_> {
    pub(super) fn authorization(
        &mut self,
        credential: &Credential,
    ) -> Option<(String, SecretString)> {
        let Credential { type_, secret_ref, header, oauth: _ } = credential;
        let (secret, key) = (&secret_ref.name, secret_ref.key.as_deref().unwrap_or_default());
        let (name, value) = match type_ {
            CredentialType::Bearer => ("Authorization", self.token(secret, key, "Bearer ")?),
            CredentialType::Header => (header.as_deref()?, self.token(secret, key, "")?),
            CredentialType::Basic => ("Authorization", self.basic(secret)?),
            // Not presented by this release; that the Secret is there is still worth knowing.
            CredentialType::OAuthClientCredentials => {
                self.pair(secret, ["client_id", "client_secret"])?;
                return None;
            }
        };
        Some((name.to_owned(), value.into()))
    }

    fn token(&mut self, secret: &str, key: &str, scheme: &str) -> Option<String> {
        let value = self.lookup.secret(PATH, secret, key)?;
        let value = without_line_break(value.expose_secret());
        if !is_value(value) {
            return self.lookup.refuse(PATH, super::http::UNSENDABLE);
        }
        Some(format!("{scheme}{value}"))
    }

    fn basic(&mut self, secret: &str) -> Option<String> {
        let [user, password] = self.pair(secret, ["username", "password"])?;
        let user = without_line_break(user.expose_secret());
        let password = without_line_break(password.expose_secret());
        if user.contains(':') {
            return self
                .lookup
                .refuse(PATH, "holds a colon in username: the password would begin there");
        }
        Some(format!("Basic {}", STANDARD.encode(format!("{user}:{password}"))))
    }

    /// Both keys are looked up even where the first is missing, so that both are reported.
    fn pair(&mut self, secret: &str, keys: [&str; 2]) -> Option<[SecretString; 2]> {
        let [a, b] = keys.map(|key| self.lookup.secret(PATH, secret, key));
        Some([a?, b?])
    }
}
