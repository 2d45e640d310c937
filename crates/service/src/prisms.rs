//! Prisms and their lenses: what operators and people do to them.

mod apply;
mod example_texts;
mod examples;
mod history;
mod planned_definition;
mod save;
pub(crate) mod text_hash;
pub(crate) mod trial;
pub(crate) mod versions;

use std::sync::Arc;

use chrono::Utc;
use refract_domain::ids::{AccountId, PersonId, PrismId};
use refract_domain::prism::slug::PrismSelector;
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::problem::Problems;
use refract_persistence::PersistenceError;

pub use self::apply::{Apply, ApplyError};
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
pub use self::planned_definition::{
    AppliedDefinition, ApplyOutcome, DefinitionError, DefinitionFile,
};
pub use self::save::{NextVersion, SavedMeanwhile, VersionDraft};
pub use self::trial::{DraftTrialCost, TrialError};
pub use refract_persistence::{ExampleText, Prism, PrismHistory, SavedExamples};

use crate::results::counts::PrismCounts;
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

/// A prism with its numbers of results.
#[derive(Clone, Debug)]
pub struct ListedPrism {
    /// The prism, archived or not.
    pub prism: Prism,
    /// Counts of its results.
    pub counts: PrismCounts,
}

/// What a person who is new to the app has not done yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstSteps {
    /// Nobody tried a text as this person.
    pub try_text: bool,
    /// No prism of the account has a lens that was ever changed.
    pub move_cutoff: bool,
    /// The account has at most the one prism that it began with.
    pub make_prism: bool,
}

impl FirstSteps {
    /// Whether nothing is left to do.
    pub fn are_done(self) -> bool {
        !self.try_text && !self.move_cutoff && !self.make_prism
    }
}

impl Prisms<'_> {
    /// The first steps that a person has not taken yet, given the prisms of the account.
    pub async fn first_steps(
        self,
        person: PersonId,
        prisms: &[ListedPrism],
    ) -> Result<FirstSteps, InternalError> {
        let has_tried = self.refract.database.has_results_of(person).await?;
        Ok(FirstSteps {
            try_text: !has_tried,
            move_cutoff: prisms.iter().all(|listed| listed.prism.lens_revision == 0),
            make_prism: prisms.len() < 2,
        })
    }

    /// The prisms of an account with their numbers of results, oldest first, archived ones
    /// included.
    pub async fn list(self, account: AccountId) -> Result<Vec<ListedPrism>, InternalError> {
        let prisms = self.refract.database.list_prisms(account).await?;
        let counts = self.refract.results().counts(account, Utc::now()).await?;
        let listed = prisms.into_iter().map(|prism| ListedPrism {
            counts: counts.of_prism(prism.id).clone(),
            prism,
        });
        Ok(listed.collect())
    }

    /// A prism by slug or id, archived or not.
    ///
    /// # Errors
    /// When there is no such prism in the account, or the database fails.
    pub async fn find(
        self,
        account: AccountId,
        prism: &PrismSelector,
    ) -> Result<Prism, PrismError> {
        self.refract
            .database
            .find_prism(account, prism)
            .await?
            .ok_or(PrismError::NotFound)
    }

    /// A version of a prism, by its number.
    ///
    /// # Errors
    /// When there is no such version, or the database fails.
    pub async fn find_version(
        self,
        prism: &Prism,
        version: VersionNumber,
    ) -> Result<Arc<PrismVersion>, PrismError> {
        let database = &self.refract.database;
        let found = database.find_version(prism.id, version).await?;
        found.ok_or(PrismError::VersionNotFound)
    }

    /// All prisms of an account, archived or not.
    pub async fn all(self, account: AccountId) -> Result<Vec<Prism>, PrismError> {
        Ok(self.refract.database.list_prisms(account).await?)
    }

    /// A prism with all its versions and its lens.
    ///
    /// # Errors
    /// When there is no such prism, or the database fails.
    pub async fn with_versions(self, prism: PrismId) -> Result<PrismHistory, PrismError> {
        let found = self.refract.database.prism_history(prism).await?;
        found.ok_or(PrismError::NotFound)
    }
}
