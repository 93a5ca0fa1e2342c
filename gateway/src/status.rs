//! What is known of each server, as conditions: the standalone gateway's `kubectl get ups -o yaml`.

use std::time::SystemTime;

use crds::{
    condition::{Condition, ConditionStatus},
    problem::ObjectId,
    translate::ObjectStatus,
};
use jiff::Timestamp;
use serde_json::{Value, json};
use surface::{doc::ServerDoc, name::Namespace, snapshot::Heard};
use upstream::UpstreamError;

use crate::serving::Serving;

/// One UpstreamServer.
#[derive(Debug, Clone)]
pub(crate) struct ServerStatus {
    pub(crate) object: ObjectId,
    /// Nothing when it is not served.
    pub(crate) namespace: Option<Namespace>,
    /// From the manifest: Accepted, ResolvedRefs, NotImplemented.
    declared: Vec<Condition>,
    attempt: Attempt,
}

/// What came of speaking to a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Attempt {
    /// Of the last attempt; nothing before the first.
    pub(crate) result: Option<Result<(), UpstreamError>>,
    /// When it last answered with a listing.
    pub(crate) observed_at: Option<SystemTime>,
}

impl ServerStatus {
    pub(crate) fn new(
        status: &ObjectStatus,
        served: Option<&ServerDoc>,
        attempt: Option<&Attempt>,
    ) -> Self {
        let ObjectStatus { object, conditions } = status;
        Self {
            object: object.clone(),
            namespace: served.map(|server| server.namespace.clone()),
            declared: conditions.clone(),
            attempt: attempt.cloned().unwrap_or_default(),
        }
    }

    /// Whether it is to be served and has not been tried.
    pub(crate) fn is_pending(&self) -> bool {
        self.namespace.is_some() && self.attempt.result.is_none()
    }

    pub(crate) fn is_verified(&self) -> bool {
        matches!(self.attempt.result, Some(Ok(())))
    }

    /// Why the last attempt failed.
    pub(crate) fn failure(&self) -> Option<String> {
        self.attempt.result.as_ref()?.as_ref().err().map(ToString::to_string)
    }

    fn conditions(&self, is_listed: bool) -> Vec<Value> {
        let declared = self.declared.iter().map(|c| {
            condition(
                c.type_.as_str(),
                c.status == ConditionStatus::True,
                c.reason.as_str(),
                &c.message,
            )
        });
        let verified = match &self.attempt.result {
            Some(Ok(())) => condition("Verified", true, "Listed", "its tools were listed"),
            Some(Err(error)) => condition("Verified", false, error.reason(), &error.to_string()),
            None => condition("Verified", false, "Pending", "it has not been tried yet"),
        };
        let stale = (is_listed && !self.is_verified()).then(|| {
            condition(
                "Stale",
                true,
                "NotRefreshed",
                "its tools are served as they were last listed",
            )
        });
        let ready = if self.namespace.is_some() && self.is_verified() {
            condition("Ready", true, "Ready", "it is served")
        } else {
            condition("Ready", false, "NotReady", "see the other conditions")
        };
        declared.chain([verified]).chain(stale).chain([ready]).collect()
    }
}

fn condition(type_: &str, status: bool, reason: &str, message: &str) -> Value {
    let status = if status { "True" } else { "False" };
    json!({"type": type_, "status": status, "reason": reason, "message": message})
}

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
        "conditions": status.conditions(heard.is_some()),
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
