//! All results of a prism, page by page, through the lens that the prism had at the beginning.

use std::collections::HashMap;
use std::sync::Arc;

use refract_domain::ids::ResultId;
use refract_domain::mark::Mark;
use refract_persistence::{Database, PersistenceError, ResultFilter, ResultOrder, ResultPages};

use crate::prism_lens::PrismLens;
use crate::readable_result::ReadableResult;
use crate::refusal::InternalError;

/// The results of a prism that a filter selects, one page at a time (keyset pagination).
pub struct PrismResults {
    database: Database,
    lens: Arc<PrismLens>,
    filter: ResultFilter,
    pages: ResultPages,
}

impl PrismResults {
    /// Starts before the first page, without a query.
    pub fn new(
        database: &Database,
        lens: PrismLens,
        filter: ResultFilter,
        order: ResultOrder,
    ) -> Self {
        let (account, prism) = (lens.prism.account, lens.prism.id);
        Self {
            database: database.clone(),
            lens: Arc::new(lens),
            pages: database.result_pages(account, prism, filter.clone(), order),
            filter,
        }
    }

    /// Counts the results that the filter selects now.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn count(&self) -> Result<u64, PersistenceError> {
        let prism = &self.lens.prism;
        self.database
            .count_results(prism.account, prism.id, self.filter.clone())
            .await
    }

    /// The lens through which the results are read.
    pub fn lens(&self) -> &Arc<PrismLens> {
        &self.lens
    }

    /// The next page, which is empty after the last result.
    ///
    /// # Errors
    /// When the database fails, or a version that a result names is missing.
    pub async fn next_page(&mut self) -> Result<Vec<ReadableResult>, InternalError> {
        let page = self.pages.next().await?;
        let mut readable = Vec::with_capacity(page.len());
        for result in page {
            readable.push(ReadableResult::through_lens(&self.database, result, &self.lens).await?);
        }
        Ok(readable)
    }

    /// The marks of the results of a page, by result.
    pub(crate) async fn list_marks(
        &self,
        page: &[ReadableResult],
    ) -> Result<HashMap<ResultId, Vec<Mark>>, InternalError> {
        let ids = page.iter().map(ReadableResult::id).collect();
        let mut by_result: HashMap<ResultId, Vec<Mark>> = HashMap::new();
        for mark in self.database.list_marks_of(ids).await? {
            by_result.entry(mark.result).or_default().push(mark);
        }
        Ok(by_result)
    }
}

/// The newest `ok` results of a prism, at most `most`.
///
/// # Errors
/// When the database fails, or a version that a result names is missing.
pub async fn newest_answered(
    database: &Database,
    lens: &Arc<PrismLens>,
    most: u32,
) -> Result<Vec<ReadableResult>, InternalError> {
    let (account, prism) = (lens.prism.account, lens.prism.id);
    let answered = ResultFilter {
        is_ok: Some(true),
        ..ResultFilter::default()
    };
    let newest_first = ResultOrder::NewestFirst;
    let found = database
        .list_results(account, prism, answered, newest_first, None, most)
        .await?;
    let mut readable = Vec::with_capacity(found.len());
    for result in found {
        readable.push(ReadableResult::through_lens(database, result, lens).await?);
    }
    Ok(readable)
}
