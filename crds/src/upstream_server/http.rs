//! `spec.transport.streamableHttp` and `.sse`: a server behind a URL.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    header::{NAME_PATTERN, VALUE_PATTERN, name_rules},
    reference::{SecretName, ValueSource},
    rule::{exactly_one_of, rules},
};

/// An MCP endpoint over HTTP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = rules([(
    "!has(self.tls) || self.url.startsWith('https://')",
    "tls is only for https URLs",
)])))]
pub struct HttpEndpoint {
    /// Absolute URL, http or https, without user, password and fragment; at most 2048 ASCII
    /// characters. Example: `https://mcp.example.com/mcp`.
    #[schemars(length(min = 1, max = 2048), extend("x-kubernetes-validations" = url_rules()))]
    pub url: String,
    /// Headers sent with every request, beside those that MCP and `credential` set. At most 32,
    /// each name once. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 32),
        extend(
            "x-kubernetes-list-type" = "map",
            "x-kubernetes-list-map-keys" = ["name"],
            "x-kubernetes-validations" = rules([(
                "self.all(a, self.exists_one(b, a.name.lowerAscii() == b.name.lowerAscii()))",
                "header names must differ in more than upper and lower case",
            )])
        )
    )]
    pub headers: Vec<Header>,
    /// How the server's certificate is checked, and ours shown. Only for https. Default: the
    /// system's certificate authorities, and no client certificate.
    pub tls: Option<Tls>,
    /// Whether the URL may lead to a loopback, private or link-local address. Metadata addresses
    /// of cloud providers stay blocked. Default: `false`.
    #[serde(default)]
    pub allow_private_endpoint: bool,
}

/// One header: `name` and exactly one of `value` and `valueFrom`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = exactly_one_of(["value", "valueFrom"])))]
pub struct Header {
    /// Name of the header, in any case. Headers that HTTP or MCP itself sets are refused.
    #[schemars(
        length(min = 1, max = 256),
        regex(pattern = NAME_PATTERN),
        extend("x-kubernetes-validations" = name_rules())
    )]
    pub name: String,
    /// The value itself, at most 4096 characters without line breaks. Secrets belong into
    /// `valueFrom`.
    #[schemars(length(max = 4096), regex(pattern = VALUE_PATTERN))]
    pub value: Option<String>,
    /// Where the value comes from. One line break at its end is dropped.
    pub value_from: Option<ValueSource>,
}

/// TLS towards a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tls {
    /// PEM certificates that are trusted instead of the system's: a key of a ConfigMap or Secret.
    pub ca_bundle_ref: Option<ValueSource>,
    /// Name expected in the server's certificate and sent as SNI. Default: the URL's host.
    #[schemars(
        length(min = 1, max = 253),
        regex(pattern = r"^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?$")
    )]
    pub server_name: Option<String>,
    /// A Secret of type `kubernetes.io/tls` whose `tls.crt` and `tls.key` we present.
    pub client_certificate_ref: Option<SecretName>,
}

fn url_rules() -> Value {
    rules([
        (
            "self.matches('^https?://[^/?#]')",
            "must be an absolute http or https URL, such as https://mcp.example.com/mcp",
        ),
        (
            "!self.matches('^[^/]*//[^/?#]*@')",
            "must not hold a user or a password: use spec.credential",
        ),
        ("!self.contains('#')", "must not have a fragment (#…)"),
        (
            r"!self.matches('[^!-~]|\\\\')",
            "must not hold spaces, backslashes or non-ASCII characters: percent-encode them",
        ),
    ])
}
