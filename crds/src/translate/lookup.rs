//! Looks up what a server refers to, in its own namespace, and collects what is not found.
//! What the values are for is not known here.

use secrecy::{ExposeSecret as _, SecretString};

use super::{Placement, expansion::expand, store::Store};
use crate::{
    problem::Reason,
    reference::{KeyRef, ValueSource},
    schema::Violation,
};

/// The references of one server.
pub(super) struct Lookup<'a> {
    pub(super) namespace: &'a str,
    pub(super) store: &'a Store,
    pub(super) placement: Placement<'a>,
    /// Everything that was not found or is of no use.
    pub(super) violations: Vec<Violation>,
}

/// A value and whether it may be shown.
pub(super) enum Found {
    Literal(String),
    Secret(SecretString),
}

impl Found {
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Literal(text) => text,
            Self::Secret(text) => text.expose_secret(),
        }
    }

    pub(super) fn without_line_break(self) -> Self {
        match self {
            Self::Literal(text) => Self::Literal(without_line_break(&text).to_owned()),
            Self::Secret(text) => Self::Secret(without_line_break(text.expose_secret()).into()),
        }
    }
}

/// Files, and so the Secrets made from them, end in a line break that nobody means to send.
pub(super) fn without_line_break(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}

impl Lookup<'_> {
    /// A value that is written out and may name variables. What comes out of the gateway's own
    /// environment is treated as secret.
    pub(super) fn expanded(&mut self, path: &str, text: &str) -> Option<Found> {
        let Placement::Standalone { env } = self.placement else {
            return Some(Found::Literal(text.to_owned()));
        };
        match expand(text, env) {
            Ok(expanded) if expanded.from_variables => Some(Found::Secret(expanded.text.into())),
            Ok(expanded) => Some(Found::Literal(expanded.text)),
            Err(faults) => self.report(path, Reason::VariableNotSet, faults.join("; ")),
        }
    }

    /// A value that is referred to.
    pub(super) fn source(&mut self, path: &str, from: Option<&ValueSource>) -> Option<Found> {
        let ValueSource { secret_key_ref, config_map_key_ref } = from?;
        if let Some(KeyRef { name, key }) = secret_key_ref {
            return self.secret(&format!("{path}.secretKeyRef"), name, key).map(Found::Secret);
        }
        match self.store.config_map(self.namespace, config_map_key_ref.as_ref()?) {
            Ok(value) => Some(Found::Literal(value.clone())),
            Err((reason, message)) => {
                self.report(&format!("{path}.configMapKeyRef"), reason, message)
            }
        }
    }

    /// A key of a Secret.
    pub(super) fn secret(&mut self, path: &str, name: &str, key: &str) -> Option<SecretString> {
        let at = KeyRef { name: name.to_owned(), key: key.to_owned() };
        match self.store.secret(self.namespace, &at) {
            Ok(value) => Some(value.clone()),
            Err((reason, message)) => self.report(path, reason, message),
        }
    }

    /// Something was found that cannot be used.
    pub(super) fn refuse<T>(&mut self, path: &str, message: &str) -> Option<T> {
        self.report(path, Reason::RefInvalid, message.to_owned())
    }

    fn report<T>(&mut self, path: &str, reason: Reason, message: String) -> Option<T> {
        self.violations.push(Violation { path: path.to_owned(), reason, message });
        None
    }
}
