//! From a sound request to its result: which method, in which era, on which profile.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use tokio::sync::mpsc;
use upstream::RawJson;

use super::{
    call, greet,
    message::Request,
    modern::{self, Params, Speaker},
    profile::Profile,
};
use crate::{failure::Failure, metrics::Metrics, serving::Serving};

/// One request with everything it is answered from. The snapshot was loaded once, for it.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) serving: Arc<Serving>,
    pub(crate) profile: Arc<Profile>,
    pub(crate) metrics: Arc<Metrics>,
    /// On HTTP only.
    pub(crate) headers: Option<HeaderMap>,
    pub(crate) request: Request,
    /// Where progress and log messages go; nowhere when the client can read one answer only.
    pub(crate) notices: Option<mpsc::Sender<RawJson>>,
}

/// An answer on its way out.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) id: Bytes,
    /// Decides the HTTP status of errors; a request that could not be read counts as modern.
    pub(crate) speaker: Speaker,
    pub(crate) outcome: Result<Bytes, Failure>,
}

impl Exchange {
    /// Answers the request. Dropping the future cancels what it does.
    pub(crate) async fn answer(self) -> Answered {
        let timer = self.metrics.start(&self.profile, &self.request.method);
        let (speaker, outcome) = self.dispatch().await;
        timer.stop(speaker, outcome.as_ref().map_or_else(Failure::label, |_| "ok"));
        Answered { id: self.request.id, speaker, outcome }
    }

    async fn dispatch(&self) -> (Speaker, Result<Bytes, Failure>) {
        let params = match Params::read(&self.request) {
            Ok(params) => params,
            Err(failure) => return (Speaker::Modern, Err(failure)),
        };
        match modern::speaker(self.headers.as_ref(), &self.request, &params) {
            Ok(speaker) => (speaker, self.perform(speaker, &params).await),
            Err(failure) => (Speaker::Modern, Err(failure)),
        }
    }

    async fn perform(&self, speaker: Speaker, params: &Params<'_>) -> Result<Bytes, Failure> {
        let Self { serving, profile, request, .. } = self;
        match (request.method.as_str(), speaker) {
            ("initialize", Speaker::Legacy) => greet::initialize(serving, profile, params),
            ("ping", Speaker::Legacy) => Ok(Bytes::from_static(b"{}")),
            ("server/discover", Speaker::Modern) => greet::discover(serving, profile),
            // Lists are never cut, so no cursor of ours exists.
            ("tools/list", _) if params.cursor.is_some() => Err(Failure::InvalidCursor),
            ("tools/list", _) => profile.list(serving),
            ("tools/call", _) => call::call(self, speaker, params).await,
            (method, _) => Err(Failure::UnknownMethod(method.to_owned())),
        }
    }
}
