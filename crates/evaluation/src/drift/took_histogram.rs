//! How long results took, in steps of 19 %.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::measures::count::to_f64;

/// Steps in which a duration doubles.
const STEPS: f64 = 4.0;
/// The highest step: above a year.
const HIGHEST: u8 = 4 * 40;

/// Number of results by the time that they took. A quantile is at most 19 % too high.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TookHistogram {
    /// Number of results by step: step `n` has durations of up to 2^(n/4) milliseconds.
    steps: BTreeMap<u8, u64>,
}

impl TookHistogram {
    /// Counts a result that took this many milliseconds.
    pub fn add(&mut self, took_ms: u64) {
        let step = (0..HIGHEST).find(|step| to_f64(took_ms) <= bound(*step));
        *self.steps.entry(step.unwrap_or(HIGHEST)).or_default() += 1;
    }

    /// The milliseconds that this part of the results took at most, such as 0.5 for the median;
    /// `None` without results.
    pub fn quantile(&self, part: f64) -> Option<f64> {
        let all: u64 = self.steps.values().sum();
        let mut counted = 0;
        let mut steps = self.steps.iter();
        let step = steps.find(|(_, count)| {
            counted += **count;
            to_f64(counted) >= part * to_f64(all)
        });
        step.map(|(step, _)| bound(*step))
    }
}

/// Adds the results of another histogram, which are disjoint from these.
impl AddAssign<&TookHistogram> for TookHistogram {
    fn add_assign(&mut self, other: &TookHistogram) {
        for (step, count) in &other.steps {
            *self.steps.entry(*step).or_default() += count;
        }
    }
}

/// The longest duration of a step, in milliseconds.
fn bound(step: u8) -> f64 {
    (f64::from(step) / STEPS).exp2()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_quantile_is_undefined_without_results() {
        assert_eq!(TookHistogram::default().quantile(0.5), None);
        let mut took = TookHistogram::default();
        took.add(0);
        took.add(u64::MAX);
        assert_eq!(took.quantile(0.5), Some(1.0));
        assert!(took.quantile(1.0).is_some());
        let json = serde_json::to_string(&took).unwrap();
        assert_eq!(json, r#"{"0":1,"160":1}"#);
        assert_eq!(serde_json::from_str::<TookHistogram>(&json).unwrap(), took);
    }

    proptest! {
        #[test]
        fn a_quantile_is_at_most_a_step_too_high(mut took in vec(1_u64..100_000, 1..60), part in 0.01_f64..1.0) {
            let mut histogram = TookHistogram::default();
            for took_ms in &took {
                histogram.add(*took_ms);
            }
            took.sort_unstable();
            let place = took.iter().zip(1_u64..).position(|(_, number)| {
                to_f64(number) >= part * to_f64(took.len().try_into().unwrap())
            });
            let exact = to_f64(took[place.unwrap()]);
            let found = histogram.quantile(part).unwrap();
            prop_assert!(exact <= found && found <= exact * 1.19, "{exact} {found}");
        }
    }
}
