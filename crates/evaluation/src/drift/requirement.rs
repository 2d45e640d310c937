//! Requirements on drift, such as `angry.psi<=0.2` or `angry.yes.change<=0.1`.

use std::fmt;

use refract_domain::key::{OutcomeKey, QuestionKey};
use thiserror::Error;

use crate::drift::question_drift::QuestionDrift;
use crate::measures::proportion::to_f64;
use crate::requirement::{CheckedRequirement, Relation, RequirementError};

/// A bound on a figure of a question's drift.
#[derive(Clone, Debug, PartialEq)]
pub struct DriftRequirement {
    question: QuestionKey,
    figure: Figure,
    relation: Relation,
    bound: f64,
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
    #[error("`{0}` is no figure of a question's drift; there are {known}", known = names(&QuestionFigure::NAMED))]
    OfQuestion(String),
    /// No figure of an outcome has this name.
    #[error("`{0}` is no figure of an outcome's drift; there are {known}", known = names(&ShareFigure::NAMED))]
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
    Question(QuestionFigure),
    Outcome(OutcomeKey, ShareFigure),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QuestionFigure {
    Alarm,
    Psi,
    Js,
    NewModels,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShareFigure {
    Now,
    Difference,
    Change,
    Low,
    High,
}

impl QuestionFigure {
    const NAMED: [(&'static str, Self); 4] = [
        ("alarm", Self::Alarm),
        ("psi", Self::Psi),
        ("js", Self::Js),
        ("new_models", Self::NewModels),
    ];
}

impl ShareFigure {
    const NAMED: [(&'static str, Self); 5] = [
        ("now", Self::Now),
        ("difference", Self::Difference),
        ("change", Self::Change),
        ("low", Self::Low),
        ("high", Self::High),
    ];
}

impl DriftRequirement {
    /// Reads a requirement: `question.figure` or `question.outcome.figure`, an operator and a
    /// number. Figures of a question are `alarm` (0 or 1), `psi`, `js` and `new_models`; figures of
    /// an outcome's share are `now`, `difference` from before, its absolute value `change`, and the
    /// ends of its interval, `low` and `high`.
    ///
    /// # Errors
    /// The part that is wrong, and what is allowed there.
    pub fn parse(text: &str) -> Result<Self, DriftRequirementError> {
        let (path, relation, bound) =
            Relation::split(text).ok_or_else(|| RequirementError::Operator(text.to_owned()))?;
        let number = bound.parse().ok().filter(|bound: &f64| bound.is_finite());
        let bound = number.ok_or_else(|| RequirementError::Bound(bound.to_owned()))?;
        let mut parts = path.split('.').map(str::trim);
        let (question, figure) = match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(question), Some(figure), None, None) => {
                let named = named(&QuestionFigure::NAMED, figure);
                let unknown = || DriftRequirementError::OfQuestion(figure.to_owned());
                (question, Figure::Question(named.ok_or_else(unknown)?))
            }
            (Some(question), Some(outcome), Some(figure), None) => {
                let key = OutcomeKey::parse(outcome);
                let key = key.map_err(|_| RequirementError::Key(outcome.to_owned()))?;
                let named = named(&ShareFigure::NAMED, figure);
                let unknown = || DriftRequirementError::OfOutcome(figure.to_owned());
                (question, Figure::Outcome(key, named.ok_or_else(unknown)?))
            }
            (_, _, _, _) => return Err(RequirementError::Path(path.to_owned()).into()),
        };
        let key = QuestionKey::parse(question);
        Ok(Self {
            question: key.map_err(|_| RequirementError::Key(question.to_owned()))?,
            figure,
            relation,
            bound,
        })
    }

    /// The question whose drift is bounded.
    pub fn question(&self) -> &QuestionKey {
        &self.question
    }

    /// Compares the figure with the bound. `figures` are those of [`DriftRequirement::question`].
    /// A figure is undefined, and does not hold, if a window has no answers; there is no alarm then.
    ///
    /// # Errors
    /// The question has no such outcome.
    pub fn check(
        &self,
        figures: &RequiredFigures<'_>,
    ) -> Result<CheckedRequirement, DriftRequirementError> {
        let value = match &self.figure {
            Figure::Question(figure) => figure.value(figures),
            Figure::Outcome(key, figure) => {
                let mut shares = figures.drift.shares.iter();
                let share = shares.find(|share| share.outcome == *key);
                let share = share.ok_or_else(|| DriftRequirementError::Outcome {
                    question: self.question.clone(),
                    outcome: key.clone(),
                })?;
                let (change, interval) = (share.change, share.change.interval());
                match figure {
                    ShareFigure::Now => change.now.value(),
                    ShareFigure::Difference => change.difference(),
                    ShareFigure::Change => change.difference().map(f64::abs),
                    ShareFigure::Low => interval.map(|interval| interval.low),
                    ShareFigure::High => interval.map(|interval| interval.high),
                }
            }
        };
        Ok(CheckedRequirement {
            value,
            holds: value.is_some_and(|value| self.relation.holds(value, self.bound)),
        })
    }
}

impl QuestionFigure {
    fn value(self, figures: &RequiredFigures<'_>) -> Option<f64> {
        let probabilities = figures.drift.probabilities;
        match self {
            Self::Alarm => Some(to_f64(figures.is_alarm.into())),
            Self::Psi => probabilities.map(|it| it.psi),
            Self::Js => probabilities.map(|it| it.js),
            Self::NewModels => Some(to_f64(figures.new_models)),
        }
    }
}

/// The requirement in the form that [`DriftRequirement::parse`] reads, without spaces.
impl fmt::Display for DriftRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.", self.question)?;
        match &self.figure {
            Figure::Question(figure) => f.write_str(name(&QuestionFigure::NAMED, *figure))?,
            Figure::Outcome(key, figure) => {
                write!(f, "{key}.{}", name(&ShareFigure::NAMED, *figure))?;
            }
        }
        write!(f, "{}{}", self.relation.sign(), self.bound)
    }
}

fn named<T: Copy>(all: &[(&'static str, T)], name: &str) -> Option<T> {
    let mut all = all.iter();
    all.find(|(known, _)| *known == name).map(|(_, it)| *it)
}

fn name<T: Copy + PartialEq>(all: &[(&'static str, T)], figure: T) -> &'static str {
    let mut all = all.iter();
    all.find(|(_, known)| *known == figure)
        .map_or("", |(name, _)| *name)
}

/// All names, separated by commas.
fn names<T>(all: &[(&'static str, T)]) -> String {
    let names: Vec<_> = all.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}
