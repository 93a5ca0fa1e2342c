//! One request with everything it is answered from, and what comes of it: notices, then the answer.

use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::HeaderMap;
use tokio::sync::mpsc;
use upstream::RawJson;

use super::{message::Request, modern::Speaker, profile::Profile};
use crate::{failure::Failure, metrics::Metrics, serving::Serving};

/// Notices that wait for a slow reader; what is more is lost, so that nobody waits for it.
const NOTICES: usize = 256;

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

/// An exchange whose client reads what comes before the answer.
pub(crate) struct Telling {
    notices: mpsc::Receiver<RawJson>,
    stage: Stage,
}

enum Stage {
    Asked(BoxFuture<'static, Answered>),
    /// Nothing once it was told.
    Answered(Option<Answered>),
}

/// What comes next.
#[derive(Debug)]
pub(crate) enum Told {
    Notice(RawJson),
    /// The last.
    Answer(Answered),
}

impl Exchange {
    /// Answers the request and tells what comes before. Dropping it cancels what it does.
    pub(crate) fn tell(mut self) -> Telling {
        let (sender, notices) = mpsc::channel(NOTICES);
        self.notices = Some(sender);
        Telling { notices, stage: Stage::Asked(self.answer()) }
    }
}

impl Telling {
    /// The next notice or the answer; never resolves after the answer.
    pub(crate) async fn next(&mut self) -> Told {
        if let Stage::Asked(pending) = &mut self.stage {
            tokio::select! {
                // Notices come before the answer they belong to.
                biased;
                Some(notice) = self.notices.recv() => return Told::Notice(notice),
                answered = pending => self.stage = Stage::Answered(Some(answered)),
            }
        }
        // The poll that answered may have sent some more, and they belong before the answer too.
        if let Ok(notice) = self.notices.try_recv() {
            return Told::Notice(notice);
        }
        let answered = match &mut self.stage {
            Stage::Asked(_) => None,
            Stage::Answered(answered) => answered.take(),
        };
        match answered {
            Some(answered) => Told::Answer(answered),
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn notices_that_come_together_with_the_answer_are_told_before_it() {
        let (sender, notices) = mpsc::channel(NOTICES);
        let answer = async move {
            for notice in ["1", "2"] {
                sender.try_send(RawJson::from(notice.to_owned())).unwrap();
            }
            let outcome = Ok(Bytes::from_static(b"{}"));
            Answered { id: Bytes::from_static(b"7"), speaker: Speaker::Legacy, outcome }
        };
        let mut telling = Telling { notices, stage: Stage::Asked(Box::pin(answer)) };
        for expected in ["1", "2"] {
            let Told::Notice(notice) = telling.next().await else { panic!("answered before") };
            assert_eq!(notice.as_str(), expected);
        }
        assert!(matches!(telling.next().await, Told::Answer(_)));
    }
}
