//! One ToolPolicy: is it valid, are its targets there, and what has to be withheld because of it?
//! A policy is never weaker for being broken: what cannot be read or enforced withholds.

use surface::doc::WithheldDoc;

use super::{
    reach::Reach,
    unbuilt::{self, Effect, Unbuilt},
    verdict::{Refusal, Resolution, refusal, summary},
};
use crate::{
    objects::{LostPolicy, Manifest},
    problem::{Problem, Reason},
    schema::Violation,
    tool_policy::{ToolPolicy, ToolPolicySpec},
};

/// A policy after everything that can be said of it.
#[derive(Debug)]
pub(super) struct Judged<'a> {
    pub(super) manifest: &'a Manifest,
    pub(super) problems: Vec<Problem>,
    /// The condition `Accepted`.
    pub(super) accepted: Result<(), Refusal>,
    /// The condition `ResolvedRefs`.
    pub(super) resolved: Resolution<()>,
    /// The condition `NotImplemented`.
    pub(super) unbuilt: Vec<Unbuilt>,
    pub(super) restriction: Restriction,
}

/// What is withheld from some servers.
#[derive(Debug)]
pub(super) struct Restriction {
    reach: Reach,
    withheld: Vec<WithheldDoc>,
}

impl Restriction {
    /// What a policy that cannot be attributed costs.
    pub(super) fn of_lost(policy: &LostPolicy) -> Self {
        let message = format!("the policy in {} cannot be read", policy.origin);
        let withheld = vec![withheld(vec!["*".to_owned()], Reason::PolicyInvalid, message)];
        Self { reach: Reach::of_lost(policy), withheld }
    }

    /// What is withheld from one server.
    pub(super) fn on(&self, server: &Manifest) -> &[WithheldDoc] {
        if self.reach.includes(server) { &self.withheld } else { &[] }
    }
}

/// Judges one policy among all servers.
pub(super) fn judge<'a>(manifest: &'a Manifest, servers: &[Manifest]) -> Judged<'a> {
    match manifest.admit::<ToolPolicy>() {
        Ok(spec) => judge_spec(manifest, &spec, servers),
        Err(violations) => judge_invalid(manifest, &violations),
    }
}

fn judge_spec<'a>(
    manifest: &'a Manifest,
    spec: &ToolPolicySpec,
    servers: &[Manifest],
) -> Judged<'a> {
    let unbuilt = unbuilt::of_policy(spec);
    let reach = Reach::of_spec(&manifest.id.namespace, spec);
    let absent = absent_targets(manifest, &reach, servers);
    let mut problems: Vec<_> = unbuilt.iter().filter_map(|u| u.problem(manifest)).collect();
    problems.extend(absent.iter().map(|v| manifest.problem(v.reason, &v.path, v.message.clone())));
    if spec.target_selector.is_some() && !servers.iter().any(|server| reach.includes(server)) {
        let message = "no server has such labels".to_owned();
        problems.push(manifest.warning(Reason::TargetNotFound, "spec.targetSelector", message));
    }
    let withheld = unbuilt.iter().filter_map(|unbuilt| withheld_for(manifest, unbuilt)).collect();
    Judged {
        manifest,
        problems,
        accepted: Ok(()),
        resolved: if absent.is_empty() { Ok(()) } else { Err(summary(&absent)) }.into(),
        unbuilt,
        restriction: Restriction { reach, withheld },
    }
}

fn absent_targets(manifest: &Manifest, reach: &Reach, servers: &[Manifest]) -> Vec<Violation> {
    let absent = reach.missing(servers).into_iter();
    absent
        .map(|(place, name)| Violation {
            path: format!("spec.targetRefs[{place}].name"),
            reason: Reason::TargetNotFound,
            message: format!("UpstreamServer {}/{name} does not exist", manifest.id.namespace),
        })
        .collect()
}

fn withheld_for(manifest: &Manifest, unbuilt: &Unbuilt) -> Option<WithheldDoc> {
    let Effect::Withheld(globs) = &unbuilt.effect else { return None };
    let message = format!("{} of {} is not built yet", unbuilt.path, manifest.id);
    Some(withheld(globs.clone(), Reason::NotImplemented, message))
}

fn judge_invalid<'a>(manifest: &'a Manifest, violations: &[Violation]) -> Judged<'a> {
    let report = |v: &Violation| manifest.problem(v.reason, &v.path, v.message.clone());
    let mut problems: Vec<_> = violations.iter().map(report).collect();
    let message = "all tools of the servers it is for (if that cannot be told: of its namespace) \
                   are withheld until the policy is valid";
    problems.push(manifest.problem(Reason::PolicyInvalid, "", message.to_owned()));
    let message = format!("{} is invalid", manifest.id);
    Judged {
        manifest,
        problems,
        accepted: Err(refusal(violations)),
        resolved: Resolution::Unread,
        unbuilt: Vec::new(),
        restriction: Restriction {
            reach: Reach::of_invalid(manifest),
            withheld: vec![withheld(vec!["*".to_owned()], Reason::PolicyInvalid, message)],
        },
    }
}

fn withheld(tools: Vec<String>, reason: Reason, message: String) -> WithheldDoc {
    WithheldDoc { tools, reason: reason.to_string(), message }
}
