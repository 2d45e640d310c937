//! Prisms and their lenses: what operators and people do to them.

mod apply;
mod draft;
mod example_texts;
mod examples;
mod history;
mod list;
mod planned_definition;
mod save;
pub(crate) mod text_hash;
pub(crate) mod trial;
mod trial_texts;
pub(crate) mod versions;

use refract_domain::prism::VersionNumber;
use refract_domain::problem::Problems;
use refract_persistence::PersistenceError;

pub use self::apply::{Apply, ApplyError};
pub use self::draft::{NextVersion, SavedMeanwhile, VersionDraft};
pub use self::example_texts::{
    AskedExamples, CheckedExample, ExampleError, ExampleInput, ExampleState, ExampleTexts,
    ExpectedAnswer,
};
pub use self::examples::{
    EXAMPLES, ExamplePrism, NEW_PRISM, SUPPORT_TRIAGE, find_example, sample_texts,
};
pub use self::history::{
    COMPARED_VERSIONS, ChangeOfPrism, PrismChange, PrismOverview, VersionOverview,
};
pub use self::list::{FirstSteps, ListedPrism};
pub use self::planned_definition::{
    AppliedDefinition, ApplyOutcome, DefinitionError, DefinitionFile,
};
pub use self::trial::{DraftTrialCost, TRIAL_TEXTS, TrialError, TrialPair};
pub use self::trial_texts::{TRIAL_CANDIDATES, TrialTexts};
pub use refract_persistence::{ExampleText, Prism, PrismHistory, SavedExamples};

use crate::{InternalError, Refract};

/// Attempts at a change that conflicts with other changes of the prism.
pub(crate) const ATTEMPTS: usize = 16;

/// The use cases of prisms, from [`Refract::prisms`](crate::Refract::prisms).
#[derive(Clone, Copy)]
pub struct Prisms<'a> {
    pub(crate) refract: &'a Refract,
}

impl Refract {
    /// Prisms and their versions.
    pub fn prisms(&self) -> Prisms<'_> {
        Prisms { refract: self }
    }
}

/// A change to a prism was refused; nothing was saved.
#[derive(Debug, thiserror::Error)]
pub enum PrismError {
    /// No such prism in the account.
    #[error("Prism not found")]
    NotFound,
    /// The prism has no such version.
    #[error("Prism version not found")]
    VersionNotFound,
    /// The prism or lens file breaks rules.
    #[error(transparent)]
    Invalid(#[from] Problems),
    /// The prism's latest version has the highest possible number.
    #[error("the prism has its highest version already")]
    NoMoreVersions,
    /// Another version was saved after the one that the change is based on.
    #[error(
        "version {latest} was saved meanwhile: look at what it changes, and save again on top of it"
    )]
    VersionMeanwhile {
        /// The prism's latest version now.
        latest: VersionNumber,
    },
    /// The lens was changed after the one that the change is based on.
    #[error("the lens was changed meanwhile: look at it, and save again on top of it")]
    LensMeanwhile,
    /// The history of the prism's lens has no such revision.
    #[error("the history of the lens has no such revision")]
    LensRevisionNotFound,
    /// Every attempt conflicted with another change of the prism.
    #[error("the prism is being changed by others: try again")]
    Contended,
    /// The database failed.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
}

impl From<InternalError> for PrismError {
    fn from(error: InternalError) -> Self {
        match error {
            InternalError::Persistence(error) => Self::Persistence(error),
            InternalError::VersionMissing => Self::VersionNotFound,
            InternalError::LensKeepsMoving | InternalError::NoModel => Self::Contended,
        }
    }
}
