//! Counts of a prism's results over a stretch of time, and how long they took, in steps of 19 %.
//! And counts of one question's answers, by outcome and probability.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use refract_domain::answer::{Answer, Answers, Probability};
use refract_domain::key::{OutcomeKey, QuestionKey};
use serde::{Deserialize, Serialize};

use crate::counting::PercentHistogram;
use crate::measures::to_f64;

/// Counts of results that one version of a prism made, as JSON in the database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultTally {
    /// All results.
    pub results: u64,
    /// Failed results.
    pub failed: u64,
    /// Results whose text the model server cut.
    pub truncated: u64,
    /// Tokens that the model read, as far as servers report them.
    pub input_tokens: u64,
    /// Tokens that the model wrote, as far as servers report them.
    pub output_tokens: u64,
    /// The time that results took.
    pub took: TookHistogram,
    /// The answers to each question.
    pub questions: BTreeMap<QuestionKey, AnswerTally>,
}

/// A result, as far as it is counted.
#[derive(Clone, Copy, Debug)]
pub struct TalliedResult<'a> {
    /// The answers; `None` for a failed result.
    pub answers: Option<&'a Answers>,
    /// Milliseconds that the result took.
    pub took_ms: u64,
    /// Whether the model server cut the text.
    pub is_truncated: bool,
    /// Tokens that the model read, 0 if the server did not report them.
    pub input_tokens: u64,
    /// Tokens that the model wrote, 0 if the server did not report them.
    pub output_tokens: u64,
}

impl ResultTally {
    /// Counts a result.
    pub fn add(&mut self, result: &TalliedResult<'_>) {
        self.results += 1;
        self.failed += u64::from(result.answers.is_none());
        self.truncated += u64::from(result.is_truncated);
        self.input_tokens += result.input_tokens;
        self.output_tokens += result.output_tokens;
        self.took.add(result.took_ms);
        let answers = result.answers.map(Answers::as_slice).unwrap_or_default();
        for (question, answer) in answers {
            if let Some(tally) = self.questions.get_mut(question) {
                tally.add(answer);
            } else {
                let tally = self.questions.entry(question.clone());
                tally.or_default().add(answer);
            }
        }
    }
}

/// Adds the results of another tally, which are disjoint from these.
impl AddAssign<&ResultTally> for ResultTally {
    fn add_assign(&mut self, other: &ResultTally) {
        self.results += other.results;
        self.failed += other.failed;
        self.truncated += other.truncated;
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.took += &other.took;
        for (question, answers) in &other.questions {
            *self.questions.entry(question.clone()).or_default() += answers;
        }
    }
}

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

/// Number of steps of probability in which the answers to choices and scales are counted.
const TENTHS: u8 = 10;

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
                (step / TENTHS).min(TENTHS - 1)
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
    (probability.percent() / TENTHS).min(TENTHS - 1)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tallies_of_two_stretches_are_the_tally_of_both() {
        let answers: Answers =
            serde_json::from_str(r#"{"angry":{"type":"yes_no","probability":0.25}}"#).unwrap();
        let result = TalliedResult {
            answers: Some(&answers),
            took_ms: 40,
            is_truncated: true,
            input_tokens: 100,
            output_tokens: 3,
        };
        let failed = TalliedResult {
            answers: None,
            is_truncated: false,
            ..result
        };
        let [mut one, mut other, mut both] = [const { None }; 3].map(Option::unwrap_or_default);
        let tallied: [(&mut ResultTally, &[TalliedResult<'_>]); 3] = [
            (&mut one, &[result]),
            (&mut other, &[failed, result]),
            (&mut both, &[result, failed, result]),
        ];
        for (tally, results) in tallied {
            for result in results {
                tally.add(result);
            }
        }
        one += &other;
        assert_eq!(one, both);
        assert_eq!((both.results, both.failed, both.truncated), (3, 1, 2));
        let json = serde_json::to_string(&both).unwrap();
        let expected = concat!(
            r#"{"results":3,"failed":1,"truncated":2,"input_tokens":300,"output_tokens":9,"#,
            r#""took":{"22":3},"questions":{"angry":[[null,25,2]]}}"#
        );
        assert_eq!(json, expected);
        assert_eq!(serde_json::from_str::<ResultTally>(&json).unwrap(), both);
    }

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
