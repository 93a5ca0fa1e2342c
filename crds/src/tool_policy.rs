//! The kind `ToolPolicy`: what agents may do with the tools of some servers.
//! Types and the rules they carry; which servers a policy reaches is decided in `translate`.

mod caps;
mod decision;
mod redact;
mod rename;
mod status;
mod target;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::{
    caps::{Arguments, RateLimit, RateLimitBy, ResultCaps, Strictness},
    decision::{Approval, AuthorizeRule, Subjects, ToolGlobs},
    redact::{Detector, Redaction, RedactionAction, RedactionPlace},
    rename::{CardKind, Rename},
    status::{AncestorRef, PolicyAncestor, ToolPolicyStatus},
    target::{
        SelectorOperator, SelectorRequirement, TargetGroup, TargetKind, TargetRef, TargetSelector,
    },
};
use crate::rule::rules;

/// Which servers the policy is for, and what it demands of calls to their tools. Whatever a policy
/// forbids to call is not listed, found, browsed or described either.
#[derive(CustomResource, Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "portreeve.dev",
    version = "v1alpha1",
    kind = "ToolPolicy",
    plural = "toolpolicies",
    shortname = "tpol",
    category = "mcp",
    namespaced,
    status = "ToolPolicyStatus",
    derive = "PartialEq",
    doc = "ToolPolicy says what agents may do with the tools of the UpstreamServers it is for: \
           which they see, under which names, and under which conditions a call is let through.",
    printcolumn(
        name = "Priority",
        type_ = "integer",
        description = "Place in the order of policies; lower comes first",
        json_path = ".spec.priority"
    ),
    printcolumn(
        name = "Failure",
        type_ = "string",
        description = "What happens when a step of the policy itself fails",
        json_path = ".spec.failure"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = spec_rules()))]
pub struct ToolPolicySpec {
    /// The servers this policy is for, by name. At most 16. Not together with `targetSelector`;
    /// with neither, the policy is for every server of its namespace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(min = 1, max = 16),
        extend(
            "x-kubernetes-list-type" = "map",
            "x-kubernetes-list-map-keys" = ["group", "kind", "name"]
        )
    )]
    pub target_refs: Vec<TargetRef>,

    /// The servers this policy is for, by their labels. Not together with `targetRefs`.
    pub target_selector: Option<TargetSelector>,

    /// Place in the order of policies: lower comes first, equal ones go by name. 0 to 100.
    /// Default: 50.
    #[serde(default = "default_priority")]
    #[schemars(range(min = 0, max = 100))]
    pub priority: u32,

    /// What happens when a step of this policy itself fails. `Closed`: the call is refused.
    /// `Open`: the step counts as passed. Default: `Closed`.
    #[serde(default)]
    pub failure: FailureMode,

    /// The actors this policy is for. Default: all.
    pub subjects: Option<Subjects>,

    /// Which tools are seen and may be called. A deny wins over every allow; an allow list hides
    /// the rest; the allow lists of several policies intersect. Default: no restriction.
    pub tools: Option<ToolGlobs>,

    /// New names and descriptions. The old name stops working, ids carry the new one. At most 64,
    /// each tool once. Not together with `subjects`: an id means one tool for everybody.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(min = 1, max = 64),
        extend(
            "x-kubernetes-list-type" = "map",
            "x-kubernetes-list-map-keys" = ["tool"],
            "x-kubernetes-validations" = rename::list_rules()
        )
    )]
    pub rename: Vec<Rename>,

    /// Conditions on a call, all of which must hold. Those that read `args` are decided at the
    /// call, the others already when tools are listed. At most 32. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 32), extend("x-kubernetes-list-type" = "atomic"))]
    pub authorize: Vec<AuthorizeRule>,

    /// What is searched for in arguments and results, and what is done about it. At most 32.
    /// Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 32), extend("x-kubernetes-list-type" = "atomic"))]
    pub redact: Vec<Redaction>,

    /// How many calls are let through. Default: no limit.
    pub rate_limit: Option<RateLimit>,

    /// Tools whose calls wait for a decision. Default: none.
    pub approval: Option<Approval>,

    /// How arguments are checked beyond the tool's own schema. Default: not at all.
    pub arguments: Option<Arguments>,

    /// How much of a result reaches the agent. Default: what the profile allows.
    pub result: Option<ResultCaps>,
}

/// What happens when a step of a policy itself fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum FailureMode {
    #[default]
    Closed,
    Open,
}

fn default_priority() -> u32 {
    50
}

fn spec_rules() -> Value {
    rules([
        (
            "!has(self.targetRefs) || !has(self.targetSelector)",
            "targetRefs and targetSelector must not be used together",
        ),
        (
            "!has(self.rename) || !has(self.subjects)",
            "rename must not be used together with subjects: an id means one tool for everybody",
        ),
    ])
}
