//! Stops calling a server that keeps failing, and lets one call through from time to time.
//! Pure but for the clock it is handed.

use std::{sync::Mutex, time::Duration};

use surface::doc::BreakerDoc;
use tokio::time::Instant;

use crate::UpstreamError;

/// Counts consecutive failures of one server.
#[derive(Debug)]
pub(crate) struct Breaker {
    rule: BreakerDoc,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    /// Until then nothing passes; afterwards one attempt moves it on.
    open_until: Option<Instant>,
}

impl Breaker {
    pub(crate) fn new(rule: BreakerDoc) -> Self {
        Self { rule, state: Mutex::default() }
    }

    /// Whether a call may be tried now.
    pub(crate) fn admit(&self, now: Instant) -> Result<(), UpstreamError> {
        let mut state = self.lock();
        match state.open_until {
            Some(until) if now < until => Err(UpstreamError::BreakerOpen {
                failures: state.failures,
                retry_in: round_up(until - now),
            }),
            Some(_) => {
                // This call is the attempt; the others wait for what becomes of it.
                state.open_until = Some(now + self.rule.open_for);
                Ok(())
            }
            None => Ok(()),
        }
    }

    pub(crate) fn succeeded(&self) {
        *self.lock() = State::default();
    }

    pub(crate) fn failed(&self, now: Instant) {
        let mut state = self.lock();
        state.failures = state.failures.saturating_add(1);
        if state.failures >= self.rule.failures {
            state.open_until = Some(now + self.rule.open_for);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // The state is plain numbers: valid whatever a panicking holder was doing.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Whole seconds: a reader of the message needs no more.
fn round_up(duration: Duration) -> Duration {
    Duration::from_secs(duration.as_secs() + u64::from(duration.subsec_nanos() > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_after_the_last_allowed_failure_and_lets_one_call_try() {
        let rule = BreakerDoc { failures: 2, open_for: Duration::from_secs(10) };
        let breaker = Breaker::new(rule);
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        breaker.failed(start);
        assert!(breaker.admit(start).is_ok());
        breaker.failed(start);
        assert!(breaker.admit(after(9)).is_err());
        assert!(breaker.admit(after(10)).is_ok(), "one attempt");
        assert!(breaker.admit(after(11)).is_err(), "and no second beside it");
        breaker.succeeded();
        assert!(breaker.admit(after(11)).is_ok());
    }
}
