//! `spec.transport.stdio`: a server that is a child process.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EnvVar, value::NO_NUL};
use crate::rule::rules;

/// A child process that speaks MCP on its standard input and output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Stdio {
    /// Program and arguments, as they are passed on: no shell, no expansion. A program without `/`
    /// is looked up in PATH. 1 to 64 items of at most 4096 characters.
    /// Example: `[npx, -y, "@modelcontextprotocol/server-everything", stdio]`.
    #[schemars(
        length(min = 1, max = 64),
        inner(length(max = 4096), regex(pattern = NO_NUL)),
        extend("x-kubernetes-list-type" = "atomic", "x-kubernetes-validations" = rules([(
            "self.size() == 0 || self[0] != ''",
            "the program (the first item) must not be empty",
        )]))
    )]
    pub command: Vec<String>,
    /// Environment of the process. It also inherits PATH, HOME, LANG and TMPDIR, and nothing else;
    /// an entry here wins over an inherited one. At most 64. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"])
    )]
    pub env: Vec<EnvVar>,
    /// Working directory. Default: the gateway's own. A relative path starts there too.
    #[schemars(length(min = 1, max = 4096), regex(pattern = NO_NUL))]
    pub cwd: Option<String>,
}
