//! The history of a prism's lens: what it was, since when, by whom and why. Every state can be put
//! back.

use chrono::{DateTime, Utc};
use refract_authoring::lens_file;
use refract_domain::event::EventDetail;
use refract_domain::ids::{AccountId, PersonId};
use refract_domain::lens::Lens;
use refract_domain::prism::slug::PrismSelector;
use refract_persistence::LensRevision;

use crate::lenses::{LensSaveOutcome, Lenses, PrismLens};
use crate::people::ActorName;
use crate::people::accounts::AccountActor;
use crate::prisms::PrismError;

/// The states of a prism's lens that were recorded.
pub struct LensHistory {
    /// The prism with its current lens.
    pub lens: PrismLens,
    /// The newest states, newest first. A state is missing if a node of an earlier release saved
    /// two lenses in a row.
    pub states: Vec<LensState>,
}

/// A lens that a prism has or had.
#[derive(Clone, Debug, PartialEq)]
pub struct LensState {
    /// The number of the revision.
    pub revision: i32,
    /// The lens.
    pub lens: Lens,
    /// Who saved the lens, when and why; `None` if that was not recorded.
    pub saved: Option<LensStateOrigin>,
}

/// Who saved a lens, when and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LensStateOrigin {
    /// The person; `None` for the terminal.
    pub actor: Option<ActorName>,
    /// When the lens was saved.
    pub made_at: DateTime<Utc>,
    /// The reason, if one was given.
    pub note: Option<EventDetail>,
}

impl Lenses<'_> {
    /// The history of a prism's lens, with its newest states, at most `most`.
    ///
    /// # Errors
    /// When there is no such prism, or the database fails.
    pub async fn history(
        self,
        account: AccountId,
        prism: &PrismSelector,
        most: u32,
    ) -> Result<LensHistory, PrismError> {
        let lens = self.find(account, prism).await?;
        let database = &self.refract.database;
        let revisions = database.list_lens_revisions(lens.prism.id, most).await?;
        let states = self.named(account, revisions).await?;
        Ok(LensHistory { lens, states })
    }

    /// A recorded state of a prism's lens and the one before it, which is `None` if it was not
    /// recorded.
    ///
    /// # Errors
    /// When there is no such prism, its history has no such revision, or the database fails.
    pub async fn state(
        self,
        account: AccountId,
        prism: &PrismSelector,
        revision: i32,
    ) -> Result<(LensState, Option<LensState>), PrismError> {
        let prism = self.refract.prisms().find(account, prism).await?;
        let database = &self.refract.database;
        let found = database.find_lens_revision(prism.id, revision).await?;
        let found = found.ok_or(PrismError::LensRevisionNotFound)?;
        let before = revision.saturating_sub(1);
        let before = database.find_lens_revision(prism.id, before).await?;
        let both = [Some(found), before].into_iter().flatten().collect();
        let mut states = self.named(account, both).await?.into_iter();
        let state = states.next().ok_or(PrismError::LensRevisionNotFound)?;
        Ok((state, states.next()))
    }

    /// Makes a recorded state the prism's lens again, if it still meets the rules of saving: a
    /// question may be gone. If `based_on`, a revision of the lens, is given, only that revision is
    /// replaced: to undo a change is to put back the state before it, based on the change.
    ///
    /// # Errors
    /// When there is no such prism, its history has no such revision, the columns break rules, the
    /// lens has another revision than `based_on`, or the database fails.
    pub async fn put_back(
        self,
        actor: &AccountActor,
        prism: &PrismSelector,
        revision: i32,
        based_on: Option<i32>,
    ) -> Result<LensSaveOutcome, PrismError> {
        let found = self.refract.prisms().find(actor.account(), prism).await?;
        let database = &self.refract.database;
        let state = database.find_lens_revision(found.id, revision).await?;
        let state = state.ok_or(PrismError::LensRevisionNotFound)?;
        match state.lens {
            Lens::Automatic => self.reset(actor, prism, based_on).await,
            Lens::Custom(columns) => {
                let file = lens_file::write(&columns);
                self.set(actor, prism, &file, based_on).await
            }
        }
    }

    /// Adds the names of people to revisions.
    async fn named(
        self,
        account: AccountId,
        revisions: Vec<LensRevision>,
    ) -> Result<Vec<LensState>, PrismError> {
        let made_by = |revision: &LensRevision| revision.saved.as_ref()?.made_by;
        let people: Vec<PersonId> = revisions.iter().filter_map(made_by).collect();
        let names = self.refract.people().names(account, &people).await?;
        let state = |revision: LensRevision| LensState {
            revision: revision.revision,
            lens: revision.lens,
            saved: revision.saved.map(|saved| LensStateOrigin {
                actor: saved.made_by.and_then(|person| names.get(&person).cloned()),
                made_at: saved.made_at,
                note: saved.note,
            }),
        };
        Ok(revisions.into_iter().map(state).collect())
    }
}
