//! From a sound request to its result: which method, in which era, on which profile.

use bytes::Bytes;
use futures::future::BoxFuture;

use super::{
    call,
    exchange::{Answered, Exchange},
    greet,
    modern::{self, Params, Speaker},
};
use crate::{failure::Failure, metrics::Timer};

impl Exchange {
    /// Answers the request. Dropping the future cancels what it does.
    /// Boxed, because the types below are deep and every front holds one.
    pub(crate) fn answer(self) -> BoxFuture<'static, Answered> {
        Box::pin(self.answered())
    }

    async fn answered(self) -> Answered {
        let mut timer = self.metrics.start(&self.profile, &self.request.method);
        let (speaker, outcome) = self.dispatch(&mut timer).await;
        timer.stop(outcome.as_ref().map_or_else(Failure::label, |_| "ok"));
        Answered { id: self.request.id, speaker, outcome }
    }

    async fn dispatch(&self, timer: &mut Timer<'_>) -> (Speaker, Result<Bytes, Failure>) {
        let params = match Params::read(&self.request) {
            Ok(params) => params,
            Err(failure) => return (Speaker::Modern, Err(failure)),
        };
        match modern::speaker(self.headers.as_ref(), &self.request, &params) {
            Ok(speaker) => {
                timer.speaks(speaker);
                (speaker, self.perform(speaker, &params).await)
            }
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
