//! Cutoffs: the probabilities at which a Yes / No label changes from `no` to `unsure` and from
//! `unsure` to `yes` (spec 2.5).

use crate::answer::probability::{ONE, Probability};
use crate::problem::{Problems, ValidationError};

/// A probability at which a label changes. It is compared exactly, as the decimal number that was
/// written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cutoff {
    value: f64,
    /// The lowest probability that is at or above the cutoff, in millionths.
    first_at_or_above: u32,
}

impl Cutoff {
    /// The default of `no_below` (spec 2.5).
    const DEFAULT: Self = Self {
        value: 0.5,
        first_at_or_above: ONE / 2,
    };

    /// A cutoff from a number above 0 and up to 1. The number is taken as the shortest decimal that
    /// parses to this double, as a person would write it.
    fn new(value: f64) -> Self {
        Self {
            value,
            first_at_or_above: ceil_millionths(value),
        }
    }

    /// The number as it was written.
    pub fn value(self) -> f64 {
        self.value
    }

    /// The lowest probability that is at or above the cutoff, in millionths.
    pub fn millionths(self) -> u32 {
        self.first_at_or_above
    }

    fn is_reached_by(self, probability: Probability) -> bool {
        probability.millionths() >= self.first_at_or_above
    }
}

/// The millionths of a number from 0 to 1, rounded up, in decimal arithmetic; 0 for any other number.
///
/// Parsing keeps the order of decimals, and those of up to 15 digits have doubles of their own. So the
/// written decimal is at or below a millionth exactly when its double is.
fn ceil_millionths(value: f64) -> u32 {
    let nearest = Probability::from_f64(value).unwrap_or_default();
    nearest.millionths() + u32::from(nearest.to_f64() < value)
}

/// The cutoffs of a `label` output: where `no` ends and where `yes` begins (spec 2.5).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cutoffs {
    no_below: Option<Cutoff>,
    yes_from: Option<Cutoff>,
}

impl Cutoffs {
    /// The cutoffs of the automatic lens, with an explicit `no_below`: `no` below 0.5, then `yes`.
    pub const AUTOMATIC: Self = Self {
        no_below: Some(Cutoff::DEFAULT),
        yes_from: None,
    };

    /// Checks the cutoffs written in a lens.
    ///
    /// # Errors
    /// Every problem, with the path `no_below` or `yes_from`. `no_below` must be above 0 and below
    /// 1; `yes_from` must be at most 1 and above `no_below`, or above 0.5 without a `no_below`.
    pub fn new(no_below: Option<f64>, yes_from: Option<f64>) -> Result<Self, Problems> {
        let mut problems = Problems::default();
        if let Some(value) = no_below {
            if value <= 0.0 {
                let rule = ValidationError::rule("Number must be greater than 0");
                problems.add("no_below", rule);
            }
            if value >= 1.0 {
                let rule = ValidationError::rule("Number must be less than 1");
                problems.add("no_below", rule);
            }
        }
        if let Some(value) = yes_from {
            if value <= no_below.unwrap_or(Cutoff::DEFAULT.value) {
                let rule = match no_below {
                    Some(_) => "must be greater than no_below",
                    None => "Number must be greater than 0.5",
                };
                problems.add("yes_from", ValidationError::rule(rule));
            }
            if value > 1.0 {
                problems.add("yes_from", ValidationError::NumberTooBig(1));
            }
        }
        problems.none_or(Self {
            no_below: no_below.map(Cutoff::new),
            yes_from: yes_from.map(Cutoff::new),
        })
    }

    /// The cutoff below which the label is `no`, if the lens states it; see
    /// [`Cutoffs::no_ends_at`].
    pub fn no_below(self) -> Option<Cutoff> {
        self.no_below
    }

    /// The cutoff from which the label is `yes`, if the lens states it; without one, `yes` begins
    /// where `no` ends.
    pub fn yes_from(self) -> Option<Cutoff> {
        self.yes_from
    }

    /// The cutoff below which the label is `no`: `no_below`, or 0.5 without it.
    pub fn no_ends_at(self) -> Cutoff {
        self.no_below.unwrap_or(Cutoff::DEFAULT)
    }

    /// The cutoff from which the label is `yes`: `yes_from`, or where `no` ends without it.
    pub fn yes_begins_at(self) -> Cutoff {
        self.yes_from.unwrap_or(self.no_ends_at())
    }

    /// The label of a probability of yes.
    pub fn label(self, probability: Probability) -> YesNoLabel {
        if !self.no_ends_at().is_reached_by(probability) {
            YesNoLabel::No
        } else if self.yes_begins_at().is_reached_by(probability) {
            YesNoLabel::Yes
        } else {
            YesNoLabel::Unsure
        }
    }
}

/// A Yes / No label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum YesNoLabel {
    /// The probability is at or above the cutoff of `yes`.
    Yes,
    /// The probability is below the cutoff of `no`.
    No,
    /// The probability is between the two cutoffs.
    Unsure,
}

impl YesNoLabel {
    /// `yes`, `no` or `unsure`: what json and jsonl show.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unsure => "unsure",
        }
    }

    /// Yes, No or Unsure: what cells of csv and tsv show.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Yes => "Yes",
            Self::No => "No",
            Self::Unsure => "Unsure",
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn p(value: f64) -> Probability {
        Probability::from_f64(value).unwrap()
    }

    #[test]
    fn cutoffs_part_no_unsure_and_yes() {
        let label = |no_below, yes_from, probability| {
            Cutoffs::new(no_below, yes_from)
                .unwrap()
                .label(p(probability))
                .key()
        };
        for (no_below, yes_from, probability, expected) in [
            (None, None, 0.499_999, "no"),
            (None, None, 0.5, "yes"),
            (Some(0.4), None, 0.399_999, "no"),
            (Some(0.4), None, 0.4, "yes"),
            (Some(0.4), Some(0.6), 0.4, "unsure"),
            (Some(0.4), Some(0.6), 0.599_999, "unsure"),
            (Some(0.4), Some(0.6), 0.6, "yes"),
            (None, Some(0.8), 0.499_999, "no"),
            (None, Some(0.8), 0.5, "unsure"),
            (None, Some(0.8), 0.8, "yes"),
            (Some(0.3), Some(1.0), 0.999_999, "unsure"),
            (Some(0.3), Some(1.0), 1.0, "yes"),
        ] {
            assert_eq!(
                label(no_below, yes_from, probability),
                expected,
                "{no_below:?} {yes_from:?} {probability}"
            );
        }
    }

    #[test]
    fn a_cutoff_finer_than_a_probability_is_compared_exactly() {
        let cutoffs = Cutoffs::new(Some(0.300_000_1), None).unwrap();
        assert_eq!(cutoffs.label(p(0.3)), YesNoLabel::No);
        assert_eq!(cutoffs.label(p(0.300_001)), YesNoLabel::Yes);
        let tiny = Cutoffs::new(Some(1e-300), None).unwrap();
        assert_eq!(tiny.label(Probability::ZERO), YesNoLabel::No);
        assert_eq!(tiny.label(p(0.000_001)), YesNoLabel::Yes);
    }

    proptest! {
        #[test]
        fn a_cutoff_written_with_six_decimals_is_reached_from_itself_on(millionths in 1_u32..ONE) {
            let written: f64 = format!("0.{millionths:06}").parse().unwrap();
            let cutoffs = Cutoffs::new(Some(written), None).unwrap();
            let at = Probability::from_millionths(millionths).unwrap();
            let below = Probability::from_millionths(millionths - 1).unwrap();
            prop_assert_eq!(cutoffs.label(at), YesNoLabel::Yes);
            prop_assert_eq!(cutoffs.label(below), YesNoLabel::No);
        }

        #[test]
        fn millionths_are_rounded_up_from_the_written_decimal(
            any in 0.0_f64..=1.0, millionths in 1_u32..ONE,
        ) {
            let exact = p(f64::from(millionths) / f64::from(ONE)).to_f64();
            for value in [any, exact.next_down(), exact, exact.next_up()] {
                let written = value.to_string();
                let (whole, decimals) = written.split_once('.').unwrap_or((&written, ""));
                let first: u32 = format!("{whole}{decimals:0<6.6}").parse().unwrap();
                let has_more = decimals.bytes().skip(6).any(|digit| digit != b'0');
                prop_assert_eq!(ceil_millionths(value), first + u32::from(has_more), "{}", written);
            }
        }

        #[test]
        fn the_label_of_any_cutoffs_never_falls_as_the_probability_rises(
            no_below in 0.01_f64..0.98, band in 0.001_f64..1.0, low in 0..=ONE, high in 0..=ONE,
        ) {
            let yes_from = (no_below + band).min(1.0);
            let cutoffs = Cutoffs::new(Some(no_below), Some(yes_from)).unwrap();
            let rank = |millionths| match cutoffs.label(Probability::from_millionths(millionths).unwrap()) {
                YesNoLabel::No => 0,
                YesNoLabel::Unsure => 1,
                YesNoLabel::Yes => 2,
            };
            prop_assert!(rank(low.min(high)) <= rank(low.max(high)));
        }
    }
}
