//! How much answers depend on what should not matter, such as the order in which a question's options
//! are listed.

use std::ops::AddAssign;

use refract_domain::answer::Answer;
use refract_domain::answer::probability::{ONE, Probability};
use refract_domain::key::OutcomeKey;
use refract_domain::lens::cutoffs::Cutoffs;

use crate::marked::answer::NotComparable;
use crate::measures::proportion::{Proportion, to_f64};

/// Compares pairs of answers to one text each, asked in different forms: with the options in
/// different orders, or under a [perturbation](crate::robustness::Perturbation).
#[derive(Clone, Copy, Debug, Default)]
pub struct AnswerSensitivity {
    flips: Proportion,
    /// Sum of the absolute differences of probabilities, in millionths: twice the total variation.
    differences: u64,
    largest_difference: u64,
}

/// How much answers depend on the form in which a text is asked about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SensitivityMeasures {
    /// Pairs of answers that were compared.
    pub comparisons: u64,
    /// Pairs whose answers differ.
    pub flip_rate: Proportion,
    /// Mean total variation of the pairs: half the sum of the absolute differences of the outcomes'
    /// probabilities, 0 (equal) to 1. `None` without pairs.
    pub mean_total_variation: Option<f64>,
    /// The largest total variation of a pair; `None` without pairs.
    pub largest_total_variation: Option<f64>,
}

impl AnswerSensitivity {
    /// Compares two answers to one text, asked in different forms.
    ///
    /// A Yes / No flips when its probability crosses one half; a choice also flips when only one of
    /// the two answers has a value.
    ///
    /// # Errors
    /// The two answers are of different types.
    pub fn add(&mut self, first: &Answer, other: &Answer) -> Result<(), NotComparable> {
        let (flips, differences) = match (first, other) {
            (
                Answer::Choice {
                    value,
                    probabilities,
                    ..
                },
                Answer::Choice {
                    value: other_value,
                    probabilities: other_probabilities,
                    ..
                },
            ) => (
                value != other_value,
                differences(probabilities, other_probabilities),
            ),
            (
                Answer::Scale {
                    level,
                    probabilities,
                },
                Answer::Scale {
                    level: other_level,
                    probabilities: other_probabilities,
                },
            ) => (
                level != other_level,
                differences(probabilities, other_probabilities),
            ),
            (
                Answer::YesNo { probability },
                Answer::YesNo {
                    probability: other_probability,
                },
            ) => {
                let label = |probability| Cutoffs::AUTOMATIC.label(probability);
                let difference = difference(*probability, *other_probability);
                (
                    label(*probability) != label(*other_probability),
                    2 * difference,
                )
            }
            (Answer::Choice { .. } | Answer::Scale { .. } | Answer::YesNo { .. }, other) => {
                return Err(NotComparable::Type {
                    expected: first.question_type().name(),
                    found: other.question_type().name(),
                });
            }
        };
        self.flips.add(flips);
        self.differences += differences;
        self.largest_difference = self.largest_difference.max(differences);
        Ok(())
    }

    /// The measures over all compared answers.
    pub fn measures(&self) -> SensitivityMeasures {
        let comparisons = self.flips.of;
        let variation = |differences| to_f64(differences) / f64::from(2 * ONE);
        let of_pairs = |variation: f64| (comparisons > 0).then_some(variation);
        SensitivityMeasures {
            comparisons,
            flip_rate: self.flips,
            mean_total_variation: of_pairs(variation(self.differences) / to_f64(comparisons)),
            largest_total_variation: of_pairs(variation(self.largest_difference)),
        }
    }
}

/// Adds the pairs of another set, which are other pairs than these.
impl AddAssign for AnswerSensitivity {
    fn add_assign(&mut self, other: Self) {
        self.flips += other.flips;
        self.differences += other.differences;
        self.largest_difference = self.largest_difference.max(other.largest_difference);
    }
}

/// Sum over all outcomes of the absolute difference of their probabilities, in millionths. An
/// outcome missing from one side has probability 0 there.
fn differences(first: &[(OutcomeKey, Probability)], other: &[(OutcomeKey, Probability)]) -> u64 {
    let of = |distribution: &[(OutcomeKey, Probability)], key: &OutcomeKey| {
        let mut outcomes = distribution.iter();
        outcomes
            .find(|(of, _)| of == key)
            .map(|(_, probability)| *probability)
    };
    let in_first = first
        .iter()
        .map(|(key, probability)| difference(*probability, of(other, key).unwrap_or_default()));
    let only_in_other = other.iter().filter(|(key, _)| of(first, key).is_none());
    let only_in_other = only_in_other.map(|(_, probability)| u64::from(probability.millionths()));
    in_first.chain(only_in_other).sum()
}

fn difference(first: Probability, other: Probability) -> u64 {
    u64::from(first.millionths().abs_diff(other.millionths()))
}
