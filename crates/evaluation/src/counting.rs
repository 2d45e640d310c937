//! Counts over stored answers: the values in a lens's columns, and the changes that another lens or
//! other cutoffs would make, without asking a model. And which answers a person reviews first.

pub mod column_tally;
pub mod cutoff_reach;
pub mod lens_preview;
pub mod nearest_changes;
pub mod percent_histogram;

use refract_domain::answer::probability::{ONE, Probability};
use refract_domain::answer::{Answer, Answers, confidence};
use refract_domain::key::QuestionKey;
use refract_domain::lens::Cutoffs;

pub use self::column_tally::{ColumnSummary, ColumnTally, ValueCount};
pub use self::cutoff_reach::{CutoffName, CutoffReach, UnreachableCutoff};
pub use self::lens_preview::{CellPair, ColumnPreview, LabelMoves, LensPreview};
pub use self::nearest_changes::{NearestChanges, PercentSample};
pub use self::percent_histogram::{
    CutoffStep, CutoffSteps, LabelCounts, PercentCutoffs, PercentHistogram,
};

/// An order of answers, for a queue of results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReviewOrder {
    /// Yes / No answers by the distance of their probability from the nearest cutoff.
    Near(Cutoffs),
    /// All answers by their confidence.
    LeastSure,
    /// Choices without a valid answer, and no others.
    NoValidAnswer,
}

impl ReviewOrder {
    /// The place of a result in the order, the lowest first, by its answer to a question, or by the
    /// first of its answers. `None` if the result has no place in the order.
    pub fn place_of(self, answers: &Answers, question: Option<&QuestionKey>) -> Option<u32> {
        let Some(question) = question else {
            let answers = answers.as_slice().iter();
            return answers.filter_map(|(_, answer)| self.place(answer)).min();
        };
        self.place(answers.get(question)?)
    }

    fn place(self, answer: &Answer) -> Option<u32> {
        match (self, answer) {
            (Self::Near(cutoffs), Answer::YesNo { probability }) => {
                Some(distance(*probability, cutoffs))
            }
            (Self::LeastSure, _) => Some(confidence_of(answer).millionths()),
            (Self::NoValidAnswer, Answer::Choice { value: None, .. }) => Some(0),
            (Self::Near(_) | Self::NoValidAnswer, _) => None,
        }
    }
}

/// The distance of a probability from the nearest cutoff, in millionths.
fn distance(probability: Probability, cutoffs: Cutoffs) -> u32 {
    let cutoffs = [Some(cutoffs.no_ends_at()), cutoffs.yes_from()];
    let distances = cutoffs.into_iter().flatten();
    let distances = distances.map(|cutoff| cutoff.millionths().abs_diff(probability.millionths()));
    distances.min().unwrap_or(ONE)
}

/// The confidence in the least sure answer of a result, from 0 to 1; `None` without answers.
///
/// The confidence of an answer is Refract's own ([`confidence`]), from the probability of its most
/// probable outcome: what a server calls its confidence is another measure on each server.
pub fn least_confidence(answers: &Answers) -> Option<Probability> {
    least_sure(answers).map(|(_, answer)| confidence_of(answer))
}

/// The least sure answer of a result with its question, the first of equally sure ones; `None`
/// without answers.
pub fn least_sure(answers: &Answers) -> Option<(&QuestionKey, &Answer)> {
    let answers = answers.as_slice().iter();
    let least = answers.min_by_key(|(_, answer)| confidence_of(answer));
    least.map(|(question, answer)| (question, answer))
}

/// The confidence in an answer, from 0 to 1.
pub fn confidence_of(answer: &Answer) -> Probability {
    match answer {
        Answer::Choice { probabilities, .. } | Answer::Scale { probabilities, .. } => {
            let highest = probabilities.iter().map(|(_, probability)| *probability);
            let highest = highest.max().unwrap_or_default();
            let outcomes = u32::try_from(probabilities.len()).unwrap_or(u32::MAX);
            confidence(highest.to_f64(), outcomes)
        }
        Answer::YesNo { probability } => {
            let yes = probability.millionths();
            confidence(f64::from(yes.max(ONE - yes)) / f64::from(ONE), 2)
        }
    }
}

#[cfg(test)]
mod tests {
    use refract_domain::lens::Cutoffs;

    use super::*;

    fn answers() -> Answers {
        serde_json::from_str(
            r#"{"angry":{"type":"yes_no","probability":0.55},
            "polite":{"type":"yes_no","probability":0.9},
            "topic":{"type":"choice","value":null,"confidence":0.0,
                "probabilities":{"a":0.4,"b":0.3,"other":0.3}}}"#,
        )
        .unwrap()
    }

    #[test]
    fn each_order_places_the_answers_that_belong_to_it() {
        let question = |key| QuestionKey::parse(key).unwrap();
        let place = |order: ReviewOrder, key| order.place_of(&answers(), Some(&question(key)));
        let near = ReviewOrder::Near(Cutoffs::AUTOMATIC);
        assert_eq!(place(near, "angry"), Some(50_000));
        assert_eq!(place(near, "polite"), Some(400_000));
        assert_eq!(place(near, "topic"), None);
        assert_eq!(place(near, "gone"), None);
        assert_eq!(near.place_of(&answers(), None), Some(50_000));
        assert_eq!(place(ReviewOrder::LeastSure, "angry"), Some(100_000));
        assert_eq!(place(ReviewOrder::NoValidAnswer, "topic"), Some(0));
        assert_eq!(place(ReviewOrder::NoValidAnswer, "angry"), None);
    }

    fn least(json: &str) -> Option<f64> {
        let answers = serde_json::from_str(json).unwrap();
        least_confidence(&answers).map(Probability::to_f64)
    }

    #[test]
    fn the_least_sure_answer_counts() {
        let even = r#"{"type":"yes_no","probability":0.5}"#;
        let no = r#"{"type":"yes_no","probability":0.05}"#;
        let topic = r#"{"type":"choice","value":"a","confidence":0.0,
            "probabilities":{"a":0.6,"b":0.2,"c":0.2}}"#;
        assert_eq!(least(&format!(r#"{{"a":{even},"b":{no}}}"#)), Some(0.0));
        assert_eq!(least(&format!(r#"{{"a":{no}}}"#)), Some(0.9));
        assert_eq!(least(&format!(r#"{{"t":{topic},"a":{no}}}"#)), Some(0.4));
        assert_eq!(least("{}"), None);
    }
}
