//! `spec.targetRefs` and `spec.targetSelector`: which servers a policy is for (after GEP-713).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::rule::rules;

/// One server, by name, in the policy's own namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetRef {
    /// API group of the target. Default and only value: `portreeve.dev`.
    #[serde(default)]
    pub group: TargetGroup,
    /// Kind of the target. Default and only value: `UpstreamServer`.
    #[serde(default)]
    pub kind: TargetKind,
    /// Name of the UpstreamServer object.
    #[schemars(length(min = 1, max = 253), regex(pattern = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"))]
    pub name: String,
}

/// API groups a policy can target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TargetGroup {
    #[default]
    #[serde(rename = "portreeve.dev")]
    Portreeve,
}

/// Kinds a policy can target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TargetKind {
    #[default]
    UpstreamServer,
}

/// Servers by their labels, as everywhere in Kubernetes: all conditions must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1))]
pub struct TargetSelector {
    /// Labels with exactly these values. At most 16. Example: `{team: payments}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend(
        "minProperties" = 1,
        "maxProperties" = 16,
        "additionalProperties" = {
            "type": "string",
            "maxLength": 63,
            "pattern": "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$",
        }
    ))]
    pub match_labels: BTreeMap<String, String>,
    /// Conditions on labels. At most 16.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 16), extend("x-kubernetes-list-type" = "atomic"))]
    pub match_expressions: Vec<SelectorRequirement>,
}

/// One condition on a label.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = requirement_rules()))]
pub struct SelectorRequirement {
    /// The label's key.
    #[schemars(
        length(min = 1, max = 317),
        regex(
            pattern = r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
        )
    )]
    pub key: String,
    /// `In`, `NotIn`, `Exists` or `DoesNotExist`. A server without the label passes `NotIn`.
    pub operator: SelectorOperator,
    /// Values for `In` and `NotIn`: 1 to 16. Refused with the other operators.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 16),
        inner(
            length(max = 63),
            regex(pattern = r"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$")
        ),
        extend("x-kubernetes-list-type" = "atomic")
    )]
    pub values: Vec<String>,
}

/// How a label is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SelectorOperator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

fn requirement_rules() -> Value {
    rules([
        (
            "!(self.operator in ['In', 'NotIn']) || (has(self.values) && self.values.size() > 0)",
            "values is required with the operators In and NotIn",
        ),
        (
            "self.operator in ['In', 'NotIn'] || !has(self.values) || self.values.size() == 0",
            "values is only for the operators In and NotIn",
        ),
    ])
}

impl TargetSelector {
    /// Whether a server with these labels is meant.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        let Self { match_labels, match_expressions } = self;
        match_labels.iter().all(|(key, value)| labels.get(key) == Some(value))
            && match_expressions.iter().all(|requirement| requirement.matches(labels))
    }
}

impl SelectorRequirement {
    fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        let Self { key, operator, values } = self;
        let value = labels.get(key);
        match operator {
            SelectorOperator::In => value.is_some_and(|value| values.contains(value)),
            SelectorOperator::NotIn => value.is_none_or(|value| !values.contains(value)),
            SelectorOperator::Exists => value.is_some(),
            SelectorOperator::DoesNotExist => value.is_none(),
        }
    }
}
