//! The draft of a lens: what it would change in stored results, before it is saved.
//!
//! Each change of a draft's columns is counted again, by any node. While only a cutoff moves, the
//! counts of [`LabelMoves`](refract_evaluation::counting::lens_preview::LabelMoves) show what each
//! of its positions would change, and [`LensSample`] has results at each of them.

mod draft_row;
mod sample;

use std::collections::HashMap;
use std::sync::Arc;

use chrono::Utc;
use refract_authoring::lens_file;
use refract_domain::ids::{AccountId, ResultId};
use refract_domain::lens::Column;
use refract_domain::prism::slug::PrismSelector;
use refract_evaluation::counting::cutoff_reach::{CutoffReach, UnreachableCutoff};
use refract_evaluation::counting::lens_preview::LensPreview;
use refract_evaluation::counting::nearest_changes::NearestChanges;

pub use self::draft_row::{DraftCell, LensDraftRow};
pub use self::sample::{LensSample, SampledResult};
use crate::InternalError;
use crate::lenses::count::CountedResult;
use crate::lenses::{Lenses, PrismLens};
use crate::prisms::PrismError;
use crate::results::readable_result::ReadableResult;

/// Most results that a draft is counted over, newest first.
pub const DRAFT_RESULTS: usize = 10_000;
/// Most rows that a draft shows.
pub const DRAFT_ROWS: u32 = 20;

/// The rows that a draft shows, at most [`DRAFT_ROWS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftRows {
    /// The newest results.
    Newest,
    /// The results that the draft changes.
    Changed {
        /// The place of the label column whose cutoffs the results' probabilities are near to,
        /// nearest first. Without one, and after those that change in this column, the newest come
        /// first.
        near: Option<usize>,
    },
}

/// What a draft of a lens would change in a prism's newest `ok` results.
pub struct LensDraft {
    /// The prism with its current lens.
    pub lens: Arc<PrismLens>,
    /// The counts of the draft's columns, and the columns of the lens that the draft lacks.
    pub preview: LensPreview,
    /// The cutoffs of the draft that the present model never reaches.
    pub unreachable: Vec<UnreachableCutoff>,
    /// The rows that were asked for, now and with the draft.
    pub rows: Vec<LensDraftRow>,
    /// The number of all results of the prism, if it has more `ok` ones than were counted.
    pub in_all: Option<u64>,
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
        rows: DraftRows,
    ) -> Result<LensDraft, PrismError> {
        let lens = self.find(account, prism).await?;
        let columns = lens_file::read(file, &lens.latest)?;
        Ok(self.draft_of(lens, &columns, rows).await?)
    }

    /// Counts what these columns would change if they replaced a lens.
    ///
    /// # Errors
    /// When the database fails, or a version that a result names is missing.
    pub async fn draft_of(
        self,
        lens: PrismLens,
        columns: &[Column],
        rows: DraftRows,
    ) -> Result<LensDraft, InternalError> {
        let lens = Arc::new(lens);
        let mut preview = LensPreview::new(lens.columns().lens, columns, &lens.latest);
        let mut reach = CutoffReach::new(columns);
        let near = match rows {
            DraftRows::Newest => None,
            DraftRows::Changed { near } => near,
        };
        let cutoffs = |place: usize| columns.get(place)?.output.cutoffs();
        let near = near.and_then(|place| Some((place, cutoffs(place)?)));
        let mut nearest = NearestChanges::new(length(DRAFT_ROWS), near);
        let add = |counted: CountedResult<'_>| {
            reach.add(counted.answers, counted.model);
            nearest.add(counted.id, &preview.add(counted.answers));
        };
        let has_older = self.count(&lens, DRAFT_RESULTS, add, |_| ()).await?;
        let in_all = if has_older {
            let (account, prism) = (lens.prism.account, lens.prism.id);
            let counts = self.refract.results().counts(account, Utc::now()).await?;
            Some(counts.of_prism(prism).in_all)
        } else {
            None
        };
        let results = match rows {
            DraftRows::Newest => {
                let results = self.refract.results();
                results.newest_answered(&lens, DRAFT_ROWS).await?
            }
            DraftRows::Changed { .. } => self.results_in_order(&lens, nearest.into_ids()).await?,
        };
        let row = |result| LensDraftRow::new(result, &preview, lens.columns().lens);
        let rows = results.into_iter().map(row).collect();
        Ok(LensDraft {
            preview,
            unreachable: reach.unreachable(),
            rows,
            in_all,
            lens,
        })
    }

    /// The results with these ids, in this order. One that was deleted meanwhile is left out.
    async fn results_in_order(
        self,
        lens: &Arc<PrismLens>,
        ids: Vec<ResultId>,
    ) -> Result<Vec<ReadableResult>, InternalError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let database = &self.refract.database;
        let found = database
            .find_results(lens.prism.account, ids.clone())
            .await?;
        let mut found: HashMap<_, _> = found.into_iter().map(|it| (it.id, it)).collect();
        let mut results = Vec::with_capacity(ids.len());
        for id in ids {
            if let Some(result) = found.remove(&id) {
                results.push(ReadableResult::through_lens(database, result, lens).await?);
            }
        }
        Ok(results)
    }
}

fn length(rows: u32) -> usize {
    usize::try_from(rows).unwrap_or(usize::MAX)
}
