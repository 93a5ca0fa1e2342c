//! Which servers a policy is for.
//! What it does to them is decided in `policy`.

use serde_json::Value;

use crate::{
    objects::{LostPolicy, Manifest},
    tool_policy::{TargetSelector, ToolPolicySpec},
};

/// The servers a policy is for.
#[derive(Debug)]
pub(super) struct Reach {
    /// `None`: in every Kubernetes namespace.
    namespace: Option<String>,
    which: Which,
}

#[derive(Debug)]
enum Which {
    All,
    Named(Vec<String>),
    Labelled(TargetSelector),
}

impl Reach {
    /// As a valid policy says.
    pub(super) fn of_spec(namespace: &str, spec: &ToolPolicySpec) -> Self {
        let which = match (&spec.target_selector, &spec.target_refs[..]) {
            (Some(selector), _) => Which::Labelled(selector.clone()),
            (None, []) => Which::All,
            (None, targets) => Which::Named(targets.iter().map(|t| t.name.clone()).collect()),
        };
        Self { namespace: Some(namespace.to_owned()), which }
    }

    /// As far as an invalid policy can be understood; in doubt, its whole namespace.
    pub(super) fn of_invalid(manifest: &Manifest) -> Self {
        let spec = &manifest.body["spec"];
        let names = spec["targetRefs"].as_array().and_then(|targets| {
            let name = |target: &Value| target["name"].as_str().map(str::to_owned);
            targets.iter().map(name).collect::<Option<Vec<_>>>()
        });
        let certain = spec.get("targetSelector").is_none();
        let which = match names {
            Some(names) if certain && !names.is_empty() => Which::Named(names),
            _ => Which::All,
        };
        Self { namespace: Some(manifest.id.namespace.clone()), which }
    }

    /// A policy of which at most the namespace is known.
    pub(super) fn of_lost(policy: &LostPolicy) -> Self {
        Self { namespace: policy.namespace.clone(), which: Which::All }
    }

    pub(super) fn includes(&self, server: &Manifest) -> bool {
        let here =
            self.namespace.as_ref().is_none_or(|namespace| *namespace == server.id.namespace);
        here && match &self.which {
            Which::All => true,
            Which::Named(names) => names.contains(&server.id.name),
            Which::Labelled(selector) => selector.matches(&server.labels),
        }
    }

    /// Names that no server has, each with its place in `spec.targetRefs`.
    pub(super) fn missing<'a>(&'a self, servers: &[Manifest]) -> Vec<(usize, &'a str)> {
        let Which::Named(names) = &self.which else { return Vec::new() };
        let exists = |name: &str| {
            servers.iter().any(|server| server.id.name == name && self.includes(server))
        };
        let places = names.iter().map(String::as_str).enumerate();
        places.filter(|(_, name)| !exists(name)).collect()
    }
}
