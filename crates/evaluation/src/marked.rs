//! Stored answers with the correct outcomes, as judged by people.

pub mod answers;

use refract_domain::answer::probability::{ONE, Probability};
use refract_domain::answer::{Answer, confidence};
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::lens::{Cutoffs, YesNoLabel};
use refract_domain::prism::Question;
use refract_domain::result::mark;
use thiserror::Error;

use crate::measures::Forecast;

pub use self::answers::MarkedAnswers;

/// One stored answer to a question, with the outcome that a person marked as correct.
#[derive(Clone, Copy, Debug)]
pub struct MarkedAnswer<'a> {
    /// The question in the version that answered.
    pub question: &'a Question,
    /// The stored answer.
    pub answer: &'a Answer,
    /// The correct outcome: an option's or a built-in outcome's key, `yes` or `no`, or a level's
    /// key.
    pub mark: &'a OutcomeKey,
    /// The model that its server reported; `None` if it reported none, or if all answers are taken
    /// for those of one model.
    pub model: Option<&'a str>,
}

/// Why an answer cannot be compared with a mark or with another answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotComparable {
    /// The question or the answer has another type than the measured question.
    #[error("a {found} answer cannot be measured as {expected}")]
    Type {
        /// Name of the measured question's type.
        expected: &'static str,
        /// Name of the answer's or the question's type.
        found: &'static str,
    },
    /// The version that answered has no such outcome.
    #[error("the version that answered has no outcome `{mark}` of question `{question}`")]
    Mark {
        /// The question's key.
        question: QuestionKey,
        /// The marked outcome.
        mark: OutcomeKey,
    },
    /// The version lacks the answered outcome, so the answer is from another version.
    #[error("the stored answer `{outcome}` is no outcome of question `{question}`")]
    Answer {
        /// The question's key.
        question: QuestionKey,
        /// The answered outcome.
        outcome: OutcomeKey,
    },
    /// The versions that answered have more different outcomes than an index can number.
    #[error("the versions that answered have over 65536 different outcomes: choose one version")]
    TooManyOutcomes,
}

impl NotComparable {
    pub(crate) fn mark(question: &Question, mark: &OutcomeKey) -> Self {
        Self::Mark {
            question: question.key.clone(),
            mark: mark.clone(),
        }
    }

    pub(crate) fn answer(question: &Question, outcome: &OutcomeKey) -> Self {
        Self::Answer {
            question: question.key.clone(),
            outcome: outcome.clone(),
        }
    }
}

/// The outcome that an answer predicts: the chosen option, the most probable level, or yes or no
/// according to the cutoffs.
///
/// `None` for a choice without a value, for a Yes / No whose label is unsure, and for an answer of
/// another type than the question's.
pub fn predicted(question: &Question, answer: &Answer, cutoffs: Cutoffs) -> Option<OutcomeKey> {
    if question.question_type() != answer.question_type() {
        return None;
    }
    match answer {
        Answer::Choice { value, .. } => value.clone(),
        Answer::Scale { level, .. } => Some(level.clone()),
        Answer::YesNo { probability } => outcome_of(cutoffs.label(*probability)),
    }
}

/// The outcome for a label of a Yes / No question; `None` for unsure, which is not an outcome.
fn outcome_of(label: YesNoLabel) -> Option<OutcomeKey> {
    match label {
        YesNoLabel::Yes | YesNoLabel::No => OutcomeKey::parse(label.key()).ok(),
        YesNoLabel::Unsure => None,
    }
}

/// An outcome with its position in the version that answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedOutcome<'a> {
    /// The outcome.
    pub(crate) key: &'a OutcomeKey,
    /// The outcome's position among those that the question can be marked with, from 0.
    pub(crate) place: usize,
}

impl<'a> PlacedOutcome<'a> {
    /// Finds an outcome of the question; `None` when the question lacks it.
    pub(crate) fn find(question: &Question, key: &'a OutcomeKey) -> Option<Self> {
        let mut outcomes = mark::outcomes(question);
        let place = outcomes.position(|outcome| outcome.key == key.as_str())?;
        Some(Self { key, place })
    }

    /// The outcome's probability in an answer; 0 if the answer does not list it.
    ///
    /// Answers list outcomes in the order of the version, so the outcome's position is checked
    /// first: a search among 255 outcomes takes long.
    pub(crate) fn probability(&self, probabilities: &[(OutcomeKey, Probability)]) -> Probability {
        let is_it = |(key, _): &&(OutcomeKey, Probability)| key == self.key;
        let in_place = probabilities.get(self.place).filter(is_it);
        let found = in_place.or_else(|| probabilities.iter().find(is_it));
        found.map_or(Probability::ZERO, |(_, probability)| *probability)
    }
}

/// Index of yes among the outcomes of a Yes / No question.
const YES: u16 = 0;
/// Index of no among the outcomes of a Yes / No question.
const NO: u16 = 1;

/// A marked answer without its distribution. Outcomes are indexes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkedRow {
    /// The marked outcome.
    pub(crate) marked: u16,
    /// The predicted outcome, if the answer predicts one.
    pub(crate) predicted: Option<u16>,
    /// Number of outcomes of the question in the version that answered: 2 for Yes / No.
    pub(crate) outcomes: u16,
    /// Probability of yes for Yes / No, otherwise of the predicted outcome.
    pub(crate) probability: Probability,
}

// a million rows take 12 MB
const _: () = assert!(size_of::<MarkedRow>() == 12);

impl MarkedRow {
    /// Whether the predicted outcome is the marked one.
    fn is_right(&self) -> bool {
        self.predicted == Some(self.marked)
    }

    /// The predicted outcome of a choice or scale, with its probability; `None` if there is none.
    fn prediction(&self) -> Option<Forecast> {
        self.predicted.map(|_| Forecast {
            probability: self.probability,
            came_true: self.is_right(),
        })
    }

    /// The predicted outcome of a choice or scale, with the confidence in it; `None` if there is
    /// none.
    fn confident_prediction(&self) -> Option<Forecast> {
        Some(self.with_confidence(self.prediction()?))
    }

    /// The predicted outcome of a Yes / No, with the confidence in it; `None` if there is none.
    fn confident_yes_or_no(&self) -> Option<Forecast> {
        Some(self.with_confidence(self.yes_or_no()?))
    }

    /// A prediction with Refract's own confidence in place of its probability.
    fn with_confidence(&self, prediction: Forecast) -> Forecast {
        let probability = prediction.probability.to_f64();
        Forecast {
            probability: confidence(probability, self.outcomes.into()),
            ..prediction
        }
    }

    /// The predicted outcome of a Yes / No, with its probability; `None` if there is none.
    fn yes_or_no(&self) -> Option<Forecast> {
        let mut forecast = self.prediction()?;
        if self.predicted == Some(NO) {
            let of_no = ONE - self.probability.millionths();
            forecast.probability = Probability::from_millionths(of_no)?;
        }
        Some(forecast)
    }

    /// The probability of yes, and whether yes was marked.
    pub(crate) fn of_yes(&self) -> Forecast {
        Forecast {
            probability: self.probability,
            came_true: self.marked == YES,
        }
    }
}
