//! Finds the cutoffs of a saved lens that the model's probabilities never reach.

use refract_evaluation::counting::cutoff_reach::{CutoffReach, UnreachableCutoff};

use crate::InternalError;
use crate::lenses::count::CountedResult;
use crate::lenses::{DRAFT_RESULTS, Lenses, PrismLens};

impl Lenses<'_> {
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
