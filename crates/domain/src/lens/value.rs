//! Values: what a column shows of one result, before a format writes it.

use std::fmt;

use crate::answer::Distribution;
use crate::answer::decimal::Decimal;
use crate::answer::probability::Probability;
use crate::key::OutcomeKey;
use crate::lens::cutoffs::YesNoLabel;
use crate::prism::question::Question;

/// The value in one column of one result.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// No value.
    Null,
    /// An outcome of a Choice question or a level of a Scale.
    Outcome {
        /// The key, which json and jsonl show.
        key: &'a str,
        /// The label in the version that answered, which cells of csv and tsv show.
        label: &'a str,
    },
    /// A Yes / No label.
    YesNo(YesNoLabel),
    /// A probability.
    Probability(Probability),
    /// A level's position, from 1.
    Position(u32),
    /// An expected level number.
    Average(Average),
    /// Every outcome with its probability.
    All {
        /// The question, with its labels, in the version that answered.
        question: &'a Question,
        /// The probabilities in the prism's order.
        probabilities: &'a Distribution,
    },
}

impl Value<'_> {
    /// The label of a Yes / No; `None` for every other value.
    pub fn yes_no(self) -> Option<YesNoLabel> {
        if let Self::YesNo(label) = self {
            Some(label)
        } else {
            None
        }
    }

    /// The probability; `None` for every other value.
    pub fn probability(self) -> Option<Probability> {
        if let Self::Probability(probability) = self {
            Some(probability)
        } else {
            None
        }
    }
}

/// An expected level number, stored in hundredths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Average(u32);

impl Average {
    /// The sum of position times probability over all levels, rounded half away from zero to two
    /// decimals.
    pub(super) fn of(probabilities: &[(OutcomeKey, Probability)]) -> Self {
        let positions = 1_u64..;
        let weighed = positions
            .zip(probabilities)
            .map(|(n, (_, p))| n * u64::from(p.millionths()));
        let hundredths = (weighed.sum::<u64>() + 5_000) / 10_000;
        // ten levels give 55 at most
        Self(u32::try_from(hundredths).unwrap_or(u32::MAX))
    }

    /// The expected level number as a decimal number.
    #[inline]
    pub fn decimal(self) -> Decimal {
        Decimal::new(self.0, 2)
    }

    /// The nearest level, from 1; the higher of two equally near levels.
    pub fn nearest_level(self) -> u32 {
        (self.0 + 50) / 100
    }
}

/// A plain decimal without trailing zeros.
impl fmt::Display for Average {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.decimal().fmt(f)
    }
}
