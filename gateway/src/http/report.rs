//! `GET /api/servers`: every server with its conditions, the standalone gateway's
//! `kubectl get ups -o yaml`.

use crds::{
    condition::{Condition, ConditionStatus, ConditionType},
    problem::ObjectId,
    translate::ObjectStatus,
};
use jiff::Timestamp;
use serde_json::{Value, json};
use surface::{
    catalogue::{Exclusion, ExclusionScope},
    snapshot::Heard,
};

use crate::{serving::Serving, status::ServerStatus};

/// Everything, as `GET /api/servers` answers it.
pub(crate) fn report(serving: &Serving) -> Value {
    let servers: Vec<Value> =
        serving.statuses.iter().map(|status| server_report(serving, status)).collect();
    let policies: Vec<Value> = serving.policies.iter().map(policy_report).collect();
    json!({"servers": servers, "policies": policies, "problems": *serving.problems})
}

fn policy_report(status: &ObjectStatus) -> Value {
    let ObjectStatus { object, conditions } = status;
    let conditions: Vec<Value> = conditions.iter().map(declared).collect();
    json!({"object": object_report(object), "conditions": conditions})
}

fn object_report(object: &ObjectId) -> Value {
    json!({"namespace": object.namespace, "name": object.name})
}

fn server_report(serving: &Serving, status: &ServerStatus) -> Value {
    let server = status.namespace.as_ref().and_then(|ns| serving.snapshot.server(ns.as_str()));
    let heard = server.and_then(|server| server.heard());
    let observed = status.attempt.observed_at.and_then(|at| Timestamp::try_from(at).ok());
    let mut report = json!({
        "object": object_report(&status.object),
        "namespace": status.namespace,
        "conditions": conditions(status, heard.is_some()),
        "observedAt": observed.map(|at| at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
    });
    if let Some(heard) = heard {
        add_listing(&mut report, heard);
    }
    report
}

fn add_listing(report: &mut Value, heard: &Heard) {
    let listing = heard.listing();
    let info: Option<Value> =
        listing.server_info.as_ref().and_then(|raw| serde_json::from_str(raw.get()).ok());
    let excluded: Vec<Value> = heard.exclusions().iter().map(exclusion_report).collect();
    report["era"] = listing.era.as_str().into();
    report["protocolVersion"] = listing.protocol_version.clone().into();
    report["serverInfo"] = info.into();
    report["tools"] = heard.tools().len().into();
    report["revision"] = heard.revision().to_string().into();
    report["excluded"] = excluded.into();
}

fn exclusion_report(exclusion: &Exclusion) -> Value {
    let Exclusion { tool, scope, reason, message } = exclusion;
    let scope = match scope {
        ExclusionScope::Everywhere => "Everywhere",
        ExclusionScope::Cards => "Cards",
    };
    json!({"tool": tool, "scope": scope, "reason": reason.as_str(), "message": message})
}

fn conditions(status: &ServerStatus, is_listed: bool) -> Vec<Value> {
    let stale = (is_listed && !status.is_verified()).then(|| {
        condition("Stale", true, "NotRefreshed", "its tools are served as they were last listed")
    });
    let ready = if status.namespace.is_some() && status.is_verified() {
        condition("Ready", true, "Ready", "it is served")
    } else {
        condition("Ready", false, "NotReady", "see the other conditions")
    };
    let declared = status.declared.iter().map(declared);
    declared.chain([verified(status)]).chain(stale).chain([ready]).collect()
}

fn declared(c: &Condition) -> Value {
    let Condition { type_, status, reason, message } = c;
    json!({
        "type": type_.as_str(), "status": status.as_str(),
        "reason": reason.as_str(), "message": message,
    })
}

fn verified(status: &ServerStatus) -> Value {
    if status.namespace.is_none() {
        let accepted = status
            .declared
            .iter()
            .any(|c| c.type_ == ConditionType::Accepted && c.status == ConditionStatus::True);
        // Nobody will try it, so "not yet" would be wrong for ever.
        let why = if accepted {
            "what the manifest refers to was not found"
        } else {
            "the manifest is not accepted"
        };
        return condition("Verified", false, "NotServed", why);
    }
    match &status.attempt.result {
        Some(Ok(())) => condition("Verified", true, "Listed", "its tools were listed"),
        Some(Err(error)) => condition("Verified", false, error.reason(), &error.to_string()),
        None => condition("Verified", false, "Pending", "it has not been tried yet"),
    }
}

fn condition(type_: &str, status: bool, reason: &str, message: &str) -> Value {
    let status = if status { "True" } else { "False" };
    json!({"type": type_, "status": status, "reason": reason, "message": message})
}
