//! Figures as lines that can be compared by eye.

use std::time::Duration;

/// One measured series.
#[derive(Debug, Clone, Default)]
pub(crate) struct Series {
    samples: Vec<Duration>,
    per_second: Vec<f64>,
}

impl Series {
    /// Takes one round: the time of each exchange, and how many there were in a second.
    pub(crate) fn add(&mut self, samples: Vec<Duration>, elapsed: Duration) {
        self.per_second.push(samples.len() as f64 / elapsed.as_secs_f64());
        self.samples.extend(samples);
    }

    pub(crate) fn quantile(&self, q: f64) -> Duration {
        let mut sorted = self.samples.clone();
        sorted.sort_unstable();
        let last = sorted.len().saturating_sub(1);
        sorted.get((last as f64 * q).round() as usize).copied().unwrap_or_default()
    }

    /// The median over the rounds.
    pub(crate) fn rate(&self) -> f64 {
        let mut rates = self.per_second.clone();
        rates.sort_by(f64::total_cmp);
        rates.get(rates.len() / 2).copied().unwrap_or_default()
    }
}

/// Prints a candidate below its control.
pub(crate) fn compare(title: &str, control: (&str, &Series), candidate: (&str, &Series)) {
    println!("{title}");
    for (name, series) in [control, candidate] {
        println!(
            "  {name:<28} p50 {:>9.1?}  p99 {:>9.1?}  {:>9.0}/s",
            series.quantile(0.5),
            series.quantile(0.99),
            series.rate(),
        );
    }
    let added = |q| candidate.1.quantile(q).saturating_sub(control.1.quantile(q));
    println!(
        "  {:<28} p50 {:>9.1?}  p99 {:>9.1?}  {:>8.2}x\n",
        "added; share of the rate",
        added(0.5),
        added(0.99),
        candidate.1.rate() / control.1.rate(),
    );
}
