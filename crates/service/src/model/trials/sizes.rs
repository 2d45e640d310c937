//! How much a server takes in one request: trials of falling size, until one is answered.

use refract_model_gateway::ModelError;

use super::material;
use crate::model::trial::{FailedTrial, Trial};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeUnit {
    /// Outcomes of one question, the built-in ones included.
    Outcomes,
    /// Questions of one request.
    Questions,
}

/// The largest size that a server took.
pub struct TakenSize {
    /// What is counted.
    pub unit: SizeUnit,
    /// The largest size that was answered.
    pub taken: usize,
    /// Whether this is all that a prism can ask for.
    pub is_all: bool,
    /// The smallest trial that was refused; also `None` if the server answered its questions in
    /// several requests.
    pub refused: Option<FailedTrial>,
}

/// The sizes that are tried, largest first, each with its trial's name.
type Sizes = [(usize, &'static str)];

/// The caps of servers that were met, from what a prism can ask for down.
const OUTCOMES: &Sizes = &[
    (255, "choice of 255"),
    (128, "choice of 128"),
    (64, "choice of 64"),
    (26, "choice of 26"),
    (20, "choice of 20"),
];

/// As [`OUTCOMES`]; a server that does not answer two questions at once cannot serve.
const QUESTIONS: &Sizes = &[
    (100, "100 questions"),
    (64, "64 questions"),
    (32, "32 questions"),
    (2, "2 questions"),
];

/// The sizes that are left to try.
pub(super) struct SizeSearch {
    unit: SizeUnit,
    size: usize,
    name: &'static str,
    smaller: &'static Sizes,
    refused: Option<FailedTrial>,
}

/// What follows a trial of a size.
pub(super) enum SizeStep {
    /// The largest size is known.
    Taken(TakenSize),
    /// A smaller size is tried next.
    Smaller(SizeSearch),
    /// The server cannot serve.
    Failed(FailedTrial),
}

impl SizeSearch {
    /// Begins with the largest size.
    pub(super) fn begin(unit: SizeUnit) -> Option<Self> {
        let sizes = match unit {
            SizeUnit::Outcomes => OUTCOMES,
            SizeUnit::Questions => QUESTIONS,
        };
        Self::of(unit, sizes, None)
    }

    fn of(unit: SizeUnit, sizes: &'static Sizes, refused: Option<FailedTrial>) -> Option<Self> {
        let (&(size, name), smaller) = sizes.split_first()?;
        Some(Self {
            unit,
            size,
            name,
            smaller,
            refused,
        })
    }

    pub(super) fn unit(&self) -> SizeUnit {
        self.unit
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn trial(&self) -> Trial {
        match self.unit {
            SizeUnit::Outcomes => material::many_outcomes(self.name, self.size),
            SizeUnit::Questions => material::many_questions(self.name, self.size),
        }
    }

    /// The server answered this size.
    pub(super) fn answered(self) -> SizeStep {
        let largest = match self.unit {
            SizeUnit::Outcomes => OUTCOMES.first(),
            SizeUnit::Questions => QUESTIONS.first(),
        };
        SizeStep::Taken(TakenSize {
            unit: self.unit,
            taken: self.size,
            is_all: largest.is_some_and(|(largest, _)| *largest == self.size),
            refused: self.refused,
        })
    }

    /// The server answered, but in more requests than it was asked for.
    pub(super) fn split(self) -> SizeStep {
        let (unit, smaller) = (self.unit, self.smaller);
        match Self::of(unit, smaller, None) {
            Some(next) => SizeStep::Smaller(next),
            None => SizeStep::Taken(TakenSize {
                unit,
                taken: 1,
                is_all: false,
                refused: None,
            }),
        }
    }

    /// The server did not answer this size. After a size that took too long one is left out: nobody
    /// waits for all of them.
    pub(super) fn refused(self, failed: FailedTrial) -> SizeStep {
        if !may_be_too_much(&failed.failure) {
            return SizeStep::Failed(failed);
        }
        let smaller = match (&failed.failure, self.smaller) {
            (ModelError::TimedOut(_) | ModelError::TimedOutBehind(_), [_, rest @ ..])
                if !rest.is_empty() =>
            {
                rest
            }
            (_, smaller) => smaller,
        };
        let Some((&(size, name), smaller)) = smaller.split_first() else {
            return SizeStep::Failed(failed);
        };
        SizeStep::Smaller(Self {
            unit: self.unit,
            size,
            name,
            smaller,
            refused: Some(failed),
        })
    }
}

/// Whether a smaller request might be answered.
fn may_be_too_much(failure: &ModelError) -> bool {
    matches!(
        failure,
        ModelError::Status(400 | 413 | 414 | 422 | 500)
            | ModelError::ContextTooSmall(_)
            | ModelError::ParameterRefused { .. }
            | ModelError::ReportedError
            | ModelError::TooLarge
            | ModelError::TimedOut(_)
            | ModelError::TimedOutBehind(_)
            | ModelError::TooManyOptions(_)
            | ModelError::TooManyQuestions { .. }
            | ModelError::Unanswered(_)
            | ModelError::OffCodes { .. }
    )
}
