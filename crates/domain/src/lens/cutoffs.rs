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
mod tests;
