//! The terms on which a server is used, from the user's spelling into the wire form.
//! One function for each part; forgetting a field does not compile.

use std::time::Duration;

use surface::doc::{BreakerDoc, EraChoice, LimitsDoc, SessionChoice};

use crate::{
    duration::DurationText,
    problem::Reason,
    schema::Violation,
    upstream_server::{Breaker, Era, Limits, SessionMode, UpstreamServerSpec},
};

/// How a server is spoken to and how much of it is used.
#[derive(Debug)]
pub(super) struct Terms {
    pub(super) era: EraChoice,
    pub(super) session: SessionChoice,
    pub(super) limits: LimitsDoc,
    pub(super) breaker: BreakerDoc,
    pub(super) poll_interval: Duration,
}

/// The terms of a spec. The schema has checked the texts; their values are made here.
pub(super) fn terms(spec: &UpstreamServerSpec) -> Result<Terms, Violation> {
    Ok(Terms {
        era: era(spec.era),
        session: session(spec.session),
        limits: limits(&spec.limits)?,
        breaker: breaker(&spec.resilience.breaker)?,
        poll_interval: duration("spec.discovery.pollInterval", &spec.discovery.poll_interval)?,
    })
}

fn era(era: Era) -> EraChoice {
    match era {
        Era::Auto => EraChoice::Auto,
        Era::Modern => EraChoice::Modern,
        Era::Legacy => EraChoice::Legacy,
    }
}

fn session(session: SessionMode) -> SessionChoice {
    match session {
        SessionMode::Auto => SessionChoice::Auto,
        SessionMode::PerActor => SessionChoice::PerActor,
        SessionMode::Shared => SessionChoice::Shared,
    }
}

fn limits(limits: &Limits) -> Result<LimitsDoc, Violation> {
    let Limits { concurrency, connect_timeout, call_timeout, max_response_bytes } = limits;
    Ok(LimitsDoc {
        concurrency: *concurrency,
        connect_timeout: duration("spec.limits.connectTimeout", connect_timeout)?,
        call_timeout: duration("spec.limits.callTimeout", call_timeout)?,
        max_response_bytes: max_response_bytes
            .bytes()
            .ok_or_else(|| out_of_range("spec.limits.maxResponseBytes"))?,
    })
}

fn breaker(Breaker { failures, open_for }: &Breaker) -> Result<BreakerDoc, Violation> {
    let open_for = duration("spec.resilience.breaker.openFor", open_for)?;
    Ok(BreakerDoc { failures: *failures, open_for })
}

fn duration(path: &str, text: &DurationText) -> Result<Duration, Violation> {
    text.get().ok_or_else(|| out_of_range(path))
}

fn out_of_range(path: &str) -> Violation {
    let message = "is too large to be used".to_owned();
    Violation { path: path.to_owned(), reason: Reason::InvalidField, message }
}
