//! How a manifest points at other objects of its own namespace. What is found there is looked up
//! in `translate::references`; nothing here reads it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rule::exactly_one_of;

/// One key of a Secret or ConfigMap in the object's own namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyRef {
    /// Name of the Secret or ConfigMap, in the same namespace as this object.
    #[schemars(length(min = 1, max = 253), regex(pattern = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"))]
    pub name: String,
    /// Key inside it. Example: `token`.
    #[schemars(length(min = 1, max = 253), regex(pattern = r"^[-._a-zA-Z0-9]+$"))]
    pub key: String,
}

/// A Secret in the object's own namespace, by name; which keys are read is said where it is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretName {
    /// Name of the Secret, in the same namespace as this object.
    #[schemars(length(min = 1, max = 253), regex(pattern = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"))]
    pub name: String,
}

/// Where a value comes from: exactly one of `secretKeyRef` and `configMapKeyRef`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = exactly_one_of(["secretKeyRef", "configMapKeyRef"])))]
pub struct ValueSource {
    /// A key of a Secret. The value never enters a snapshot, a status or a log.
    pub secret_key_ref: Option<KeyRef>,
    /// A key of a ConfigMap.
    pub config_map_key_ref: Option<KeyRef>,
}
