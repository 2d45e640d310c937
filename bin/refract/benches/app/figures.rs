//! Medians and other percentiles.

use std::time::Duration;

/// The durations of one measured action.
#[derive(Clone, Default)]
pub(crate) struct Durations(Vec<Duration>);

impl Durations {
    pub(crate) fn add(&mut self, took: Duration) {
        self.0.push(took);
    }

    /// A percentile of the durations, in milliseconds.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        let milliseconds = self.0.iter().map(|took| took.as_secs_f64() * 1_000.0);
        percentile(milliseconds, percent)
    }

    /// For each round, the ratio of the other duration to this one.
    pub(crate) fn ratios(&self, other: &Self) -> impl Iterator<Item = f64> {
        let pairs = self.0.iter().zip(&other.0);
        pairs.map(|(own, other)| other.as_secs_f64() / own.as_secs_f64())
    }
}

/// A percentile of the figures.
pub(crate) fn percentile(figures: impl IntoIterator<Item = f64>, percent: usize) -> f64 {
    let mut sorted: Vec<f64> = figures.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let place = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    *sorted.get(place).expect("something was measured")
}

/// Whether a figure is within its limit, in words.
pub(crate) fn verdict(is_met: bool) -> &'static str {
    if is_met { "pass" } else { "**over**" }
}
