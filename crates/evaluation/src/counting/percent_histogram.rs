//! A histogram of probabilities by whole percent, which gives exact counts for every cutoff at a
//! whole percent.

use refract_domain::answer::probability::Probability;
use refract_domain::lens::cutoffs::YesNoLabel;
use serde::Serialize;

use crate::counting::percent_cutoffs::PercentCutoffs;

/// Number of bins: one for each percent from 0 to 100.
pub const PERCENTS: usize = 101;

/// Number of probabilities in each whole percent, rounded down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PercentHistogram {
    counts: [u64; PERCENTS],
}

/// Number of results with each label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LabelCounts {
    /// Results that are `yes`.
    pub yes: u64,
    /// Results that are `unsure`.
    pub unsure: u64,
    /// Results that are `no`.
    pub no: u64,
}

impl Default for PercentHistogram {
    fn default() -> Self {
        Self {
            counts: [0; PERCENTS],
        }
    }
}

impl PercentHistogram {
    /// Counts a probability.
    pub fn add(&mut self, probability: Probability) {
        self.add_percent(probability.percent(), 1);
    }

    /// Counts `results` probabilities of this whole percent.
    pub(crate) fn add_percent(&mut self, percent: u8, results: u64) {
        if let Some(count) = self.counts.get_mut(usize::from(percent)) {
            *count += results;
        }
    }

    /// The counts by percent: index 40 counts probabilities from 0.4 to below 0.41, index 100 only
    /// probability 1.
    pub fn counts(&self) -> &[u64; PERCENTS] {
        &self.counts
    }

    /// Number of counted probabilities.
    pub fn results(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Number of probabilities with each label at these cutoffs.
    pub fn labels(&self, cutoffs: PercentCutoffs) -> LabelCounts {
        let mut labels = LabelCounts::default();
        for (percent, count) in (0_u8..).zip(self.counts) {
            labels.add(cutoffs.label(percent), count);
        }
        labels
    }
}

impl LabelCounts {
    /// Adds `results` results with a label.
    pub fn add(&mut self, label: YesNoLabel, results: u64) {
        match label {
            YesNoLabel::Yes => self.yes += results,
            YesNoLabel::Unsure => self.unsure += results,
            YesNoLabel::No => self.no += results,
        }
    }

    /// Number of results with another label than this one.
    pub fn others(self, label: YesNoLabel) -> u64 {
        match label {
            YesNoLabel::Yes => self.unsure + self.no,
            YesNoLabel::Unsure => self.yes + self.no,
            YesNoLabel::No => self.yes + self.unsure,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use refract_domain::answer::probability::ONE;

    #[test]
    fn a_probability_at_a_cutoff_is_not_below_it() {
        let mut histogram = PercentHistogram::default();
        for probability in [0.399_999, 0.4, 0.409_999, 0.41, 1.0] {
            histogram.add(Probability::from_f64(probability).unwrap());
        }
        let counts = histogram.counts();
        assert_eq!(
            (counts[39], counts[40], counts[41], counts[100]),
            (1, 2, 1, 1)
        );
        let labels = |no_below, yes_from| {
            let cutoffs = PercentCutoffs::new(no_below, yes_from).unwrap();
            let LabelCounts { yes, unsure, no } = histogram.labels(cutoffs);
            (yes, unsure, no)
        };
        assert_eq!(labels(40, 40), (4, 0, 1));
        assert_eq!(labels(41, 41), (2, 0, 3));
        assert_eq!(labels(40, 41), (2, 2, 1));
        assert_eq!(labels(40, 100), (1, 3, 1));
    }

    proptest! {
        #[test]
        fn labels_by_percent_are_the_labels_of_the_probabilities(
            probabilities in prop::collection::vec(0..=ONE, 0..60),
            no_below in 1_u8..100,
            band in 0_u8..100,
        ) {
            let yes_from = no_below.saturating_add(band).min(100);
            let cutoffs = PercentCutoffs::new(no_below, yes_from).unwrap();
            let mut histogram = PercentHistogram::default();
            let mut expected = LabelCounts::default();
            for probability in probabilities {
                let probability = Probability::from_millionths(probability).unwrap();
                histogram.add(probability);
                expected.add(cutoffs.cutoffs().label(probability), 1);
            }
            prop_assert_eq!(histogram.labels(cutoffs), expected);
        }
    }
}
