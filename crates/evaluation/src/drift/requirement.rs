//! Requirements on drift, such as `angry.psi<=0.2` or `angry.yes.change<=0.1`.

use std::fmt;

use refract_domain::key::{OutcomeKey, QuestionKey};
use thiserror::Error;

use crate::drift::question_drift::{QuestionDrift, ShareChange};
use crate::measures::to_f64;
use crate::requirement::{Bound, CheckedRequirement, NamedMeasure, RequirementError};

/// A bound on a figure of a question's drift.
#[derive(Clone, Debug, PartialEq)]
pub struct DriftRequirement {
    question: QuestionKey,
    figure: Figure,
    bound: Bound,
}

/// The figures that a requirement can name, of one question.
#[derive(Clone, Copy, Debug)]
pub struct RequiredFigures<'a> {
    /// The drift of the window.
    pub drift: &'a QuestionDrift,
    /// Whether there is an alarm.
    pub is_alarm: bool,
    /// Models that answered in the window, but not in the one that it is compared with.
    pub new_models: u64,
}

/// Why a requirement on drift cannot be read or checked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DriftRequirementError {
    /// The operator, the path, a key or the bound is wrong.
    #[error(transparent)]
    Form(#[from] RequirementError),
    /// No figure of a question has this name.
    #[error("`{0}` is no figure of a question's drift; there are {known}", known = NamedMeasure::names(&OF_QUESTION))]
    OfQuestion(String),
    /// No figure of an outcome has this name.
    #[error("`{0}` is no figure of an outcome's drift; there are {known}", known = NamedMeasure::names(&OF_SHARE))]
    OfOutcome(String),
    /// The question has no such outcome.
    #[error("question `{question}` has no outcome `{outcome}`")]
    Outcome {
        /// The question's key.
        question: QuestionKey,
        /// The outcome that the question lacks.
        outcome: OutcomeKey,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Figure {
    Question(&'static QuestionFigure),
    Outcome(OutcomeKey, &'static ShareFigure),
}

/// A figure of a question.
type QuestionFigure = NamedMeasure<fn(&RequiredFigures<'_>) -> Option<f64>>;
/// A figure of an outcome's share.
type ShareFigure = NamedMeasure<fn(ShareChange) -> Option<f64>>;

static OF_QUESTION: [QuestionFigure; 4] = [
    NamedMeasure::new("alarm", |of| Some(to_f64(of.is_alarm.into()))),
    NamedMeasure::new("psi", |of| of.drift.probabilities.map(|it| it.psi)),
    NamedMeasure::new("js", |of| of.drift.probabilities.map(|it| it.js)),
    NamedMeasure::new("new_models", |of| Some(to_f64(of.new_models))),
];

static OF_SHARE: [ShareFigure; 5] = [
    NamedMeasure::new("now", |change| change.now.value()),
    NamedMeasure::new("difference", ShareChange::difference),
    NamedMeasure::new("change", |change| change.difference().map(f64::abs)),
    NamedMeasure::new("low", |change| {
        change.interval().map(|interval| interval.low)
    }),
    NamedMeasure::new("high", |change| {
        change.interval().map(|interval| interval.high)
    }),
];

impl DriftRequirement {
    /// Reads a requirement: `question.figure` or `question.outcome.figure`, an operator and a
    /// number. Figures of a question are `alarm` (0 or 1), `psi`, `js` and `new_models`; figures of
    /// an outcome's share are `now`, `difference` from before, its absolute value `change`, and the
    /// ends of its interval, `low` and `high`.
    ///
    /// # Errors
    /// The part that is wrong, and what is allowed there.
    pub fn parse(text: &str) -> Result<Self, DriftRequirementError> {
        let (path, bound) = Bound::split(text)?;
        let mut parts = path.split('.').map(str::trim);
        let (question, figure) = match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(question), Some(figure), None, None) => {
                let named = NamedMeasure::find(&OF_QUESTION, figure);
                let unknown = || DriftRequirementError::OfQuestion(figure.to_owned());
                (question, Figure::Question(named.ok_or_else(unknown)?))
            }
            (Some(question), Some(outcome), Some(figure), None) => {
                let key = OutcomeKey::parse(outcome);
                let key = key.map_err(|_| RequirementError::Key(outcome.to_owned()))?;
                let named = NamedMeasure::find(&OF_SHARE, figure);
                let unknown = || DriftRequirementError::OfOutcome(figure.to_owned());
                (question, Figure::Outcome(key, named.ok_or_else(unknown)?))
            }
            (_, _, _, _) => return Err(RequirementError::Path(path.to_owned()).into()),
        };
        let key = QuestionKey::parse(question);
        Ok(Self {
            question: key.map_err(|_| RequirementError::Key(question.to_owned()))?,
            figure,
            bound,
        })
    }

    /// The question whose drift is bounded.
    pub fn question(&self) -> &QuestionKey {
        &self.question
    }

    /// Compares the figure with the bound. `figures` are those of [`DriftRequirement::question`].
    /// A figure is undefined, and does not hold, if a window has no answers, or too few for it; there
    /// is no alarm then.
    ///
    /// # Errors
    /// The question has no such outcome.
    pub fn check(
        &self,
        figures: &RequiredFigures<'_>,
    ) -> Result<CheckedRequirement, DriftRequirementError> {
        let value = match &self.figure {
            Figure::Question(figure) => (figure.value)(figures),
            Figure::Outcome(key, figure) => {
                let mut shares = figures.drift.shares.iter();
                let share = shares.find(|share| share.outcome == *key);
                let share = share.ok_or_else(|| DriftRequirementError::Outcome {
                    question: self.question.clone(),
                    outcome: key.clone(),
                })?;
                (figure.value)(share.change)
            }
        };
        Ok(self.bound.check(value))
    }
}

/// The requirement in the form that [`DriftRequirement::parse`] reads, without spaces.
impl fmt::Display for DriftRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.", self.question)?;
        match &self.figure {
            Figure::Question(figure) => f.write_str(figure.name)?,
            Figure::Outcome(key, figure) => write!(f, "{key}.{}", figure.name)?,
        }
        write!(f, "{}", self.bound)
    }
}
