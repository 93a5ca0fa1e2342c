//! `status` of a ToolPolicy: what became of it at each server. Written by the operator only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{TargetGroup, TargetKind};
use crate::condition::StatusCondition;

/// What became of the policy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolPolicyStatus {
    /// One entry for each server the policy reaches, at most 16 of them, in the order of names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "atomic"))]
    pub ancestors: Vec<PolicyAncestor>,
}

/// What became of the policy at one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyAncestor {
    /// The server.
    pub ancestor_ref: AncestorRef,
    /// Who wrote this entry: `portreeve.dev/operator`.
    #[schemars(length(min = 1, max = 253))]
    pub controller_name: String,
    /// `Accepted` and `Enforced` always; `NotImplemented` only while it holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 8),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"])
    )]
    pub conditions: Vec<StatusCondition>,
}

/// A server a policy reaches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AncestorRef {
    /// API group of the server.
    #[serde(default)]
    pub group: TargetGroup,
    /// Kind of the server.
    #[serde(default)]
    pub kind: TargetKind,
    /// Name of the server.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}
