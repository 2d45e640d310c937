//! Changes the lens of a prism, and keeps its history: what it was, since when, by whom and why. Every
//! state can be put back.

use refract_boxed_futures::boxed;
use std::slice;

use chrono::{DateTime, Utc};
use refract_authoring::lens_file;
use refract_domain::event::{EventDetail, LensChangeDetails};
use refract_domain::ids::{AccountId, PersonId, PrismId};
use refract_domain::lens::{Column, Lens};
use refract_domain::prism::{PrismSelector, PrismVersion};
use refract_domain::problem::Problems;
use refract_evaluation::counting::{CutoffReach, UnreachableCutoff};
use refract_identity::people::{AccountActor, ActorName};
use refract_persistence::{LensRevision, WriteOutcome};

use crate::InternalError;
use crate::lenses::prism_lens::CountedResult;
use crate::lenses::{DRAFT_RESULTS, Lenses, PrismLens};
use crate::prisms::{ATTEMPTS, PrismError};

/// The revision of a new prism's lens.
const FIRST_REVISION: i32 = 0;

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

#[boxed]
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

/// The outcome of saving a lens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LensSaveOutcome {
    /// The lens is in force, as this revision.
    Saved {
        /// The number of the new revision.
        revision: i32,
    },
    /// The prism has this lens already.
    Unchanged,
}

#[boxed]
impl Lenses<'_> {
    /// Saves a lens file as the prism's lens. If `based_on`, a revision of the lens, is given, the
    /// file replaces only that revision. Setting the lens that the prism already has changes
    /// nothing.
    ///
    /// # Errors
    /// When there is no such prism, the file breaks rules, the lens has another revision than
    /// `based_on`, or the database fails.
    pub async fn set(
        self,
        actor: &AccountActor,
        prism: &PrismSelector,
        file: &[u8],
        based_on: Option<i32>,
    ) -> Result<LensSaveOutcome, PrismError> {
        self.change(actor, prism, based_on, |latest| {
            lens_file::read(file, latest).map(Some)
        })
        .await
    }

    /// Resets the prism's lens to the automatic one. If `based_on`, a revision of the lens, is
    /// given, only that revision is reset.
    ///
    /// # Errors
    /// When there is no such prism, the lens has another revision than `based_on`, or the database
    /// fails.
    pub async fn reset(
        self,
        actor: &AccountActor,
        prism: &PrismSelector,
        based_on: Option<i32>,
    ) -> Result<LensSaveOutcome, PrismError> {
        self.change(actor, prism, based_on, |_| Ok(None)).await
    }

    /// Gives a new prism the lens of the prism that it is a copy of, without the columns that its own
    /// questions do not allow. A lens that somebody has saved for it stays.
    ///
    /// # Errors
    /// When the copied prism is not the account's, or the database fails.
    pub async fn copy(
        self,
        actor: &AccountActor,
        copied: PrismId,
        prism: PrismId,
    ) -> Result<(), PrismError> {
        let copied = self
            .find(actor.account(), &PrismSelector::Id(copied))
            .await?;
        let Lens::Custom(columns) = copied.lens.as_ref() else {
            return Ok(());
        };
        let fitting = |latest: &PrismVersion| {
            let fits = |column: &&Column| {
                lens_file::read(&lens_file::write(slice::from_ref(*column)), latest).is_ok()
            };
            let columns: Vec<Column> = columns.iter().filter(fits).cloned().collect();
            Ok(Some(columns).filter(|columns| !columns.is_empty()))
        };
        let selector = PrismSelector::Id(prism);
        match self
            .change(actor, &selector, Some(FIRST_REVISION), fitting)
            .await
        {
            Ok(_) | Err(PrismError::LensMeanwhile) => Ok(()),
            Err(refusal) => Err(refusal),
        }
    }

    async fn change(
        self,
        actor: &AccountActor,
        selector: &PrismSelector,
        based_on: Option<i32>,
        columns_for: impl Fn(&PrismVersion) -> Result<Option<Vec<Column>>, Problems>,
    ) -> Result<LensSaveOutcome, PrismError> {
        let database = &self.refract.database;
        for _ in 0..ATTEMPTS {
            let prism = self
                .refract
                .prisms()
                .find(actor.account(), selector)
                .await?;
            if based_on.is_some_and(|based_on| based_on != prism.lens_revision) {
                return Err(PrismError::LensMeanwhile);
            }
            let latest = self
                .refract
                .prisms()
                .find_version(&prism, prism.latest_version)
                .await?;
            let columns = columns_for(&latest)?;
            let Some(current) = database.find_lens(prism.id, prism.lens_revision).await? else {
                continue;
            };
            let lens = columns.map_or(Lens::Automatic, Lens::Custom);
            if lens == *current {
                return Ok(LensSaveOutcome::Unchanged);
            }
            let (before, after) = (latest.columns(&current), latest.columns(&lens));
            let details = LensChangeDetails::between(prism.lens_revision, before, after);
            let saving = database.save_lens(&prism, &lens, details, actor.event_stamp());
            if saving.await? == WriteOutcome::Saved {
                return Ok(LensSaveOutcome::Saved {
                    revision: prism.lens_revision.saturating_add(1),
                });
            }
        }
        Err(PrismError::Contended)
    }

    /// The cutoffs of a prism's lens that its present model never reaches, over its newest `ok`
    /// results, at most [`DRAFT_RESULTS`].
    ///
    /// # Errors
    /// When the database fails, or a version that a result names is missing.
    pub async fn unreachable_cutoffs(
        self,
        lens: &PrismLens,
    ) -> Result<Vec<UnreachableCutoff>, InternalError> {
        let mut reach = CutoffReach::new(lens.columns().lens);
        if reach.is_empty() {
            return Ok(Vec::new());
        }
        let add = |counted: CountedResult<'_>| reach.add(counted.answers, counted.model);
        self.count(lens, DRAFT_RESULTS, add, |_| ()).await?;
        Ok(reach.unreachable())
    }
}
