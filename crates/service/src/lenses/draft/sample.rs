//! Results at every percent of a label column, from which a page shows what a moving cutoff changes.

use std::sync::Arc;

use refract_domain::answer::probability::Probability;
use refract_domain::ids::AccountId;
use refract_domain::lens::cutoffs::{Cutoffs, YesNoLabel};
use refract_domain::lens::{Column, Output, Value};
use refract_domain::prism::slug::PrismSelector;
use refract_evaluation::counting::nearest_changes::PercentSample;

use super::DRAFT_RESULTS;
use crate::lenses::count::CountedResult;
use crate::lenses::{Lenses, PrismLens};
use crate::prisms::PrismError;
use crate::results::readable_result::ReadableResult;

/// Most results at each percent: a page needs a few beside a cutoff, and gets the exact ones when the
/// cutoff rests.
const EACH: usize = 2;

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
