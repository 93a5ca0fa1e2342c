//! What is known of each server: what its manifest came to, and what came of speaking to it.
//! How it is shown is in `http::report`.

use std::time::SystemTime;

use crds::{condition::Condition, problem::ObjectId, translate::ObjectStatus};
use surface::{doc::ServerDoc, name::Namespace};
use upstream::UpstreamError;

/// One UpstreamServer.
#[derive(Debug, Clone)]
pub(crate) struct ServerStatus {
    pub(crate) object: ObjectId,
    /// Nothing when it is not served.
    pub(crate) namespace: Option<Namespace>,
    /// From the manifest: Accepted, ResolvedRefs, NotImplemented.
    pub(crate) declared: Vec<Condition>,
    pub(crate) attempt: Attempt,
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
}
