//! Waiting for a condition: the only place that looks twice.

use std::time::Duration;

use tokio::time::Instant;

/// How long anything may take on a busy machine before a test calls it broken.
const PATIENCE: Duration = Duration::from_secs(30);

/// Asks until there is an answer, and fails the test with `what` when there is none in time.
pub async fn until<T, F: Future<Output = Option<T>>>(what: &str, mut ask: impl FnMut() -> F) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(Instant::now() < deadline, "waited {PATIENCE:?} for: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
