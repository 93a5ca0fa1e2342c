//! `spec.redact`: what is searched for in arguments and results, and what is done about it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rule::exactly_one_of;

/// One thing to search for: exactly one of `detector` and `pattern`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = exactly_one_of(["detector", "pattern"])))]
pub struct Redaction {
    /// A built-in detector: `Email`, `PhoneNumber`, `CreditCard`, `IpAddress`, `NationalId`,
    /// `CloudKey`, `AccessToken`, `PrivateKey`, `Jwt` or `PromptInjection`.
    pub detector: Option<Detector>,
    /// A regular expression in RE2 syntax, at most 512 characters. Example: `EMP-[0-9]{6}`.
    #[schemars(length(min = 1, max = 512))]
    pub pattern: Option<String>,
    /// Where to search: `Arguments`, `Result` or `Both`. Default: `Both`.
    #[serde(default)]
    pub apply_to: RedactionPlace,
    /// `Mask`: what is found is replaced. `Block`: the call or its result is refused. `Observe`:
    /// it is counted and audited only. Default: `Mask`.
    #[serde(default)]
    pub action: RedactionAction,
}

/// The built-in detectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Detector {
    Email,
    PhoneNumber,
    CreditCard,
    IpAddress,
    NationalId,
    CloudKey,
    AccessToken,
    PrivateKey,
    Jwt,
    PromptInjection,
}

/// Where to search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RedactionPlace {
    Arguments,
    Result,
    #[default]
    Both,
}

/// What is done about a find.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RedactionAction {
    #[default]
    Mask,
    Block,
    Observe,
}
