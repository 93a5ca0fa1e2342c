//! `spec.contract`: the advertisement of a server's mutation tools, written by hand as governance.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was agreed on for the mutation tools of one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Contract {
    /// The tools, each once, by the server's own name. 1 to 128.
    #[schemars(
        length(min = 1, max = 128),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"])
    )]
    pub tools: Vec<ContractTool>,
}

/// The fields one tool takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContractTool {
    /// The server's own name of the tool: `create_issue`.
    #[schemars(length(min = 1, max = 128))]
    pub name: String,
    /// The sibling that takes the same fields without a schema. Default: `<name>_raw` where the
    /// server has one.
    #[schemars(length(min = 1, max = 128))]
    pub raw_tool: Option<String>,
    /// Fields required in every branch. At most 64. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        inner(length(min = 1, max = 128)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub base_required: Vec<String>,
    /// Fields optional in every branch. At most 64. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        inner(length(min = 1, max = 128)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub base_optional: Vec<String>,
    /// Alternatives of a discriminated input, each once. At most 32. Default: the one branch
    /// `_flat`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 32),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["contextType"])
    )]
    pub branches: Vec<Branch>,
}

/// The fields of one alternative, beside the base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Branch {
    /// Value of the discriminator: `decision`.
    #[schemars(length(min = 1, max = 128))]
    pub context_type: String,
    /// Fields required in this branch. At most 64. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        inner(length(min = 1, max = 128)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub required: Vec<String>,
    /// Fields optional in this branch. At most 64. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        inner(length(min = 1, max = 128)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub optional: Vec<String>,
}
