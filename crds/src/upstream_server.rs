//! The kind `UpstreamServer`: one MCP server, where it is and how it may be used.
//! Types and the rules they carry; what becomes of them is decided in `translate`.

mod container;
mod contract;
mod credential;
mod http;
mod limits;
mod status;
mod stdio;
mod transport;
mod value;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::{
    container::{Container, ResourceAmounts, StdioBridge},
    contract::{Branch, Contract, ContractTool},
    credential::{Credential, CredentialSecret, CredentialType, OAuth},
    http::{Header, HttpEndpoint, Tls},
    limits::{Breaker, Discovery, Integrity, IntegrityMode, Limits, Resilience},
    status::{ServerInfo, UpstreamServerStatus},
    stdio::Stdio,
    transport::{Transport, TransportChoice},
    value::{EnvVar, KeySource, RequiredKey},
};
use crate::rule::rules;

/// Desired state of one MCP server: where it is (`transport`), what is presented to it
/// (`credential`) and how it may be used. Everything but `transport` has a default.
#[derive(CustomResource, Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "portreeve.dev",
    version = "v1alpha1",
    kind = "UpstreamServer",
    plural = "upstreamservers",
    shortname = "ups",
    category = "mcp",
    namespaced,
    status = "UpstreamServerStatus",
    derive = "PartialEq",
    doc = "UpstreamServer is one MCP server that agents may reach through Portreeve. Its tools \
           appear under the ids `<toolNamespace>:<tool>#<hash>` once the object is Ready.",
    validation = Rule::new(
        "has(self.spec.toolNamespace) || self.metadata.name.matches('^[a-z][a-z0-9_-]{0,63}$')"
    )
    .message("toolNamespace must be set: the object's name is not a valid tool namespace \
              (a lower-case letter, then at most 63 lower-case letters, digits, '-' or '_')")
    .field_path(".spec.toolNamespace"),
    validation = Rule::new(
        "(has(self.spec.toolNamespace) ? self.spec.toolNamespace : self.metadata.name) == \
         (has(oldSelf.spec.toolNamespace) ? oldSelf.spec.toolNamespace : oldSelf.metadata.name)"
    )
    .message("toolNamespace is immutable: every tool id begins with it; \
              create another UpstreamServer instead")
    .field_path(".spec.toolNamespace"),
    printcolumn(name = "Ready", type_ = "string",
        description = "Whether agents can use this server",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"),
    printcolumn(name = "Era", type_ = "string",
        description = "Protocol era the server speaks", json_path = ".status.era"),
    printcolumn(name = "Tools", type_ = "integer",
        description = "Number of tools served", json_path = ".status.tools"),
    printcolumn(name = "Revision", type_ = "string",
        description = "Digest of the listing", json_path = ".status.revision"),
    printcolumn(name = "Drift", type_ = "string",
        description = "Whether the listing differs from the approved revision",
        json_path = ".status.conditions[?(@.type==\"SchemaDrift\")].status"),
    printcolumn(name = "Observed", type_ = "date",
        description = "When the listing was last read", json_path = ".status.observedAt"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = credential::placement_rules()))]
pub struct UpstreamServerSpec {
    /// First part of every tool id of this server: `github` gives `github:create_issue#06cc9cd7`
    /// and, in the router profile, `github__create_issue`. Default: the object's name. It must be
    /// unique among all servers of a release; the older object keeps a contested one. At most 64
    /// characters; no `__` and no `_` at the end, so that routed names can be split; immutable.
    #[schemars(
        length(min = 1, max = 64),
        regex(pattern = r"^[a-z][a-z0-9_-]{0,63}$"),
        extend("x-kubernetes-validations" = rules([
            ("!self.contains('__')", "must not contain '__', which separates it from the tool's name"),
            ("!self.endsWith('_')", "must not end in '_'"),
        ]))
    )]
    pub tool_namespace: Option<String>,

    /// How the server is reached: exactly one of `streamableHttp`, `sse`, `stdio` and `container`.
    pub transport: Transport,

    /// What we present to the server; a client's own token is never passed on. Default: nothing.
    /// Only for transports over HTTP.
    pub credential: Option<Credential>,

    /// Which protocol era to speak. `Auto`: ask the server. `Modern`: 2026-07-28 and later.
    /// `Legacy`: 2024-11-05 to 2025-11-25. Default: `Auto`.
    #[serde(default)]
    pub era: Era,

    /// Who shares an upstream session. `Auto`: one session per actor where a legacy HTTP server
    /// hands out session ids, one shared session elsewhere. `PerActor`: always one per actor.
    /// `Shared`: always one for all. Default: `Auto`.
    #[serde(default)]
    pub session: SessionMode,

    /// Bounds on the use of this server, each per gateway replica.
    #[serde(default)]
    pub limits: Limits,

    /// What to do when calls fail.
    #[serde(default)]
    pub resilience: Resilience,

    /// How the server's listing is kept up to date.
    #[serde(default)]
    pub discovery: Discovery,

    /// What to do when a tool changes after it was approved.
    #[serde(default)]
    pub integrity: Integrity,

    /// Environment variables or secret keys that a user of this server must supply, as told by
    /// `get_required_keys_for_tool`. At most 32. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 32),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"])
    )]
    pub required_keys: Vec<RequiredKey>,

    /// The advertisement that was agreed on for this server's mutation tools. The live schema is
    /// compared with it, and a difference raises the condition `ContractDrift`. Default: none.
    pub contract: Option<Contract>,
}

/// Which protocol era to speak.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Era {
    #[default]
    Auto,
    Modern,
    Legacy,
}

/// Who shares an upstream session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SessionMode {
    #[default]
    Auto,
    PerActor,
    Shared,
}
