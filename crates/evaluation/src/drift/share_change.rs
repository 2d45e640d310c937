//! A share of results in two windows, and the difference between them.

use crate::drift::exact_test::exact_p;
use crate::measures::proportion::{Interval, Proportion};

/// A share of results in a window and in the window that it is compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShareChange {
    /// The share in the window.
    pub now: Proportion,
    /// The share in the window that it is compared with.
    pub before: Proportion,
}

impl ShareChange {
    /// The share now minus the one before, -1 to 1; `None` if a window has no results.
    pub fn difference(self) -> Option<f64> {
        Some(self.now.value()? - self.before.value()?)
    }

    /// The 95 % interval of the difference: Newcombe's, from Wilson's intervals of both shares;
    /// `None` if a window has no results.
    ///
    /// Source: R. G. Newcombe, "Interval estimation for the difference between independent
    /// proportions", Statistics in Medicine 17 (1998), method 10.
    pub fn interval(self) -> Option<Interval> {
        let (now, before) = (self.now.value()?, self.before.value()?);
        let (of_now, of_before) = (self.now.interval()?, self.before.interval()?);
        let difference = now - before;
        Some(Interval {
            low: difference - (now - of_now.low).hypot(of_before.high - before),
            high: difference + (of_now.high - now).hypot(before - of_before.low),
        })
    }

    /// The two-sided p-value of Fisher's exact test: how often chance alone makes such a
    /// difference; 1 if a window has no results.
    pub fn p(self) -> f64 {
        exact_p(self.now, self.before)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_interval_is_that_of_the_paper() {
        // Newcombe 1998, table II, case a, method 10: 56/70 against 48/80
        let change = ShareChange {
            now: Proportion { count: 56, of: 70 },
            before: Proportion { count: 48, of: 80 },
        };
        let Interval { low, high } = change.interval().unwrap();
        assert_eq!(
            format!("{:.4} {low:.4} {high:.4}", change.difference().unwrap()),
            "0.2000 0.0524 0.3339"
        );
        assert_eq!(ShareChange::default().interval(), None);
    }

    proptest! {
        #[test]
        fn the_difference_is_inside_its_interval(
            now in 1_u64..500, before in 1_u64..500, count in 0_u64..500, count_before in 0_u64..500,
        ) {
            let change = ShareChange {
                now: Proportion { count: count.min(now), of: now },
                before: Proportion { count: count_before.min(before), of: before },
            };
            let (difference, interval) = (change.difference().unwrap(), change.interval().unwrap());
            prop_assert!(interval.low <= difference && difference <= interval.high);
            prop_assert!(interval.low >= -1.0 - 1e-12 && interval.high <= 1.0 + 1e-12);
        }
    }
}
