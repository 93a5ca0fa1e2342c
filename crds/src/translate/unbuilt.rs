//! Fields that are understood and not built yet, and what that means for whoever set them.
//! Two tables that shrink with every release; what is served is not decided here.

use super::unbuilt::Effect::{Ignored, Refused, Withheld};
use crate::{
    objects::Manifest,
    problem::{Problem, Reason},
    schema::Violation,
    tool_policy::{Arguments, RedactionAction, Strictness, ToolGlobs, ToolPolicySpec},
    upstream_server::{
        CredentialType, Integrity, IntegrityMode, SessionMode, Transport, UpstreamServerSpec,
    },
};

/// A field that this release does not carry out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unbuilt {
    pub(super) path: &'static str,
    pub(super) effect: Effect,
}

/// What an unbuilt field leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Effect {
    /// The server cannot be served without it.
    Refused,
    /// It would restrict: tools matching these globs are withheld until it can.
    Withheld(Vec<String>),
    /// It would not restrict: everything is served, and this is what it looks like.
    Ignored(&'static str),
}

impl Unbuilt {
    /// Why the server is refused, where it is.
    pub(super) fn refusal(&self) -> Option<Violation> {
        (self.effect == Refused).then(|| Violation {
            path: self.path.to_owned(),
            reason: Reason::NotImplemented,
            message: "is not built yet: the server is not served".to_owned(),
        })
    }

    /// What the author of the field is told, where the server is not refused for it.
    pub(super) fn problem(&self, manifest: &Manifest) -> Option<Problem> {
        let (reason, path) = (Reason::NotImplemented, self.path);
        match &self.effect {
            Refused => None,
            Withheld(globs) => {
                let message = format!("is not built yet: {}", withholding(globs));
                Some(manifest.problem(reason, path, message))
            }
            Ignored(instead) => {
                Some(manifest.warning(reason, path, format!("is not built yet: {instead}")))
            }
        }
    }
}

/// `tools matching a*, b are withheld`, or all of them.
fn withholding(globs: &[String]) -> String {
    match globs {
        [all] if all == "*" => "all tools are withheld until it is".to_owned(),
        globs => format!("tools matching {} are withheld until it is", globs.join(", ")),
    }
}

fn everything() -> Effect {
    Withheld(vec!["*".to_owned()])
}

fn rows<const N: usize>(rows: [(bool, &'static str, Effect); N]) -> Vec<Unbuilt> {
    let set = rows.into_iter().filter(|(set, ..)| *set);
    set.map(|(_, path, effect)| Unbuilt { path, effect }).collect()
}

/// Everything of a server's spec that is not built.
pub(super) fn of_server(spec: &UpstreamServerSpec) -> Vec<Unbuilt> {
    let UpstreamServerSpec {
        tool_namespace: _,
        transport: Transport { streamable_http: _, sse, stdio: _, container },
        credential,
        era: _,
        session,
        limits: _,
        resilience,
        discovery: _,
        integrity: Integrity { mode, approved_revision },
        required_keys,
        contract,
    } = spec;
    let type_ = credential.as_ref().map(|credential| credential.type_);
    rows([
        (sse.is_some(), "spec.transport.sse", Refused),
        (container.is_some(), "spec.transport.container", Refused),
        (type_ == Some(CredentialType::OAuthClientCredentials), "spec.credential.type", Refused),
        (
            *session == SessionMode::PerActor,
            "spec.session",
            Ignored("all actors share one session"),
        ),
        (resilience.retries > 0, "spec.resilience.retries", Ignored("no call is repeated")),
        (*mode == IntegrityMode::Quarantine, "spec.integrity.mode", everything()),
        (approved_revision.is_some(), "spec.integrity.approvedRevision", everything()),
        (!required_keys.is_empty(), "spec.requiredKeys", Ignored("nobody is told of the keys")),
        (contract.is_some(), "spec.contract", Ignored("it is compared with nothing")),
    ])
}

/// Everything of a policy's spec that is not built: all of it, at present.
pub(super) fn of_policy(spec: &ToolPolicySpec) -> Vec<Unbuilt> {
    let ToolPolicySpec {
        target_refs: _,
        target_selector: _,
        priority: _,
        failure: _,
        subjects: _,
        tools,
        rename,
        authorize,
        redact,
        rate_limit,
        approval,
        arguments,
        result,
    } = spec;
    let none = ToolGlobs { allow: Vec::new(), deny: Vec::new() };
    let ToolGlobs { allow, deny } = tools.as_ref().unwrap_or(&none);
    let (observing, acting): (Vec<_>, Vec<_>) =
        redact.iter().partition(|redaction| redaction.action == RedactionAction::Observe);
    let approved = approval.iter().flat_map(|approval| approval.tools.clone()).collect();
    rows([
        (!allow.is_empty(), "spec.tools.allow", everything()),
        (!deny.is_empty(), "spec.tools.deny", Withheld(deny.clone())),
        (!rename.is_empty(), "spec.rename", Ignored("tools keep their names and descriptions")),
        (!authorize.is_empty(), "spec.authorize", everything()),
        (!acting.is_empty(), "spec.redact", everything()),
        (!observing.is_empty(), "spec.redact", Ignored("nothing is observed")),
        (rate_limit.is_some(), "spec.rateLimit", everything()),
        (approval.is_some(), "spec.approval", Withheld(approved)),
        (arguments.as_ref().is_some_and(restricts), "spec.arguments", everything()),
        (result.is_some(), "spec.result", everything()),
    ])
}

fn restricts(Arguments { strictness, max_bytes, max_depth }: &Arguments) -> bool {
    *strictness == Strictness::Strict || max_bytes.is_some() || max_depth.is_some()
}
