//! Cutoffs at whole percents, as the sliders of a lens set them (spec 2.5).

use refract_domain::answer::probability::PERCENT;
use refract_domain::lens::cutoffs::{Cutoff, Cutoffs, YesNoLabel};

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

    use super::*;
    use refract_domain::answer::probability::{ONE, Probability};

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
