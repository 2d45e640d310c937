//! Changes the lens of a prism.
//!
//! Finds the cutoffs of a saved lens that the model's probabilities never reach.

use refract_authoring::lens_file;
use refract_domain::event::LensChangeDetails;
use refract_domain::lens::{Column, Lens};
use refract_domain::prism::PrismVersion;
use refract_domain::prism::slug::PrismSelector;
use refract_domain::problem::Problems;
use refract_evaluation::counting::cutoff_reach::{CutoffReach, UnreachableCutoff};
use refract_persistence::WriteOutcome;

use crate::InternalError;
use crate::lenses::count::CountedResult;
use crate::lenses::{DRAFT_RESULTS, Lenses, PrismLens};
use crate::people::accounts::AccountActor;
use crate::prisms::{ATTEMPTS, PrismError};

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
