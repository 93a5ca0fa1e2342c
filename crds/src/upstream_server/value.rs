//! Values that are written out or come from a Secret or ConfigMap, and keys a user must supply.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{reference::ValueSource, rule::exactly_one_of};

/// Programs, arguments, variables and paths end at a NUL: one inside would cut them short.
pub(super) const NO_NUL: &str = r"^[^\x00]*$";

/// One environment variable: `name` and exactly one of `value` and `valueFrom`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = exactly_one_of(["value", "valueFrom"])))]
pub struct EnvVar {
    /// Name of the variable: letters, digits and `_`, not beginning with a digit.
    #[schemars(length(min = 1, max = 256), regex(pattern = r"^[A-Za-z_][A-Za-z0-9_]*$"))]
    pub name: String,
    /// The value itself, at most 8192 characters. A standalone gateway replaces `${NAME}` with its
    /// own environment variable NAME; `$${NAME}` stands for a literal `${NAME}`. Secrets belong
    /// into `valueFrom`.
    #[schemars(length(max = 8192), regex(pattern = NO_NUL))]
    pub value: Option<String>,
    /// Where the value comes from.
    pub value_from: Option<ValueSource>,
}

/// A key that a user must supply before the server's tools are of use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequiredKey {
    /// Name of the variable or key: `GITHUB_TOKEN`.
    #[schemars(length(min = 1, max = 253), regex(pattern = r"^[-._a-zA-Z0-9]+$"))]
    pub name: String,
    /// Where the user supplies it. `Environment`: an environment variable of the server.
    /// `Secret`: a key of the Secret that `credential` names. Default: `Environment`.
    #[serde(default)]
    pub source: KeySource,
    /// What it is and where to get one, for the reader of the answer. At most 512 characters.
    #[schemars(length(max = 512))]
    pub description: Option<String>,
}

/// Where a required key is supplied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum KeySource {
    #[default]
    Environment,
    Secret,
}
