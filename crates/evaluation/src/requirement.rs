//! Requirements that a team sets for its prism, such as `topic.accuracy>=0.9`.

mod measure;

use std::fmt;

use refract_domain::key::{OutcomeKey, QuestionKey};
use thiserror::Error;

use self::measure::{Measure, NotAScale, OutcomeMeasure, RobustnessMeasure};
use crate::flips::SensitivityMeasures;
use crate::measures::QuestionMeasures;
use crate::robustness::PerturbedBy;

/// A bound on one measure of a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    question: QuestionKey,
    measured: Measured,
    relation: Relation,
    bound: f64,
}

/// The measure of a requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Measured {
    Question(Measure),
    Outcome(OutcomeKey, OutcomeMeasure),
    Robustness(PerturbedBy, RobustnessMeasure),
}

/// The outcome of checking a requirement.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CheckedRequirement {
    /// The measure's value; `None` when it is undefined, such as a precision without predictions.
    pub value: Option<f64>,
    /// Whether the value satisfies the bound. An undefined value does not.
    pub holds: bool,
}

/// Why a requirement cannot be read or checked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RequirementError {
    /// The text has no operator.
    #[error("`{0}` has no operator: write >=, >, <= or <, as in topic.accuracy>=0.9")]
    Operator(String),
    /// The part before the operator is not a path of two or three parts.
    #[error(
        "`{0}` names no measure of a question: write question.measure, as in topic.accuracy, or \
         question.outcome.measure, as in topic.billing.recall"
    )]
    Path(String),
    /// The part for the question or outcome is not a valid key.
    #[error("`{0}` is no key of a question or outcome")]
    Key(String),
    /// No measure of a question has this name.
    #[error("`{0}` is no measure of a question; there are {known}", known = Measure::names())]
    Measure(String),
    /// No measure of an outcome has this name.
    #[error(
        "`{0}` is no measure of an outcome; there are {known}, and under perturbations {robust}",
        known = OutcomeMeasure::names(),
        robust = RobustnessMeasure::names()
    )]
    OfOutcome(String),
    /// The part before a measure of robustness names no perturbation.
    #[error("`{0}` is no perturbation; there are {known}", known = PerturbedBy::names())]
    Perturbation(String),
    /// The part after the operator is not a number.
    #[error("`{0}` is no number to compare with: write one such as 0.9")]
    Bound(String),
    /// The question has no such outcome.
    #[error("question `{question}` has no outcome `{outcome}`; there are {known}")]
    Outcome {
        /// The question's key.
        question: QuestionKey,
        /// The outcome that the question lacks.
        outcome: OutcomeKey,
        /// The question's outcomes, separated by commas.
        known: String,
    },
    /// The measure is for scales, and the question is not a scale.
    #[error("`{measure}` is for scales, and question `{question}` is none")]
    Scale {
        /// The question's key.
        question: QuestionKey,
        /// The measure's name.
        measure: &'static str,
    },
}

impl Requirement {
    /// Reads a requirement: `question.measure`, `question.outcome.measure` or
    /// `question.perturbation.measure`, an operator (`>=`,
    /// `>`, `<=` or `<`) and a number, with or without spaces around the operator.
    ///
    /// # Errors
    /// The part that is wrong, and what is allowed there.
    pub fn parse(text: &str) -> Result<Self, RequirementError> {
        let (path, relation, bound) =
            Relation::split(text).ok_or_else(|| RequirementError::Operator(text.to_owned()))?;
        let number = bound.parse().ok().filter(|bound: &f64| bound.is_finite());
        let bound = number.ok_or_else(|| RequirementError::Bound(bound.to_owned()))?;
        let mut parts = path.split('.').map(str::trim);
        let (question, measured) = match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(question), Some(measure), None, None) => {
                let known = Measure::parse(measure);
                let known = known.ok_or_else(|| RequirementError::Measure(measure.to_owned()))?;
                (question, Measured::Question(known))
            }
            (Some(question), Some(part), Some(measure), None) => {
                let measured = match RobustnessMeasure::parse(measure) {
                    Some(known) => {
                        let by = PerturbedBy::named(part);
                        let by = by.ok_or_else(|| RequirementError::Perturbation(part.to_owned()));
                        Measured::Robustness(by?, known)
                    }
                    None => Self::of_outcome(part, measure)?,
                };
                (question, measured)
            }
            (_, _, _, _) => return Err(RequirementError::Path(path.to_owned())),
        };
        let key = QuestionKey::parse(question);
        Ok(Self {
            question: key.map_err(|_| RequirementError::Key(question.to_owned()))?,
            measured,
            relation,
            bound,
        })
    }

    fn of_outcome(outcome: &str, measure: &str) -> Result<Measured, RequirementError> {
        let key = OutcomeKey::parse(outcome);
        let key = key.map_err(|_| RequirementError::Key(outcome.to_owned()))?;
        let known = OutcomeMeasure::parse(measure);
        let known = known.ok_or_else(|| RequirementError::OfOutcome(measure.to_owned()))?;
        Ok(Measured::Outcome(key, known))
    }

    /// The perturbations whose answers are measured; `None` for a measure of correctness.
    pub fn perturbed_by(&self) -> Option<PerturbedBy> {
        match self.measured {
            Measured::Robustness(by, _) => Some(by),
            Measured::Question(_) | Measured::Outcome(_, _) => None,
        }
    }

    /// Compares a measure of robustness with the bound. `measures` are those of the question under
    /// [`Requirement::perturbed_by`]. A measure of correctness is undefined here.
    pub fn check_robustness(&self, measures: &SensitivityMeasures) -> CheckedRequirement {
        let value = match self.measured {
            Measured::Robustness(_, measure) => measure.value(measures),
            Measured::Question(_) | Measured::Outcome(_, _) => None,
        };
        self.compared(value)
    }

    /// The question to measure.
    pub fn question(&self) -> &QuestionKey {
        &self.question
    }

    /// Compares a measure of correctness with the bound. `measures` are those of
    /// [`Requirement::question`]. A measure of robustness is undefined here.
    ///
    /// # Errors
    /// The question has no such outcome, or is not a scale.
    pub fn check(
        &self,
        measures: &QuestionMeasures,
    ) -> Result<CheckedRequirement, RequirementError> {
        let value = match &self.measured {
            Measured::Question(measure) => {
                let value = measure.value(measures);
                value.map_err(|NotAScale| RequirementError::Scale {
                    question: self.question.clone(),
                    measure: measure.name(),
                })?
            }
            Measured::Outcome(key, measure) => {
                let mut outcomes = measures.outcomes.iter();
                let outcome = outcomes.find(|outcome| outcome.key == *key);
                let outcome = outcome.ok_or_else(|| self.unknown_outcome(key, measures))?;
                measure.value(outcome)
            }
            Measured::Robustness(_, _) => None,
        };
        Ok(self.compared(value))
    }

    fn compared(&self, value: Option<f64>) -> CheckedRequirement {
        CheckedRequirement {
            value,
            holds: value.is_some_and(|value| self.relation.holds(value, self.bound)),
        }
    }

    fn unknown_outcome(&self, key: &OutcomeKey, measures: &QuestionMeasures) -> RequirementError {
        let known = measures.outcomes.iter();
        let known: Vec<_> = known.map(|outcome| outcome.key.as_str()).collect();
        RequirementError::Outcome {
            question: self.question.clone(),
            outcome: key.clone(),
            known: known.join(", "),
        }
    }
}

/// The requirement in the form that [`Requirement::parse`] reads, without spaces:
/// `topic.accuracy>=0.9`.
impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.", self.question)?;
        match &self.measured {
            Measured::Question(measure) => f.write_str(measure.name())?,
            Measured::Outcome(key, measure) => write!(f, "{key}.{}", measure.name())?,
            Measured::Robustness(by, measure) => {
                write!(f, "{}.{}", by.name(), measure.name())?;
            }
        }
        write!(f, "{}{}", self.relation.sign(), self.bound)
    }
}

/// How the value of a requirement is compared with its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// `>=`
    AtLeast,
    /// `>`
    Above,
    /// `<=`
    AtMost,
    /// `<`
    Below,
}

impl Relation {
    const ALL: [Self; 4] = [Self::AtLeast, Self::AtMost, Self::Above, Self::Below];

    /// The operator as it is written.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::AtLeast => ">=",
            Self::AtMost => "<=",
            Self::Above => ">",
            Self::Below => "<",
        }
    }

    /// The text before the operator, the operator, and the text after it.
    pub(crate) fn split(text: &str) -> Option<(&str, Self, &str)> {
        // the two operators of two characters come first: the others are their prefixes
        Self::ALL.into_iter().find_map(|relation| {
            let (path, bound) = text.split_once(relation.sign())?;
            Some((path.trim(), relation, bound.trim()))
        })
    }

    /// Whether a value satisfies the bound.
    pub(crate) fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Self::AtLeast => value >= bound,
            Self::AtMost => value <= bound,
            Self::Above => value > bound,
            Self::Below => value < bound,
        }
    }
}
