//! The draft of a lens: what it would change in stored results, before it is saved.
//!
//! Nothing of a draft is stored: each change of its columns is counted again, by any node. While
//! only a cutoff moves, the counts of
//! [`LabelMoves`](refract_evaluation::counting::lens_preview::LabelMoves) show what each of its
//! positions would change.

mod draft_row;

use std::sync::Arc;

use refract_authoring::lens_file;
use refract_domain::ids::AccountId;
use refract_domain::lens::{Column, Lens};
use refract_domain::prism::slug::PrismSelector;
use refract_domain::result::view::AnswersView;
use refract_evaluation::counting::cutoff_reach::{CutoffReach, UnreachableCutoff};
use refract_evaluation::counting::cutoff_steps::CutoffSteps;
use refract_evaluation::counting::lens_preview::LensPreview;

pub use self::draft_row::{DraftCell, DraftRow};
use crate::InternalError;
use crate::lenses::{Lenses, PrismLens};
use crate::prisms::PrismError;
use crate::results::readable_result::ReadableResult;

/// Most results that a draft is counted over, newest first.
pub const DRAFT_RESULTS: usize = 10_000;
/// Most rows that a draft shows, newest first.
pub const DRAFT_ROWS: u32 = 20;

/// What a draft of a lens would change in a prism's newest `ok` results.
pub struct LensDraft {
    /// The prism with its current lens.
    pub lens: Arc<PrismLens>,
    /// The counts of the draft's columns, and the columns of the lens that the draft lacks.
    pub preview: LensPreview,
    /// The stored probabilities of each Yes / No question of the latest version, whether the draft
    /// shows the question or not.
    pub probabilities: Vec<CutoffSteps>,
    /// The cutoffs of the draft that the present model never reaches.
    pub unreachable: Vec<UnreachableCutoff>,
    /// The newest rows, now and with the draft.
    pub rows: Vec<DraftRow>,
    /// Whether the prism has more results than were counted.
    pub has_older: bool,
}

impl Lenses<'_> {
    /// Reads a lens file for a prism, and counts what it would change.
    ///
    /// # Errors
    /// When there is no such prism, the file breaks rules, or the database fails.
    pub async fn draft(
        self,
        account: AccountId,
        prism: &PrismSelector,
        file: &[u8],
    ) -> Result<LensDraft, PrismError> {
        let lens = self.find(account, prism).await?;
        let columns = lens_file::read(file, &lens.latest)?;
        Ok(self.draft_of(lens, &columns).await?)
    }

    /// Counts what these columns would change if they replaced a lens.
    ///
    /// # Errors
    /// When the database fails, or a version that a result names is missing.
    pub async fn draft_of(
        self,
        lens: PrismLens,
        columns: &[Column],
    ) -> Result<LensDraft, InternalError> {
        let lens = Arc::new(lens);
        let preview = LensPreview::new(lens.columns().lens, columns, &lens.latest);
        let questions = lens.latest.columns(&Lens::Automatic);
        let mut draft = LensDraft {
            preview,
            probabilities: questions.iter().filter_map(CutoffSteps::of).collect(),
            unreachable: Vec::new(),
            rows: Vec::new(),
            has_older: false,
            lens,
        };
        let (preview, probabilities) = (&mut draft.preview, &mut draft.probabilities);
        let mut reach = CutoffReach::new(columns);
        let add = |answers: AnswersView<'_>, model: Option<&str>| {
            reach.add(answers, model);
            preview.add(answers);
            for probabilities in &mut *probabilities {
                probabilities.add(answers);
            }
        };
        draft.has_older = self.count(&draft.lens, DRAFT_RESULTS, add, |_| ()).await?;
        draft.unreachable = reach.unreachable();
        let results = self.refract.results();
        for result in results.newest_answered(&draft.lens, DRAFT_ROWS).await? {
            let row = draft.row(result);
            draft.rows.push(row);
        }
        Ok(draft)
    }
}

impl LensDraft {
    fn row(&self, result: ReadableResult) -> DraftRow {
        DraftRow::new(result, &self.preview, self.lens.columns().lens)
    }
}
