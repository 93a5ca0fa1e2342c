//! `status` of an UpstreamServer: what was found. Written by the operator only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::condition::StatusCondition;

/// What was found, as of `observedAt`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpstreamServerStatus {
    /// The `metadata.generation` this status is about.
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    /// `Accepted`, `ResolvedRefs`, `Verified`, `Programmed` and `Ready` always; `SchemaDrift`,
    /// `ContractDrift`, `Stale` and `NotImplemented` only while they hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 16),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"])
    )]
    pub conditions: Vec<StatusCondition>,
    /// Protocol era the server speaks: `Modern` or `Legacy`.
    #[schemars(length(max = 16), extend("enum" = ["Modern", "Legacy"]))]
    pub era: Option<String>,
    /// Protocol version in use with the server: `2026-07-28`.
    #[schemars(length(max = 32))]
    pub protocol_version: Option<String>,
    /// What the server calls itself.
    pub server_info: Option<ServerInfo>,
    /// Number of tools served.
    #[schemars(range(min = 0))]
    pub tools: Option<i32>,
    /// Digest of the listing: `sha256:` and 64 hex digits.
    #[schemars(length(max = 71))]
    pub revision: Option<String>,
    /// When the listing was last read. Written at most every 30 s.
    #[schemars(extend("format" = "date-time"))]
    pub observed_at: Option<String>,
}

/// What a server calls itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerInfo {
    /// Programmatic name.
    #[schemars(length(max = 256))]
    pub name: String,
    /// Version of the server.
    #[schemars(length(max = 256))]
    pub version: Option<String>,
    /// Name for humans.
    #[schemars(length(max = 256))]
    pub title: Option<String>,
}
