//! The draft of a lens: what it would change in stored results, before it is saved.
//!
//! Each change of a draft's columns is counted again, by any node. While only a cutoff moves, the
//! counts of [`LabelMoves`](refract_evaluation::counting::lens_preview::LabelMoves) show what each
//! of its positions would change, and [`LensSample`] has results at each of them.

use refract_boxed_futures::boxed;
use std::collections::HashMap;
use std::sync::Arc;

use chrono::Utc;
use refract_authoring::lens_file;
use refract_domain::answer::Probability;
use refract_domain::ids::{AccountId, ResultId};
use refract_domain::lens::{Column, Cutoffs, Output, Value, YesNoLabel};
use refract_domain::prism::PrismSelector;
use refract_evaluation::counting::{
    CellPair, CutoffReach, LensPreview, NearestChanges, PercentSample, UnreachableCutoff,
};
use refract_lens_rendering::cell_text;

use crate::InternalError;
use crate::lenses::prism_lens::CountedResult;
use crate::lenses::{Lenses, PrismLens};
use crate::prisms::PrismError;
use crate::results::read::ReadableResult;

/// Most results that a draft is counted over, newest first.
pub const DRAFT_RESULTS: usize = 10_000;
/// Most rows that a draft shows.
pub const DRAFT_ROWS: u32 = 20;
/// Most results at each percent: a page needs a few beside a cutoff, and gets the exact ones when the
/// cutoff rests.
const EACH: usize = 2;
/// Changed results that are read at a time.
const READ_TOGETHER: usize = 100;

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
        /// So many of the first ones are left out: those of the pages before.
        skip: u32,
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

#[boxed]
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
        let (near, skip) = match rows {
            DraftRows::Newest => (None, 0),
            DraftRows::Changed { near, skip } => (near, length(skip)),
        };
        let most = skip.saturating_add(length(DRAFT_ROWS));
        let CountedDraft {
            preview,
            reach,
            nearest,
            has_older,
        } = self.counted(&lens, columns, near, most).await?;
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
            DraftRows::Changed { .. } => {
                let ids = nearest.into_ids().into_iter().skip(skip).collect();
                self.results_in_order(&lens, ids).await?
            }
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

    /// Passes on every result that these columns would change if they replaced a lens, nearest first
    /// as in [`DraftRows::Changed`]: a hundred of them are in memory at a time. Returns the columns
    /// of the draft.
    ///
    /// # Errors
    /// When the database fails, or a version that a result names is missing.
    pub async fn changed_results(
        self,
        lens: PrismLens,
        columns: &[Column],
        near: Option<usize>,
        mut each: impl FnMut(&LensDraftRow),
    ) -> Result<LensPreview, InternalError> {
        let lens = Arc::new(lens);
        let counted = self.counted(&lens, columns, near, DRAFT_RESULTS).await?;
        let preview = counted.preview;
        for ids in counted.nearest.into_ids().chunks(READ_TOGETHER) {
            for result in self.results_in_order(&lens, ids.to_vec()).await? {
                each(&LensDraftRow::new(result, &preview, lens.columns().lens));
            }
        }
        Ok(preview)
    }

    /// Counts a draft over the newest results, and keeps the `most` changed ones that are nearest.
    async fn counted(
        self,
        lens: &Arc<PrismLens>,
        columns: &[Column],
        near: Option<usize>,
        most: usize,
    ) -> Result<CountedDraft, InternalError> {
        let mut preview = LensPreview::new(lens.columns().lens, columns, &lens.latest);
        let mut reach = CutoffReach::new(columns);
        let cutoffs = |place: usize| columns.get(place)?.output.cutoffs();
        let near = near.and_then(|place| Some((place, cutoffs(place)?)));
        let mut nearest = NearestChanges::new(most, near);
        let add = |counted: CountedResult<'_>| {
            reach.add(counted.answers, counted.model);
            nearest.add(counted.id, &preview.add(counted.answers));
        };
        let has_older = self.count(lens, DRAFT_RESULTS, add, |_| ()).await?;
        Ok(CountedDraft {
            preview,
            reach,
            nearest,
            has_older,
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

/// The counts of a draft.
struct CountedDraft {
    preview: LensPreview,
    reach: CutoffReach,
    nearest: NearestChanges,
    /// Whether there are older results, which were not counted.
    has_older: bool,
}

fn length(rows: u32) -> usize {
    usize::try_from(rows).unwrap_or(usize::MAX)
}

/// One result as the current lens shows it and as the draft would.
pub struct LensDraftRow {
    /// The result.
    pub result: ReadableResult,
    /// The cells of the current lens's columns, in order.
    pub now: Vec<String>,
    /// The cells of the draft's columns, in order.
    pub cells: Vec<DraftCell>,
}

/// One cell of the draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftCell {
    /// The cell's text with the draft, as cells of csv show it.
    pub text: String,
    /// The text of the current lens's column of this name; `None` for a new column.
    pub now: Option<String>,
    /// Whether the draft writes another value here than the current lens, in some format; `false`
    /// in a new column.
    pub is_changed: bool,
    /// In a column of Yes / No labels, the stored probability of yes. `None` in other columns and in
    /// empty cells.
    pub probability: Option<Probability>,
}

impl LensDraftRow {
    fn new(result: ReadableResult, preview: &LensPreview, lens: &[Column]) -> Self {
        let answers = result.view().answers();
        let cell = |pair: CellPair<'_>| DraftCell {
            text: cell_text(pair.after),
            now: pair.before.map(cell_text),
            is_changed: pair.is_changed(),
            probability: pair.probability,
        };
        let cells = preview.pairs(answers).into_iter().map(cell).collect();
        let now = answers.values(lens).map(cell_text).collect();
        Self { result, now, cells }
    }
}

/// Some of a prism's newest `ok` results with a probability in a label column of its lens.
pub struct LensSample {
    /// The prism with its current lens.
    pub lens: Arc<PrismLens>,
    /// The results, by the percent of their probability from 0 on, the newest first at each.
    pub results: Vec<SampledResult>,
}

/// A result with its cell in a label column.
pub struct SampledResult {
    /// The result.
    pub result: ReadableResult,
    /// The probability of yes.
    pub probability: Probability,
    /// The label by the current lens.
    pub now: YesNoLabel,
}

#[boxed]
impl Lenses<'_> {
    /// Some results at every percent of a label column of the prism's lens, of the results that
    /// [drafts](Lenses::draft) are counted over. None if the lens has no label column of this name.
    ///
    /// # Errors
    /// When there is no such prism, or the database fails.
    pub async fn sample(
        self,
        account: AccountId,
        prism: &PrismSelector,
        column: &str,
    ) -> Result<LensSample, PrismError> {
        let lens = Arc::new(self.find(account, prism).await?);
        let mut columns = lens.columns().lens.iter();
        let column = columns.find(|it| it.name.as_str() == column);
        let Some((column, cutoffs)) = column.and_then(|it| Some((it, it.output.cutoffs()?))) else {
            let results = Vec::new();
            return Ok(LensSample { lens, results });
        };
        let column = Column {
            output: Output::YesProbability,
            ..column.clone()
        };
        let mut sample = PercentSample::new(EACH);
        let add = |counted: CountedResult<'_>| {
            let mut values = counted.answers.values(std::slice::from_ref(&column));
            if let Some(Value::Probability(probability)) = values.next() {
                sample.add(counted.id, probability);
            }
        };
        self.count(&lens, DRAFT_RESULTS, add, |_| ()).await?;
        let results = self.results_in_order(&lens, sample.into_ids()).await?;
        let results = results.into_iter();
        let results = results.filter_map(|it| sampled(it, &column, cutoffs));
        let results = results.collect();
        Ok(LensSample { lens, results })
    }
}

/// A result with its cell in a column of probabilities.
fn sampled(result: ReadableResult, column: &Column, cutoffs: Cutoffs) -> Option<SampledResult> {
    let view = result.view();
    let value = view.answers().values(std::slice::from_ref(column)).next()?;
    let probability = value.probability()?;
    Some(SampledResult {
        now: cutoffs.label(probability),
        probability,
        result,
    })
}
