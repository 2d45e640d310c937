//! Answers to texts that are asked again: how many flip, towards what, and whether the new ones are
//! better; and how much they depend on what should not matter, such as the order of the options.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::AddAssign;

use refract_domain::answer::Answer;
use refract_domain::answer::probability::{ONE, Probability};
use refract_domain::key::OutcomeKey;
use refract_domain::lens::Cutoffs;
use serde::Serialize;

use crate::comparison::{Comparison, PairedAnswers};
use crate::counting::confidence_of;
use crate::marked::NotComparable;
use crate::measures::{Proportion, to_f64};

/// Compares two answers to each text, one before and one after a change: of the model, of the
/// version or of the wording. A flip is a pair that predicts two different outcomes.
#[derive(Clone, Debug, Default)]
pub struct FlipCounts {
    flips: Proportion,
    directions: BTreeMap<FlipEnds, u64>,
    marked: PairedAnswers,
}

/// How many answers flip, and towards what.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FlipMeasures {
    /// The pairs that predict two different outcomes.
    pub flip_rate: Proportion,
    /// The flips by their two outcomes, the most frequent first.
    pub towards: Vec<FlipDirection>,
    /// Which of the two answers is right on the marked texts for which both predict an outcome;
    /// `None` without such texts.
    pub marked: Option<Comparison>,
}

/// The flips from one outcome to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FlipDirection {
    /// The outcome before; `None` if nothing was predicted.
    pub from: Option<OutcomeKey>,
    /// The outcome after.
    pub to: Option<OutcomeKey>,
    /// Number of flips.
    pub count: u64,
}

/// The outcomes before and after.
type FlipEnds = (Option<OutcomeKey>, Option<OutcomeKey>);

impl FlipCounts {
    /// Adds what the two answers to a text predict, with the correct outcome if the text is marked.
    pub fn add(
        &mut self,
        before: Option<&OutcomeKey>,
        after: Option<&OutcomeKey>,
        mark: Option<&OutcomeKey>,
    ) {
        let flips = before != after;
        self.flips.add(flips);
        if flips {
            let ends = (before.cloned(), after.cloned());
            *self.directions.entry(ends).or_default() += 1;
        }
        if let (Some(before), Some(after), Some(mark)) = (before, after, mark) {
            self.marked.add(before == mark, after == mark);
        }
    }

    /// The measures over all pairs.
    pub fn measures(&self) -> FlipMeasures {
        let directions = self.directions.iter();
        let directions = directions.map(|((from, to), count)| FlipDirection {
            from: from.clone(),
            to: to.clone(),
            count: *count,
        });
        let mut towards: Vec<_> = directions.collect();
        // a stable sort: equal counts stay in the order of their outcomes
        towards.sort_by_key(|direction| Reverse(direction.count));
        let marked = self.marked.compare();
        FlipMeasures {
            flip_rate: self.flips,
            towards,
            marked: (marked.rows > 0).then_some(marked),
        }
    }
}

impl FlipMeasures {
    /// McNemar's two-sided p-value; `None` without marked texts.
    pub fn mcnemar_p(&self) -> Option<f64> {
        self.marked.map(|marked| marked.mcnemar_p)
    }
}

/// How sure a flip is: the lower [confidence](confidence_of) of its two answers. A flip between two
/// sure answers comes from what was changed, a flip between unsure ones may be noise.
pub fn sureness(before: &Answer, after: &Answer) -> Probability {
    confidence_of(before).min(confidence_of(after))
}

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
