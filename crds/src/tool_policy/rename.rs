//! `spec.rename`: what a tool is called and how its card reads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::rule::rules;

/// A new appearance for one tool: `tool` and at least one of the other fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = rules([(
    "has(self.name) || has(self.description) || has(self.tags) || has(self.kind) || \
     has(self.costHint)",
    "at least one of name, description, tags, kind, costHint must be set",
)])))]
pub struct Rename {
    /// The server's own name of the tool, without globs.
    #[schemars(length(min = 1, max = 256))]
    pub tool: String,
    /// The new name: a letter or `_`, then at most 127 letters, digits, `_`, `.` or `-`. Default:
    /// the old name.
    #[schemars(length(min = 1, max = 128), regex(pattern = r"^[A-Za-z_][A-Za-z0-9_.-]{0,127}$"))]
    pub name: Option<String>,
    /// The new description, at most 4096 characters. Default: the server's.
    #[schemars(length(min = 1, max = 4096))]
    pub description: Option<String>,
    /// Tags of the card: at most 5 of at most 24 characters. Default: the server's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 5),
        inner(length(min = 1, max = 24)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub tags: Option<Vec<String>>,
    /// Kind of the card: `tool`, `agent`, `skill` or `internal`. Default: the server's.
    pub kind: Option<CardKind>,
    /// Relative cost of a call, shown on the card when above 0. 0 to 1000000. Default: the
    /// server's.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub cost_hint: Option<f64>,
}

/// Kinds of cards, spelled as on the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CardKind {
    Tool,
    Agent,
    Skill,
    Internal,
}

pub(super) fn list_rules() -> Value {
    rules([(
        "self.all(a, !has(a.name) || self.exists_one(b, has(b.name) && b.name == a.name))",
        "two tools must not be given the same name",
    )])
}
