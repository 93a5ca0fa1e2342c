//! `GET /api/servers`: every server with its conditions, the standalone gateway's
//! `kubectl get ups -o yaml`.

use crds::condition::ConditionStatus;
use jiff::Timestamp;
use serde_json::{Value, json};
use surface::snapshot::Heard;

use crate::{serving::Serving, status::ServerStatus};

/// Everything, as `GET /api/servers` answers it.
pub(crate) fn report(serving: &Serving) -> Value {
    let servers: Vec<Value> =
        serving.statuses.iter().map(|status| server_report(serving, status)).collect();
    json!({"servers": servers, "problems": *serving.problems})
}

fn server_report(serving: &Serving, status: &ServerStatus) -> Value {
    let server = status.namespace.as_ref().and_then(|ns| serving.snapshot.server(ns.as_str()));
    let heard = server.and_then(|server| server.heard());
    let observed = status.attempt.observed_at.and_then(|at| Timestamp::try_from(at).ok());
    let mut report = json!({
        "object": {"namespace": status.object.namespace, "name": status.object.name},
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
    let excluded: Vec<Value> = heard
        .exclusions()
        .iter()
        .map(|e| json!({"tool": e.tool, "reason": e.reason.as_str(), "message": e.message}))
        .collect();
    report["era"] = listing.era.as_str().into();
    report["protocolVersion"] = listing.protocol_version.clone().into();
    report["serverInfo"] = info.into();
    report["tools"] = heard.tools().len().into();
    report["revision"] = heard.revision().to_string().into();
    report["excluded"] = excluded.into();
}

fn conditions(status: &ServerStatus, is_listed: bool) -> Vec<Value> {
    let declared = status.declared.iter().map(|c| {
        condition(
            c.type_.as_str(),
            c.status == ConditionStatus::True,
            c.reason.as_str(),
            &c.message,
        )
    });
    let verified = match &status.attempt.result {
        Some(Ok(())) => condition("Verified", true, "Listed", "its tools were listed"),
        Some(Err(error)) => condition("Verified", false, error.reason(), &error.to_string()),
        None => condition("Verified", false, "Pending", "it has not been tried yet"),
    };
    let stale = (is_listed && !status.is_verified()).then(|| {
        condition("Stale", true, "NotRefreshed", "its tools are served as they were last listed")
    });
    let ready = if status.namespace.is_some() && status.is_verified() {
        condition("Ready", true, "Ready", "it is served")
    } else {
        condition("Ready", false, "NotReady", "see the other conditions")
    };
    declared.chain([verified]).chain(stale).chain([ready]).collect()
}

fn condition(type_: &str, status: bool, reason: &str, message: &str) -> Value {
    let status = if status { "True" } else { "False" };
    json!({"type": type_, "status": status, "reason": reason, "message": message})
}
