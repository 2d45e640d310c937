//! A result as a row, now and with the draft of a lens.

use refract_domain::answer::probability::Probability;
use refract_domain::lens::Column;
use refract_evaluation::counting::lens_preview::{CellPair, LensPreview};
use refract_lens_rendering::cell_text;

use crate::results::readable_result::ReadableResult;

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
    pub(super) fn new(result: ReadableResult, preview: &LensPreview, lens: &[Column]) -> Self {
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
