//! The prisms of an account with their numbers of results.

use chrono::Utc;
use refract_domain::ids::{AccountId, PersonId};
use refract_persistence::Prism;

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
}
