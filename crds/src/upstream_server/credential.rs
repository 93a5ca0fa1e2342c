//! `spec.credential`: what we present to a server. The values stay in Secrets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    header::{NAME_PATTERN, name_rules},
    rule::rules,
};

/// What is presented with every request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = credential_rules()))]
pub struct Credential {
    /// `Bearer`: `Authorization: Bearer <secret>`. `Basic`: `Authorization: Basic …` from the keys
    /// `username` and `password` of a Secret of type `kubernetes.io/basic-auth`. `Header`: the
    /// header named in `header` with the secret as its value. `OAuthClientCredentials`: a token
    /// fetched from `oauth.tokenUrl` with the keys `client_id` and `client_secret`.
    #[serde(rename = "type")]
    pub type_: CredentialType,
    /// The Secret, in the same namespace as this object.
    pub secret_ref: CredentialSecret,
    /// Name of the header; required with type `Header`, refused otherwise. Example: `X-Api-Key`.
    #[schemars(
        length(min = 1, max = 256),
        regex(pattern = NAME_PATTERN),
        extend("x-kubernetes-validations" = name_rules())
    )]
    pub header: Option<String>,
    /// Where tokens come from; required with type `OAuthClientCredentials`, refused otherwise.
    pub oauth: Option<OAuth>,
}

/// How a credential is presented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum CredentialType {
    Bearer,
    Header,
    Basic,
    OAuthClientCredentials,
}

/// The Secret of a credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CredentialSecret {
    /// Name of the Secret.
    #[schemars(length(min = 1, max = 253), regex(pattern = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"))]
    pub name: String,
    /// Key that holds the token; required with the types `Bearer` and `Header`, refused with the
    /// others, whose keys are fixed. One line break at the value's end is dropped.
    #[schemars(length(min = 1, max = 253), regex(pattern = r"^[-._a-zA-Z0-9]+$"))]
    pub key: Option<String>,
}

/// OAuth 2 client credentials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OAuth {
    /// The authorization server's token endpoint, https. Example: `https://id.example.com/token`.
    #[schemars(
        length(min = 1, max = 2048),
        extend("x-kubernetes-validations" = rules([(
            "self.matches('^https://[!-~]+$') && !self.matches('^https://[^/?#]*@') && !self.contains('#')",
            "must be an absolute https URL without user, password and fragment",
        )]))
    )]
    pub token_url: String,
    /// Scopes asked for. At most 32. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 32),
        inner(length(min = 1, max = 256), regex(pattern = r"^[!#-\[\]-~]+$")),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub scopes: Vec<String>,
    /// Audience (RFC 8707 `resource`) the token is asked for. Default: none.
    #[schemars(length(min = 1, max = 2048))]
    pub audience: Option<String>,
}

fn credential_rules() -> Value {
    rules([
        ("self.type != 'Header' || has(self.header)", "header is required with type Header"),
        ("self.type == 'Header' || !has(self.header)", "header is only for type Header"),
        (
            "self.type != 'OAuthClientCredentials' || has(self.oauth)",
            "oauth is required with type OAuthClientCredentials",
        ),
        (
            "self.type == 'OAuthClientCredentials' || !has(self.oauth)",
            "oauth is only for type OAuthClientCredentials",
        ),
        (
            "!(self.type in ['Bearer', 'Header']) || has(self.secretRef.key)",
            "secretRef.key is required with the types Bearer and Header",
        ),
        (
            "self.type in ['Bearer', 'Header'] || !has(self.secretRef.key)",
            "secretRef.key is only for the types Bearer and Header: the keys are username and \
             password with Basic, client_id and client_secret with OAuthClientCredentials",
        ),
    ])
}

/// What a credential demands of the rest of the spec.
pub(super) fn placement_rules() -> Value {
    let once = |transport: &str| {
        format!(
            "!has(self.credential) || !has(self.transport.{transport}) || \
             !has(self.transport.{transport}.headers) || \
             !self.transport.{transport}.headers.exists(h, h.name.lowerAscii() == \
             (self.credential.type != 'Header' ? 'authorization' : \
             has(self.credential.header) ? self.credential.header.lowerAscii() : ''))"
        )
    };
    let twice = "headers must not repeat the header that credential sets";
    rules([
        (
            "!has(self.credential) || !has(self.transport.stdio)",
            "credential is sent in HTTP headers and a stdio server receives none: \
             use transport.stdio.env with valueFrom.secretKeyRef",
        ),
        (&once("streamableHttp"), twice),
        (&once("sse"), twice),
    ])
}
