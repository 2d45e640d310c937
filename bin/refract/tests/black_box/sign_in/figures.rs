//! Repeated measurements of a duration.

use std::fmt;
use std::time::Duration;

/// Measured durations.
#[derive(Default)]
pub(crate) struct Figures(Vec<Duration>);

impl Figures {
    pub(crate) fn add(&mut self, took: Duration) {
        self.0.push(took);
    }

    pub(crate) fn longest(&self) -> Duration {
        self.0.iter().copied().max().unwrap_or_default()
    }

    fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let place = (sorted.len() * percent).div_ceil(100).max(1) - 1;
        sorted.get(place).copied().unwrap_or_default()
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = |took: Duration| took.as_secs_f64() * 1_000.0;
        write!(
            f,
            "{} times, median {:.1} ms, p99 {:.1} ms, longest {:.1} ms",
            self.0.len(),
            milliseconds(self.percentile(50)),
            milliseconds(self.percentile(99)),
            milliseconds(self.longest())
        )
    }
}
