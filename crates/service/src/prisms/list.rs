//! Finds and lists the prisms of an account, with their versions, lenses and numbers of results.

use std::sync::Arc;

use chrono::Utc;
use refract_domain::ids::{AccountId, PersonId, PrismId};
use refract_domain::prism::slug::PrismSelector;
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_persistence::{Prism, PrismHistory};

use super::PrismError;
use crate::InternalError;
use crate::prisms::Prisms;
use crate::results::counts::PrismCounts;

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
