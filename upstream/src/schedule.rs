//! When a server is listed again: its clamped ttl while all is well, a growing pause while not.
//! Jitter keeps a thousand servers from being asked in the same moment.

use std::time::Duration;

use rand::RngExt as _;

/// The shortest time a listing is trusted, whatever the server says.
pub const MIN_TTL: Duration = Duration::from_secs(10);

const FIRST_RETRY: Duration = Duration::from_secs(1);

/// How long a fresh listing is trusted.
pub fn freshness(ttl: Option<Duration>, poll_interval: Duration) -> Duration {
    // Manifests cannot ask for less than the minimum; a document that does is taken at its word.
    ttl.unwrap_or(poll_interval).max(MIN_TTL).min(poll_interval)
}

/// The pause after the given number of failures in a row: none after none.
pub fn back_off(failures: u32, poll_interval: Duration) -> Duration {
    match failures.checked_sub(1) {
        None => Duration::ZERO,
        Some(doublings) => FIRST_RETRY.saturating_mul(1 << doublings.min(16)).min(poll_interval),
    }
}

/// Between nine tenths and all of a duration.
pub fn jittered(duration: Duration) -> Duration {
    duration.mul_f64(rand::rng().random_range(0.9..=1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ttl_is_clamped_between_ten_seconds_and_the_poll_interval() {
        let s = Duration::from_secs;
        for (ttl, poll, expected) in [
            (None, 60, 60),
            (Some(0), 60, 10),
            (Some(30), 60, 30),
            (Some(3600), 60, 60),
            (Some(30), 5, 5),
        ] {
            assert_eq!(freshness(ttl.map(s), s(poll)), s(expected));
        }
    }

    #[test]
    fn pauses_double_up_to_the_poll_interval() {
        let pauses: Vec<u64> =
            (0..=8).map(|n| back_off(n, Duration::from_mins(1)).as_secs()).collect();
        assert_eq!(pauses, [0, 1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(back_off(u32::MAX, Duration::from_hours(1)), Duration::from_hours(1));
    }
}
