//! Who a policy is for, and what decides whether a call is let through.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Actors by id or by what they may do: an actor is meant when one of the entries fits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1))]
pub struct Subjects {
    /// Ids of actors, with the globs `*` and `?`. 1 to 64. Example: `[agent:billing-*]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(min = 1, max = 64),
        inner(length(min = 1, max = 256)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub actors: Vec<String>,
    /// Permissions an actor holds. 1 to 64. Example: `[payments.write]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(min = 1, max = 64),
        inner(length(min = 1, max = 128)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub permissions: Vec<String>,
}

/// Globs over the server's own tool names: `*` stands for any characters, `?` for one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1))]
pub struct ToolGlobs {
    /// Tools that may be used; all others are hidden. 1 to 256. Default: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(min = 1, max = 256),
        inner(length(min = 1, max = 256)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub allow: Vec<String>,
    /// Tools that are hidden, whatever allows them. 1 to 256. Example: `[delete_*]`. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(min = 1, max = 256),
        inner(length(min = 1, max = 256)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub deny: Vec<String>,
}

/// A condition on a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthorizeRule {
    /// CEL that is true when the call is allowed, over `actor` (`id`, `permissions`), `tool`
    /// (`name`, `annotations`), `server` (`namespace`, `labels`) and `args`. At most 2048
    /// characters. Example: `args.amount <= 100 || 'payments.large' in actor.permissions`.
    #[schemars(length(min = 1, max = 2048))]
    pub expression: String,
    /// What the agent is told when the condition does not hold. At most 512 characters. Example:
    /// `amounts above 100 need the permission payments.large`.
    #[schemars(length(min = 1, max = 512))]
    pub message: String,
}

/// Calls that wait for a decision by an actor who holds `approval_authority`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// Globs over the server's own tool names. 1 to 256. Example: `[delete_*, "transfer_?"]`.
    #[schemars(
        length(min = 1, max = 256),
        inner(length(min = 1, max = 256)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub tools: Vec<String>,
}
