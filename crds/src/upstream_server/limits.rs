//! Bounds, resilience, discovery and integrity: how a server may be used, with every default.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    duration::DurationText,
    quantity::ByteSize,
    rule::{duration_between, size_between},
};

/// Bounds on the use of one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// Calls under way at once; more are refused with `RATE_LIMITED`. 1 to 10000. Default: 100.
    #[schemars(range(min = 1, max = 10000))]
    pub concurrency: u32,
    /// How long to wait for a connection. 100ms to 5m. Default: `10s`.
    #[schemars(extend("x-kubernetes-validations" = duration_between("100ms", "5m")))]
    pub connect_timeout: DurationText,
    /// How long to wait for the answer to a call. 100ms to 1h. Default: `60s`.
    #[schemars(extend("x-kubernetes-validations" = duration_between("100ms", "1h")))]
    pub call_timeout: DurationText,
    /// Largest message accepted from the server. 1Ki to 256Mi. Default: `4Mi`.
    #[schemars(extend("x-kubernetes-validations" = size_between("1Ki", "256Mi")))]
    pub max_response_bytes: ByteSize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            concurrency: 100,
            connect_timeout: "10s".into(),
            call_timeout: "60s".into(),
            max_response_bytes: "4Mi".into(),
        }
    }
}

/// What to do when calls fail.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Resilience {
    /// How often a failed call is repeated, if the tool says that repeating is safe
    /// (`readOnlyHint` or `idempotentHint`); others never are. 0 to 5. Default: 0.
    #[schemars(range(min = 0, max = 5))]
    pub retries: u32,
    /// When to stop calling a server that keeps failing.
    pub breaker: Breaker,
}

/// When to stop calling a server that keeps failing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Breaker {
    /// Consecutive failures that open the breaker. 1 to 1000. Default: 5.
    #[schemars(range(min = 1, max = 1000))]
    pub failures: u32,
    /// How long it stays open before one call may try again. 1s to 10m. Default: `10s`.
    #[schemars(extend("x-kubernetes-validations" = duration_between("1s", "10m")))]
    pub open_for: DurationText,
}

impl Default for Breaker {
    fn default() -> Self {
        Self { failures: 5, open_for: "10s".into() }
    }
}

/// How the listing is kept up to date. A server that announces changes is heard at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Discovery {
    /// The longest a listing is trusted. A server's own `ttlMs` is clamped to 10 s … this value.
    /// 10s to 24h. Default: `60s`.
    #[schemars(extend("x-kubernetes-validations" = duration_between("10s", "24h")))]
    pub poll_interval: DurationText,
}

impl Default for Discovery {
    fn default() -> Self {
        Self { poll_interval: "60s".into() }
    }
}

/// What to do when a tool changes after it was approved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Integrity {
    /// `Observe`: changes are served and raise the condition `SchemaDrift`. `Quarantine`: a changed
    /// or new tool is withheld until a revision that holds it is approved. Default: `Observe`.
    pub mode: IntegrityMode,
    /// The approved revision, as `status.revision` shows it: `sha256:` and 64 hex digits. With
    /// `Quarantine`, a revision that is not known withholds every tool. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 71), regex(pattern = r"^sha256:[0-9a-f]{64}$"))]
    pub approved_revision: Option<String>,
}

/// What happens to a changed tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum IntegrityMode {
    #[default]
    Observe,
    Quarantine,
}
