//! The draft of a lens: what it would make of stored results, before it is saved.
//!
//! A draft is counted anew for each change of its columns, by any node: nothing of it is kept. While
//! a cutoff only moves, the counts of [`LabelMoves`](refract_evaluation::counting::lens_preview::LabelMoves) tell
//! what each place of it would change.

mod draft_row;

use std::sync::Arc;

use refract_authoring::lens_file;
use refract_domain::ids::AccountId;
use refract_domain::lens::{Column, Lens};
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::slug::PrismSelector;
use refract_domain::view::AnswersView;
use refract_evaluation::counting::cutoff_steps::CutoffSteps;
use refract_evaluation::counting::lens_preview::LensPreview;
use refract_persistence::Database;

pub use self::draft_row::{DraftCell, DraftRow};
use crate::prism_lens::PrismLens;
use crate::prism_results::newest_answered;
use crate::prisms::{PrismRefusal, find_lens};
use crate::readable_result::ReadableResult;
use crate::refusal::InternalError;
use crate::versions::find_saved_version;

/// Most results that a draft is counted over: the newest ones.
pub const DRAFT_RESULTS: usize = 10_000;
/// Most rows that a draft shows: the newest ones.
pub const DRAFT_ROWS: u32 = 20;

/// What a draft of a lens would make of a prism's newest `ok` results.
pub struct LensDraft {
    /// The prism with its lens as it is.
    pub lens: Arc<PrismLens>,
    /// The counts of the draft's columns, and which columns of the lens it lacks.
    pub preview: LensPreview,
    /// The stored probabilities of each Yes / No question of the latest version, whether the draft
    /// shows the question or not.
    pub probabilities: Vec<CutoffSteps>,
    /// The newest rows, now and with the draft.
    pub rows: Vec<DraftRow>,
    /// Whether the prism has more results than were counted.
    pub has_older: bool,
}

impl LensDraft {
    /// Reads a lens file for a prism, and counts what it would change.
    ///
    /// # Errors
    /// When there is no such prism, the file breaks rules, or the database fails.
    pub async fn of_file(
        database: &Database,
        account: AccountId,
        prism: &PrismSelector,
        file: &[u8],
    ) -> Result<Self, PrismRefusal> {
        let lens = find_lens(database, account, prism).await?;
        let columns = lens_file::read(file, &lens.latest)?;
        Ok(Self::load(database, lens, &columns).await?)
    }

    /// Counts what these columns would change in place of a lens.
    ///
    /// # Errors
    /// When the database fails, or a version that a result names is missing.
    pub async fn load(
        database: &Database,
        lens: PrismLens,
        columns: &[Column],
    ) -> Result<Self, InternalError> {
        let lens = Arc::new(lens);
        let preview = LensPreview::new(lens.columns().lens, columns, &lens.latest);
        let questions = lens.latest.columns(&Lens::Automatic);
        let mut draft = Self {
            preview,
            probabilities: questions.iter().filter_map(CutoffSteps::of).collect(),
            rows: Vec::new(),
            has_older: false,
            lens,
        };
        draft.count(database).await?;
        for result in newest_answered(database, &draft.lens, DRAFT_ROWS).await? {
            let row = draft.row(result);
            draft.rows.push(row);
        }
        Ok(draft)
    }

    async fn count(&mut self, database: &Database) -> Result<(), InternalError> {
        let prism = &self.lens.prism;
        let mut pages = database.answer_pages(prism.account, prism.id);
        let mut answering: Option<(VersionNumber, Arc<PrismVersion>)> = None;
        let mut left = DRAFT_RESULTS;
        while left > 0 {
            let page = pages.next(left).await?;
            if page.is_empty() {
                return Ok(());
            }
            left = left.saturating_sub(page.len());
            for result in page {
                // most results are of the version of the result before
                let version = match answering.take() {
                    Some((number, version)) if number == result.version => version,
                    Some(_) | None => {
                        find_saved_version(database, self.lens.prism.id, result.version).await?
                    }
                };
                let view = AnswersView::new(version.questions(), Some(&result.answers));
                self.preview.add(view);
                for probabilities in &mut self.probabilities {
                    probabilities.add(view);
                }
                answering = Some((result.version, version));
            }
        }
        self.has_older = !pages.next(1).await?.is_empty();
        Ok(())
    }

    fn row(&self, result: ReadableResult) -> DraftRow {
        DraftRow::new(result, &self.preview, self.lens.columns().lens)
    }
}
