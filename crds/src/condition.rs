//! The closed list of conditions and of the reasons they are given with.
//! Deciding them belongs to `translate` and to the operator; time stamps to whoever writes them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! closed_list {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant),+
        }

        impl $name {
            /// As it is written in a status, an event, a metric label or a log line.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($variant)),+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use closed_list;

closed_list! {
    /// What a condition is about. The last four are negative: they are there only while they hold.
    ConditionType {
        /// The spec is valid and this placement can serve it.
        Accepted,
        /// Every Secret, ConfigMap and target that the object names exists.
        ResolvedRefs,
        /// A field of the object is understood but not built yet; the message names it.
        NotImplemented,
    }
}

closed_list! {
    /// Whether a condition holds.
    ConditionStatus { True, False, Unknown }
}

closed_list! {
    /// Why a condition is what it is.
    ConditionReason {
        /// Accepted: nothing is wrong with the spec.
        Accepted,
        /// Accepted: the spec breaks a rule of its kind.
        Invalid,
        /// Accepted: an older object has the tool namespace.
        NamespaceConflict,
        /// Accepted: this placement cannot carry the transport.
        TransportNotSupported,
        /// Accepted or NotImplemented: this release has not built it yet.
        NotImplemented,
        /// ResolvedRefs: everything was found.
        ResolvedRefs,
        /// ResolvedRefs: a Secret, a ConfigMap or a key is missing or unusable.
        RefNotFound,
        /// ResolvedRefs: a policy names a server that does not exist.
        TargetNotFound,
    }
}

/// A condition as it was decided, without the times that its writer adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    pub type_: ConditionType,
    pub status: ConditionStatus,
    pub reason: ConditionReason,
    /// For a human: what is wrong and where.
    pub message: String,
}

/// A condition as the API server keeps it, in the shape all Kubernetes objects share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusCondition {
    /// What the condition is about: `Accepted`, `ResolvedRefs`, `Verified`, `Programmed`, `Ready`,
    /// and, only while they hold, `SchemaDrift`, `ContractDrift`, `Stale`, `NotImplemented`.
    #[serde(rename = "type")]
    #[schemars(
        length(min = 1, max = 316),
        regex(
            pattern = r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
        )
    )]
    pub type_: String,
    /// Whether it holds: `True`, `False` or `Unknown`.
    #[schemars(length(max = 7), extend("enum" = ["True", "False", "Unknown"]))]
    pub status: String,
    /// The `metadata.generation` this was decided for; older than the object's: not seen yet.
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    /// When `status` last changed.
    #[schemars(extend("format" = "date-time"))]
    pub last_transition_time: String,
    /// Machine-readable cause from a closed list: `NamespaceConflict`.
    #[schemars(
        length(min = 1, max = 1024),
        regex(pattern = r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")
    )]
    pub reason: String,
    /// The same for a human, with the field concerned.
    #[schemars(length(max = 32768))]
    pub message: String,
}
