//! Requirements that a team sets for its prism, such as `topic.accuracy>=0.9`.

use std::fmt;

use refract_domain::key::{OutcomeKey, QuestionKey};
use thiserror::Error;

use crate::flips::SensitivityMeasures;
use crate::measures::{OutcomeMeasures, QuestionMeasures, ScaleMeasures, ratio};
use crate::robustness::PerturbedBy;

/// A bound on one measure of a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    question: QuestionKey,
    measured: Measured,
    bound: Bound,
}

/// The measure of a requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Measured {
    Question(&'static QuestionMeasure),
    Outcome(OutcomeKey, &'static OutcomeMeasure),
    Robustness(PerturbedBy, &'static RobustnessMeasure),
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
    #[error("`{0}` is no measure of a question; there are {known}", known = NamedMeasure::names(&OF_QUESTION))]
    Measure(String),
    /// No measure of an outcome has this name.
    #[error(
        "`{0}` is no measure of an outcome; there are {known}, and under perturbations {robust}",
        known = NamedMeasure::names(&OF_OUTCOME),
        robust = NamedMeasure::names(&OF_ROBUSTNESS)
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
        let (path, bound) = Bound::split(text)?;
        let mut parts = path.split('.').map(str::trim);
        let (question, measured) = match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(question), Some(measure), None, None) => {
                let known = NamedMeasure::find(&OF_QUESTION, measure);
                let known = known.ok_or_else(|| RequirementError::Measure(measure.to_owned()))?;
                (question, Measured::Question(known))
            }
            (Some(question), Some(part), Some(measure), None) => {
                let measured = match NamedMeasure::find(&OF_ROBUSTNESS, measure) {
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
            bound,
        })
    }

    fn of_outcome(outcome: &str, measure: &str) -> Result<Measured, RequirementError> {
        let key = OutcomeKey::parse(outcome);
        let key = key.map_err(|_| RequirementError::Key(outcome.to_owned()))?;
        let known = NamedMeasure::find(&OF_OUTCOME, measure);
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
            Measured::Robustness(_, measure) => (measure.value)(measures),
            Measured::Question(_) | Measured::Outcome(_, _) => None,
        };
        self.bound.check(value)
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
                let value = (measure.value)(measures);
                value.map_err(|NotAScale| RequirementError::Scale {
                    question: self.question.clone(),
                    measure: measure.name,
                })?
            }
            Measured::Outcome(key, measure) => {
                let mut outcomes = measures.outcomes.iter();
                let outcome = outcomes.find(|outcome| outcome.key == *key);
                let outcome = outcome.ok_or_else(|| self.unknown_outcome(key, measures))?;
                (measure.value)(outcome)
            }
            Measured::Robustness(_, _) => None,
        };
        Ok(self.bound.check(value))
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
            Measured::Question(measure) => f.write_str(measure.name)?,
            Measured::Outcome(key, measure) => write!(f, "{key}.{}", measure.name)?,
            Measured::Robustness(by, measure) => {
                write!(f, "{}.{}", by.name(), measure.name)?;
            }
        }
        write!(f, "{}", self.bound)
    }
}

/// A number, and how the value of a requirement is compared with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bound {
    relation: Relation,
    number: f64,
}

impl Bound {
    /// The path before the operator, and the bound.
    pub(crate) fn split(text: &str) -> Result<(&str, Self), RequirementError> {
        // the two operators of two characters come first: the others are their prefixes
        let split = Relation::ALL.into_iter().find_map(|relation| {
            let (path, number) = text.split_once(relation.sign())?;
            Some((path.trim(), relation, number.trim()))
        });
        let (path, relation, written) =
            split.ok_or_else(|| RequirementError::Operator(text.to_owned()))?;
        let number = written
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite());
        let number = number.ok_or_else(|| RequirementError::Bound(written.to_owned()))?;
        Ok((path, Self { relation, number }))
    }

    /// Whether a value satisfies the bound.
    pub(crate) fn check(self, value: Option<f64>) -> CheckedRequirement {
        let holds = |value: f64| match self.relation {
            Relation::AtLeast => value >= self.number,
            Relation::AtMost => value <= self.number,
            Relation::Above => value > self.number,
            Relation::Below => value < self.number,
        };
        CheckedRequirement {
            value,
            holds: value.is_some_and(holds),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.relation.sign(), self.number)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
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
    fn sign(self) -> &'static str {
        match self {
            Self::AtLeast => ">=",
            Self::AtMost => "<=",
            Self::Above => ">",
            Self::Below => "<",
        }
    }
}

/// A measure by its name in a requirement, which no other measure of its kind has.
#[derive(Debug)]
pub(crate) struct NamedMeasure<F> {
    pub(crate) name: &'static str,
    /// Returns the measure's value; `None` when it is undefined.
    pub(crate) value: F,
}

/// A measure over level numbers was named for a question that is not a scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NotAScale;

/// A measure of a whole question.
type QuestionMeasure = NamedMeasure<fn(&QuestionMeasures) -> Result<Option<f64>, NotAScale>>;
/// A measure of one outcome.
type OutcomeMeasure = NamedMeasure<fn(&OutcomeMeasures) -> Option<f64>>;
/// A measure of the answers under perturbations.
type RobustnessMeasure = NamedMeasure<fn(&SensitivityMeasures) -> Option<f64>>;

static OF_QUESTION: [QuestionMeasure; 15] = [
    NamedMeasure::new("accuracy", |of| Ok(of.accuracy.value())),
    NamedMeasure::new("accuracy_low", |of| {
        Ok(of.accuracy.interval().map(|interval| interval.low))
    }),
    NamedMeasure::new("accuracy_high", |of| {
        Ok(of.accuracy.interval().map(|interval| interval.high))
    }),
    NamedMeasure::new("auc", |of| Ok(of.auc)),
    NamedMeasure::new("answered", |of| Ok(ratio(of.answered, of.marks))),
    NamedMeasure::new("macro_f1", |of| Ok(of.macro_average.f1)),
    NamedMeasure::new("macro_precision", |of| Ok(of.macro_average.precision)),
    NamedMeasure::new("macro_recall", |of| Ok(of.macro_average.recall)),
    NamedMeasure::new("brier", |of| Ok(of.brier)),
    NamedMeasure::new("log_loss", |of| Ok(of.log_loss)),
    NamedMeasure::new("ece", |of| Ok(of.ece)),
    NamedMeasure::new("coverage_area", |of| Ok(of.coverage.area)),
    NamedMeasure::new("mean_absolute_error", |of| {
        Ok(scale(of)?.mean_absolute_error)
    }),
    NamedMeasure::new("within_one", |of| Ok(scale(of)?.within_one)),
    NamedMeasure::new("quadratic_kappa", |of| Ok(scale(of)?.quadratic_kappa)),
];

static OF_OUTCOME: [OutcomeMeasure; 3] = [
    NamedMeasure::new("precision", |of| of.precision),
    NamedMeasure::new("recall", |of| of.recall),
    NamedMeasure::new("f1", |of| of.f1),
];

static OF_ROBUSTNESS: [RobustnessMeasure; 5] = [
    NamedMeasure::new("flip_rate", |of| of.flip_rate.value()),
    NamedMeasure::new("flip_rate_low", |of| {
        of.flip_rate.interval().map(|interval| interval.low)
    }),
    NamedMeasure::new("flip_rate_high", |of| {
        of.flip_rate.interval().map(|interval| interval.high)
    }),
    NamedMeasure::new("movement", |of| of.mean_total_variation),
    NamedMeasure::new("largest_movement", |of| of.largest_total_variation),
];

fn scale(measures: &QuestionMeasures) -> Result<&ScaleMeasures, NotAScale> {
    measures.scale.as_ref().ok_or(NotAScale)
}

impl<F> NamedMeasure<F> {
    pub(crate) const fn new(name: &'static str, value: F) -> Self {
        Self { name, value }
    }

    /// The measure with this name.
    pub(crate) fn find<'m>(measures: &'m [Self], name: &str) -> Option<&'m Self> {
        measures.iter().find(|measure| measure.name == name)
    }

    /// All names, separated by commas.
    pub(crate) fn names(measures: &[Self]) -> String {
        let names: Vec<_> = measures.iter().map(|measure| measure.name).collect();
        names.join(", ")
    }
}

impl<F> PartialEq for NamedMeasure<F> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl<F> Eq for NamedMeasure<F> {}
