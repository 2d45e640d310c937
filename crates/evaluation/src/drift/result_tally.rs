//! Counts of a prism's results over a stretch of time, and how long they took, in steps of 19 %.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use refract_domain::answer::{Answer, Answers, Probability};
use refract_domain::key::{OutcomeKey, QuestionKey};
use serde::{Deserialize, Serialize};

use crate::drift::answer_tally::AnswerTally;
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
}
