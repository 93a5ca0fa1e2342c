//! What is counted. Labels come from closed sets and from the servers that are configured; never
//! from what a client sends.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use prometheus::{
    Encoder as _, HistogramOpts, HistogramVec, IntCounterVec, IntGaugeVec, Opts, Registry,
    TextEncoder,
};
use surface::name::Namespace;
use upstream::{UpstreamError, error::FailureKind};

use crate::{
    mcp::{modern::Speaker, profile::Profile},
    serving::Serving,
};

/// All metrics of the process.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: IntCounterVec,
    seconds: HistogramVec,
    calls: IntCounterVec,
    tools: IntGaugeVec,
    excluded: IntGaugeVec,
    up: IntGaugeVec,
    swaps: IntCounterVec,
    problems: IntGaugeVec,
    /// Held while the gauges are filled and read: another scrape must not see them half full.
    scrape: Mutex<()>,
}

const BUCKETS: [f64; 12] =
    [0.0002, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0];

impl Metrics {
    pub(crate) fn new() -> prometheus::Result<Self> {
        let counter = |name: &str, help: &str, labels: &[&str]| {
            IntCounterVec::new(Opts::new(name, help), labels)
        };
        let gauge = |name: &str, help: &str, labels: &[&str]| {
            IntGaugeVec::new(Opts::new(name, help), labels)
        };
        let metrics = Self {
            registry: Registry::new(),
            requests: counter(
                "portreeve_gateway_requests_total",
                "Requests answered, by profile, method, era of the client and outcome.",
                &["profile", "method", "era", "outcome"],
            )?,
            seconds: HistogramVec::new(
                HistogramOpts::new(
                    "portreeve_gateway_request_duration_seconds",
                    "Time from a parsed request to its answer.",
                )
                .buckets(BUCKETS.to_vec()),
                &["profile", "method"],
            )?,
            calls: counter(
                "portreeve_gateway_upstream_calls_total",
                "Tool calls carried to servers, by server and outcome.",
                &["server", "outcome"],
            )?,
            tools: gauge(
                "portreeve_gateway_tools",
                "Tools that are served, by server.",
                &["server"],
            )?,
            excluded: gauge(
                "portreeve_gateway_excluded_tools",
                "Tools that are not served everywhere, by server and reason.",
                &["server", "reason"],
            )?,
            up: gauge(
                "portreeve_gateway_server_verified",
                "1 while the last handshake and listing of a server succeeded.",
                &["server"],
            )?,
            swaps: counter(
                "portreeve_gateway_snapshots_total",
                "Snapshots compiled, by outcome.",
                &["outcome"],
            )?,
            problems: gauge(
                "portreeve_gateway_manifest_problems",
                "Findings in the manifests that are loaded.",
                &[],
            )?,
            scrape: Mutex::default(),
        };
        let Self {
            registry,
            requests,
            seconds,
            calls,
            tools,
            excluded,
            up,
            swaps,
            problems,
            scrape: _,
        } = &metrics;
        registry.register(Box::new(requests.clone()))?;
        registry.register(Box::new(seconds.clone()))?;
        registry.register(Box::new(calls.clone()))?;
        registry.register(Box::new(tools.clone()))?;
        registry.register(Box::new(excluded.clone()))?;
        registry.register(Box::new(up.clone()))?;
        registry.register(Box::new(swaps.clone()))?;
        registry.register(Box::new(problems.clone()))?;
        Ok(metrics)
    }

    /// The text exposition format. Gauges are taken from what is served now.
    pub(crate) fn render(&self, serving: &Serving) -> Vec<u8> {
        let families = {
            let _alone = self.scrape.lock().unwrap_or_else(PoisonError::into_inner);
            self.observe(serving);
            self.registry.gather()
        };
        let mut text = Vec::new();
        if let Err(error) = TextEncoder::new().encode(&families, &mut text) {
            tracing::warn!(%error, "encoding metrics failed");
        }
        text
    }

    pub(crate) fn start(&self, profile: &Profile, method: &str) -> Timer<'_> {
        Timer {
            metrics: self,
            profile: profile.label(),
            method: method_label(method),
            // A request that cannot be read counts as modern.
            speaker: Speaker::Modern,
            outcome: "cancelled",
            started: Instant::now(),
        }
    }

    pub(crate) fn carried(&self, server: &Namespace, outcome: Result<(), &UpstreamError>) {
        let outcome = match outcome.map_err(UpstreamError::kind) {
            Ok(()) => "answered",
            Err(FailureKind::Timeout) => "timeout",
            Err(FailureKind::Unavailable) => "unavailable",
            Err(FailureKind::BadAnswer) => "bad_answer",
            Err(FailureKind::Limited) => "limited",
        };
        self.calls.with_label_values(&[server.as_str(), outcome]).inc();
    }

    pub(crate) fn compiled(&self, succeeded: bool) {
        let outcome = if succeeded { "ok" } else { "refused" };
        self.swaps.with_label_values(&[outcome]).inc();
    }

    fn observe(&self, serving: &Serving) {
        self.tools.reset();
        self.excluded.reset();
        self.up.reset();
        self.problems.with_label_values::<&str>(&[]).set(as_i64(serving.problems.len()));
        for status in &serving.statuses {
            if let Some(namespace) = &status.namespace {
                self.up
                    .with_label_values(&[namespace.as_str()])
                    .set(i64::from(status.is_verified()));
            }
        }
        for server in serving.snapshot.servers() {
            let Some(heard) = server.heard() else { continue };
            let name = server.namespace().as_str();
            self.tools.with_label_values(&[name]).set(as_i64(heard.tools().len()));
            for exclusion in heard.exclusions() {
                self.excluded.with_label_values(&[name, exclusion.reason.as_str()]).inc();
            }
        }
    }
}

fn as_i64(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Methods we answer; all others count as one.
fn method_label(method: &str) -> &'static str {
    ["initialize", "ping", "server/discover", "tools/call", "tools/list"]
        .into_iter()
        .find(|known| *known == method)
        .unwrap_or("other")
}

/// A request under way. Counted when it is dropped, as cancelled unless it was stopped before.
#[derive(Debug)]
pub(crate) struct Timer<'a> {
    metrics: &'a Metrics,
    profile: &'static str,
    method: &'static str,
    speaker: Speaker,
    outcome: &'static str,
    started: Instant,
}

impl Timer<'_> {
    pub(crate) fn speaks(&mut self, speaker: Speaker) {
        self.speaker = speaker;
    }

    pub(crate) fn stop(mut self, outcome: &'static str) {
        self.outcome = outcome;
    }
}

impl Drop for Timer<'_> {
    fn drop(&mut self) {
        let Self { metrics, profile, method, speaker, outcome, started } = *self;
        let era = match speaker {
            Speaker::Modern => "modern",
            Speaker::Legacy => "legacy",
        };
        let elapsed: Duration = started.elapsed();
        metrics.requests.with_label_values(&[profile, method, era, outcome]).inc();
        metrics.seconds.with_label_values(&[profile, method]).observe(elapsed.as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serving::Live;

    #[test]
    fn a_request_that_is_given_up_counts_as_cancelled() {
        let metrics = Metrics::new().unwrap();
        let mut timer = metrics.start(&Profile::Router, "tools/call");
        timer.speaks(Speaker::Legacy);
        drop(timer);
        metrics.start(&Profile::Router, "tools/list").stop("ok");
        let text = String::from_utf8(metrics.render(&Live::new().load())).unwrap();
        for line in [
            r#"requests_total{era="legacy",method="tools/call",outcome="cancelled",profile="router"} 1"#,
            r#"requests_total{era="modern",method="tools/list",outcome="ok",profile="router"} 1"#,
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
    }
}
