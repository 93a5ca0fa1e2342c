//! `spec.transport.container`: a server that the operator runs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::EnvVar;
use crate::quantity::Amount;

/// An image that the operator runs as a Deployment with a Service, without a service-account
/// token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Container {
    /// The image, best pinned by digest. Example: `registry.example.com/mcp@sha256:…`.
    #[schemars(length(min = 1, max = 1024), regex(pattern = r"^[A-Za-z0-9][!-~]*$"))]
    pub image: String,
    /// Program, instead of the image's entry point. At most 64 items. Default: the image's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        inner(length(max = 4096)),
        extend("x-kubernetes-list-type" = "atomic")
    )]
    pub command: Vec<String>,
    /// Arguments of the program. At most 64 items. Default: the image's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        inner(length(max = 4096)),
        extend("x-kubernetes-list-type" = "atomic")
    )]
    pub args: Vec<String>,
    /// Environment of the container. At most 64. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"])
    )]
    pub env: Vec<EnvVar>,
    /// Port the server listens on. 1 to 65535. Default: 8080.
    #[serde(default = "default_port")]
    #[schemars(range(min = 1, max = 65535))]
    pub port: u32,
    /// Path of the MCP endpoint. Default: `/mcp`.
    #[serde(default = "default_path")]
    #[schemars(length(min = 1, max = 1024), regex(pattern = r"^/[!-~]*$"))]
    pub path: String,
    /// `Bridged`: the image speaks MCP on standard input and output, and our bridge, brought in by
    /// an init container, serves it at `port` and `path`, one process per session. `Unused`: the
    /// image serves HTTP itself. Default: `Unused`.
    #[serde(default)]
    pub stdio: StdioBridge,
    /// Amounts of CPU and memory, as in a Pod. Default: none.
    #[serde(default, skip_serializing_if = "ResourceAmounts::is_empty")]
    pub resources: ResourceAmounts,
}

/// Whether the image speaks MCP on standard input and output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum StdioBridge {
    #[default]
    Unused,
    Bridged,
}

/// Amounts of container resources by name (`cpu`, `memory`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceAmounts {
    /// What is reserved. Example: `{cpu: 100m, memory: 128Mi}`. At most 8 entries.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 8))]
    pub requests: BTreeMap<String, Amount>,
    /// What may be used at most. Example: `{memory: 256Mi}`. At most 8 entries.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 8))]
    pub limits: BTreeMap<String, Amount>,
}

impl ResourceAmounts {
    fn is_empty(&self) -> bool {
        let Self { requests, limits } = self;
        requests.is_empty() && limits.is_empty()
    }
}

fn default_port() -> u32 {
    8080
}

fn default_path() -> String {
    "/mcp".to_owned()
}
