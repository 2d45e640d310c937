//! A histogram of probabilities by whole percent, which gives exact counts for every cutoff at a
//! whole percent; and such cutoffs, as the sliders of a lens set them (spec 2.5).

use refract_domain::answer::probability::{PERCENT, Probability};
use refract_domain::key::QuestionKey;
use refract_domain::lens::{Column, Cutoff, Cutoffs, Output, Value, YesNoLabel};
use refract_domain::prism::QuestionType;
use refract_domain::result::AnswersView;
use serde::Serialize;

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

/// The cutoffs of a `label` at whole percents: `no` below `no_below`, `yes` from `yes_from` on. If
/// both are equal, there is no `unsure`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PercentCutoffs {
    no_below: u8,
    yes_from: u8,
}

impl PercentCutoffs {
    /// Cutoffs with `no_below` from 1 to 99 and `yes_from` from `no_below` to 100; `None`
    /// otherwise.
    pub fn new(no_below: u8, yes_from: u8) -> Option<Self> {
        let is_valid = (1..100).contains(&no_below) && (no_below..=100).contains(&yes_from);
        is_valid.then_some(Self { no_below, yes_from })
    }

    /// The whole percents that give the same labels as these cutoffs; `None` when a cutoff lies
    /// between two percents.
    pub fn of(cutoffs: Cutoffs) -> Option<Self> {
        let nearest = Self::nearest(cutoffs);
        let is_at =
            |cutoff: Cutoff, percent: u8| cutoff.millionths() == u32::from(percent) * PERCENT;
        let (no_ends_at, yes_begins_at) = ends(cutoffs);
        let is_exact =
            is_at(no_ends_at, nearest.no_below) && is_at(yes_begins_at, nearest.yes_from);
        is_exact.then_some(nearest)
    }

    /// The whole percents nearest to these cutoffs.
    pub fn nearest(cutoffs: Cutoffs) -> Self {
        let nearest = |cutoff: Cutoff| {
            let percent = (cutoff.millionths() + PERCENT / 2) / PERCENT;
            u8::try_from(percent).unwrap_or(u8::MAX)
        };
        let (no_ends_at, yes_begins_at) = ends(cutoffs);
        let no_below = nearest(no_ends_at).clamp(1, 99);
        Self {
            no_below,
            yes_from: nearest(yes_begins_at).clamp(no_below, 100),
        }
    }

    /// The percent below which the label is `no`.
    pub fn no_below(self) -> u8 {
        self.no_below
    }

    /// The percent from which the label is `yes`.
    pub fn yes_from(self) -> u8 {
        self.yes_from
    }

    /// The cutoffs for a lens; without a band of `unsure` they have no `yes_from`.
    pub fn cutoffs(self) -> Cutoffs {
        let number = |percent: u8| f64::from(percent) / 100.0;
        let yes_from = (self.yes_from > self.no_below).then(|| number(self.yes_from));
        // percents of this type are in the range of cutoffs
        Cutoffs::new(Some(number(self.no_below)), yes_from).unwrap_or_default()
    }

    /// The label of all probabilities at or above this percent and below the next.
    pub fn label(self, percent: u8) -> YesNoLabel {
        if percent < self.no_below {
            YesNoLabel::No
        } else if percent < self.yes_from {
            YesNoLabel::Unsure
        } else {
            YesNoLabel::Yes
        }
    }
}

/// The cutoff below which the label is `no`, and the one from which it is `yes`.
fn ends(cutoffs: Cutoffs) -> (Cutoff, Cutoff) {
    (cutoffs.no_ends_at(), cutoffs.yes_begins_at())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use refract_domain::answer::probability::{ONE, Probability};

    use super::*;

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

    #[test]
    fn only_cutoffs_in_the_range_of_a_lens_are_made() {
        for (no_below, yes_from) in [(0, 50), (100, 100), (60, 59), (50, 101)] {
            assert_eq!(PercentCutoffs::new(no_below, yes_from), None);
        }
        let widest = PercentCutoffs::new(1, 100).unwrap();
        assert_eq!((widest.no_below(), widest.yes_from()), (1, 100));
    }

    #[test]
    fn a_cutoff_between_two_percents_has_a_nearest_one_only() {
        let cutoffs = Cutoffs::new(Some(0.455), Some(0.7)).unwrap();
        assert_eq!(PercentCutoffs::of(cutoffs), None);
        assert_eq!(
            PercentCutoffs::nearest(cutoffs),
            PercentCutoffs::new(46, 70).unwrap()
        );
        let tiny = Cutoffs::new(Some(0.000_1), None).unwrap();
        assert_eq!(
            PercentCutoffs::nearest(tiny),
            PercentCutoffs::new(1, 1).unwrap()
        );
        assert_eq!(
            PercentCutoffs::of(Cutoffs::AUTOMATIC),
            PercentCutoffs::new(50, 50)
        );
        let only_yes = Cutoffs::new(None, Some(0.8)).unwrap();
        assert_eq!(PercentCutoffs::of(only_yes), PercentCutoffs::new(50, 80));
    }

    proptest! {
        #[test]
        fn percents_are_what_a_person_would_write_and_label_alike(
            no_below in 1_u8..100, band in 0_u8..100, probability in 0..=ONE,
        ) {
            let yes_from = no_below.saturating_add(band).min(100);
            let percents = PercentCutoffs::new(no_below, yes_from).unwrap();
            let written = |percent: u8| format!("{}.{:02}", percent / 100, percent % 100);
            let number = |percent| written(percent).parse::<f64>().unwrap();
            let expected = Cutoffs::new(
                Some(number(no_below)),
                (yes_from > no_below).then(|| number(yes_from)),
            );
            prop_assert_eq!(percents.cutoffs(), expected.unwrap());
            prop_assert_eq!(PercentCutoffs::of(percents.cutoffs()), Some(percents));
            let probability = Probability::from_millionths(probability).unwrap();
            let label = percents.cutoffs().label(probability);
            prop_assert_eq!(percents.label(probability.percent()), label);
        }
    }
}
