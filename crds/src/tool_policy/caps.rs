//! How much: rates, sizes of arguments, sizes of results.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    duration::DurationText,
    quantity::ByteSize,
    rule::{duration_between, rules, size_between},
};

/// A token bucket: `calls` in every `per`, at most `burst` at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RateLimit {
    /// Calls let through in every `per`. 1 to 1000000.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub calls: u32,
    /// The period. 1s to 24h. Default: `1m`.
    #[serde(default = "default_period")]
    #[schemars(extend("x-kubernetes-validations" = duration_between("1s", "24h")))]
    pub per: DurationText,
    /// Calls let through at once after a pause. 1 to 1000000. Default: the value of `calls`.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub burst: Option<u32>,
    /// Who shares a bucket. `Actor`: one for each actor and server. `Tool`: one for each actor and
    /// tool. `Server`: one for each server, shared by all actors. Default: `Actor`.
    #[serde(default)]
    pub by: RateLimitBy,
}

/// Who shares a bucket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RateLimitBy {
    #[default]
    Actor,
    Tool,
    Server,
}

/// How arguments are checked beyond the tool's own schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Arguments {
    /// `Strict`: arguments are always checked against the tool's schema and unknown properties are
    /// refused, even where the schema allows them. `Schema`: the profile and the tool's schema
    /// decide. Default: `Schema`.
    #[serde(default)]
    pub strictness: Strictness,
    /// Largest arguments as JSON. 1Ki to 16Mi. Default: the gateway's body limit.
    #[schemars(extend("x-kubernetes-validations" = size_between("1Ki", "16Mi")))]
    pub max_bytes: Option<ByteSize>,
    /// Deepest nesting of arguments. 1 to 64. Default: the gateway's limit.
    #[schemars(range(min = 1, max = 64))]
    pub max_depth: Option<u32>,
}

/// What decides about unknown properties.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Strictness {
    #[default]
    Schema,
    Strict,
}

/// How much of a result reaches the agent; the rest becomes an artifact it can page through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = result_rules()))]
pub struct ResultCaps {
    /// Most tokens (cl100k) of a result. 16 to 1000000.
    #[schemars(range(min = 16, max = 1_000_000))]
    pub max_tokens: Option<u32>,
    /// Most bytes of a result. 1Ki to 256Mi.
    #[schemars(extend("x-kubernetes-validations" = size_between("1Ki", "256Mi")))]
    pub max_bytes: Option<ByteSize>,
}

fn result_rules() -> Value {
    rules([(
        "has(self.maxTokens) || has(self.maxBytes)",
        "at least one of maxTokens, maxBytes must be set",
    )])
}

fn default_period() -> DurationText {
    "1m".into()
}
