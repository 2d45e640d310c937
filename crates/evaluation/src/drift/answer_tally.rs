//! Counts of one question's answers, by outcome and probability.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use refract_domain::answer::{Answer, Probability};
use refract_domain::key::OutcomeKey;
use serde::{Deserialize, Serialize};

use crate::counting::PercentHistogram;

/// Number of steps of probability in which the answers to choices and scales are counted.
const STEPS: u8 = 10;

/// How many answers of a question have an outcome with a probability.
///
/// A Yes / No is counted by the whole percent of yes, so that any cutoffs can be applied later. A
/// choice or scale is counted by its outcome and the tenth of that outcome's probability.
///
/// As JSON it is a list of `[outcome, percent or tenth, count]`, where the outcome is null for a
/// Yes / No and for a choice of an unknown option.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<TallyCell>", from = "Vec<TallyCell>")]
pub struct AnswerTally {
    cells: BTreeMap<(Option<OutcomeKey>, u8), u64>,
}

/// An outcome, a percent or a tenth, and a count.
type TallyCell = (Option<OutcomeKey>, u8, u64);

impl AnswerTally {
    /// Counts an answer.
    pub fn add(&mut self, answer: &Answer) {
        let cell = match answer {
            Answer::YesNo { probability } => (None, probability.percent()),
            Answer::Choice { value, .. } => {
                let probability = value.as_ref().and_then(|it| answer.probability_of(it));
                (value.clone(), tenth(probability.unwrap_or_default()))
            }
            Answer::Scale { level, .. } => {
                let probability = answer.probability_of(level);
                (Some(level.clone()), tenth(probability.unwrap_or_default()))
            }
        };
        *self.cells.entry(cell).or_default() += 1;
    }

    /// Number of counted answers.
    pub fn answers(&self) -> u64 {
        self.cells.values().sum()
    }

    /// Number of answers with each outcome, `None` for choices of an unknown option.
    pub(crate) fn by_outcome(&self) -> BTreeMap<Option<&OutcomeKey>, u64> {
        let mut counts = BTreeMap::new();
        for ((outcome, _), count) in &self.cells {
            *counts.entry(outcome.as_ref()).or_default() += count;
        }
        counts
    }

    /// The answers of a Yes / No by the percent of yes.
    pub(crate) fn percents(&self) -> PercentHistogram {
        let mut percents = PercentHistogram::default();
        for ((_, percent), count) in &self.cells {
            percents.add_percent(*percent, *count);
        }
        percents
    }

    /// Number of answers with each outcome and tenth of probability. `is_percent` tells that the
    /// question is a Yes / No.
    pub(crate) fn by_tenth(&self, is_percent: bool) -> BTreeMap<(Option<&OutcomeKey>, u8), u64> {
        let mut counts = BTreeMap::new();
        for ((outcome, step), count) in &self.cells {
            let tenth = if is_percent {
                (step / STEPS).min(STEPS - 1)
            } else {
                *step
            };
            *counts.entry((outcome.as_ref(), tenth)).or_default() += count;
        }
        counts
    }
}

/// Adds the answers of another tally, which are disjoint from these.
impl AddAssign<&AnswerTally> for AnswerTally {
    fn add_assign(&mut self, other: &AnswerTally) {
        for (cell, count) in &other.cells {
            if let Some(sum) = self.cells.get_mut(cell) {
                *sum += count;
            } else {
                self.cells.insert(cell.clone(), *count);
            }
        }
    }
}

impl From<AnswerTally> for Vec<TallyCell> {
    fn from(tally: AnswerTally) -> Self {
        let cells = tally.cells.into_iter();
        cells
            .map(|((outcome, step), count)| (outcome, step, count))
            .collect()
    }
}

impl From<Vec<TallyCell>> for AnswerTally {
    fn from(cells: Vec<TallyCell>) -> Self {
        let cells = cells.into_iter();
        Self {
            cells: cells
                .map(|(outcome, step, count)| ((outcome, step), count))
                .collect(),
        }
    }
}

/// The tenth of a probability, 0 to 9; the last one includes probability 1.
fn tenth(probability: Probability) -> u8 {
    (probability.percent() / STEPS).min(STEPS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_by_outcome_and_probability_and_kept_as_json() {
        let mut tally = AnswerTally::default();
        for answer in [
            r#"{"type":"choice","value":"b","probabilities":{"b":0.95},"confidence":0.9}"#,
            r#"{"type":"choice","value":"b","probabilities":{"b":1},"confidence":1}"#,
            r#"{"type":"choice","value":"a","probabilities":{"a":0.5},"confidence":0}"#,
            r#"{"type":"choice","value":null,"probabilities":{"a":0.5},"confidence":0}"#,
        ] {
            tally.add(&serde_json::from_str(answer).unwrap());
        }
        let json = serde_json::to_string(&tally).unwrap();
        assert_eq!(json, r#"[[null,0,1],["a",5,1],["b",9,2]]"#);
        let kept: AnswerTally = serde_json::from_str(&json).unwrap();
        assert_eq!((kept.answers(), &kept), (4, &tally));
        let mut twice = kept;
        twice += &tally;
        assert_eq!(twice.answers(), 8);
    }

    #[test]
    fn a_yes_no_is_counted_by_whole_percents_of_yes() {
        let mut tally = AnswerTally::default();
        for answer in [
            r#"{"type":"yes_no","probability":0.999999}"#,
            r#"{"type":"yes_no","probability":1}"#,
            r#"{"type":"yes_no","probability":0.419}"#,
        ] {
            tally.add(&serde_json::from_str(answer).unwrap());
        }
        let json = serde_json::to_string(&tally).unwrap();
        assert_eq!(json, "[[null,41,1],[null,99,1],[null,100,1]]");
        let counts = *tally.percents().counts();
        assert_eq!((counts[41], counts[99], counts[100]), (1, 1, 1));
        let tenths: Vec<_> = tally.by_tenth(true).into_iter().collect();
        assert_eq!(tenths, [((None, 4), 1), ((None, 9), 2)]);
    }
}
