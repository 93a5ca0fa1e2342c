//! Judgements as conditions: each of the closed list, on success and on failure.

use super::{
    ObjectStatus, policy, server,
    unbuilt::Unbuilt,
    verdict::{Refusal, Resolution},
};
use crate::{
    condition::{Condition, ConditionReason as Reason, ConditionStatus as Status, ConditionType},
    objects::Manifest,
};

/// The conditions of a server.
pub(super) fn of_server(server: &server::Judged<'_>) -> ObjectStatus {
    let accepted = acceptance(server.accepted.as_ref().err());
    let resolved = resolution(&server.resolved, Reason::RefNotFound);
    status(server.manifest, [accepted, resolved], &server.unbuilt)
}

/// The conditions of a policy.
pub(super) fn of_policy(policy: &policy::Judged<'_>) -> ObjectStatus {
    let accepted = acceptance(policy.accepted.as_ref().err());
    let resolved = resolution(&policy.resolved, Reason::TargetNotFound);
    status(policy.manifest, [accepted, resolved], &policy.unbuilt)
}

fn acceptance(refusal: Option<&Refusal>) -> Condition {
    let type_ = ConditionType::Accepted;
    match refusal {
        None => condition(type_, Status::True, Reason::Accepted, "the spec is valid"),
        Some(Refusal { reason, message }) => condition(type_, Status::False, *reason, message),
    }
}

fn resolution<T>(resolution: &Resolution<T>, reason: Reason) -> Condition {
    let type_ = ConditionType::ResolvedRefs;
    match resolution {
        Resolution::Unread => {
            let message = "the spec is invalid: what it refers to was not looked up";
            condition(type_, Status::Unknown, Reason::Invalid, message)
        }
        Resolution::Resolved(_) => {
            let message = "everything the spec refers to was found";
            condition(type_, Status::True, Reason::ResolvedRefs, message)
        }
        Resolution::Unresolved(why) => condition(type_, Status::False, reason, why),
    }
}

fn status(manifest: &Manifest, conditions: [Condition; 2], unbuilt: &[Unbuilt]) -> ObjectStatus {
    let mut conditions = Vec::from(conditions);
    if !unbuilt.is_empty() {
        let paths: Vec<&str> = unbuilt.iter().map(|unbuilt| unbuilt.path).collect();
        let message = format!("not built yet: {}", paths.join(", "));
        let (type_, reason) = (ConditionType::NotImplemented, Reason::NotImplemented);
        conditions.push(condition(type_, Status::True, reason, &message));
    }
    ObjectStatus { object: manifest.id.clone(), conditions }
}

fn condition(type_: ConditionType, status: Status, reason: Reason, message: &str) -> Condition {
    Condition { type_, status, reason, message: message.to_owned() }
}
