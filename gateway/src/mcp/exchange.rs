//! One request with everything it is answered from, and the answer.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use tokio::sync::mpsc;
use upstream::RawJson;

use super::{message::Request, modern::Speaker, profile::Profile};
use crate::{failure::Failure, metrics::Metrics, serving::Serving};

/// A request under way. What is served was loaded once, for it.
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
