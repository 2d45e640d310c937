//! All results of a prism, page by page, through the lens that the prism had at the start.

use std::collections::HashMap;
use std::sync::Arc;

use refract_domain::event::EventAction;
use refract_domain::ids::ResultId;
use refract_domain::result::mark::Mark;
use refract_persistence::{Database, PersistenceError, ResultFilter, ResultOrder, ResultPages};

use crate::InternalError;
use crate::events::export_event;
use crate::lenses::prism_lens::PrismLens;
use crate::people::accounts::AccountActor;
use crate::results::Results;
use crate::results::column_value::ColumnNotSearchable;
use crate::results::readable_result::ReadableResult;
use crate::results::search::ResultSearch;
use crate::results::search::result_search::{SearchConditions, by_result};

/// The results of a prism that a filter or a search selects, one page at a time (keyset
/// pagination).
pub struct PrismResults {
    database: Database,
    lens: Arc<PrismLens>,
    filter: ResultFilter,
    conditions: Option<SearchConditions>,
    pages: ResultPages,
}

impl Results<'_> {
    /// Prepares to read the results of a prism that a filter selects. Makes no query yet.
    pub fn of_prism(
        self,
        lens: PrismLens,
        filter: ResultFilter,
        order: ResultOrder,
    ) -> PrismResults {
        let database = &self.refract.database;
        let (account, prism) = (lens.prism.account, lens.prism.id);
        PrismResults {
            database: database.clone(),
            lens: Arc::new(lens),
            pages: database.result_pages(account, prism, filter.clone(), order),
            filter,
            conditions: None,
        }
    }

    /// Prepares to read all results of a search, however rare they are: unlike a page of a search,
    /// it has no limit on candidates.
    ///
    /// # Errors
    /// When the search is for a value of a column that cannot be searched.
    pub fn of_search(
        self,
        lens: PrismLens,
        search: ResultSearch,
        order: ResultOrder,
    ) -> Result<PrismResults, ColumnNotSearchable> {
        let conditions = SearchConditions::of(&lens, &search)?;
        Ok(PrismResults {
            conditions: (!conditions.are_none()).then_some(conditions),
            ..self.of_prism(lens, search.filter, order)
        })
    }
}

impl PrismResults {
    /// Counts the results that the filter selects now, regardless of answers, words and marks.
    pub async fn count(&self) -> Result<u64, PersistenceError> {
        let prism = &self.lens.prism;
        self.database
            .count_results(prism.account, prism.id, self.filter.clone())
            .await
    }

    /// Saves the event of an export of these results.
    pub(crate) async fn save_export(
        &self,
        actor: &AccountActor,
        format: &'static str,
    ) -> Result<(), InternalError> {
        let what = export_event::described(format, &self.filter, self.conditions.is_some());
        let action = EventAction::ResultsExported;
        let prism = self.lens.prism.id;
        Ok(export_event::save(&self.database, actor, action, prism, what).await?)
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
        loop {
            let page = self.pages.next().await?;
            let is_end = page.is_empty();
            let mut readable = Vec::with_capacity(page.len());
            for result in page {
                let result = ReadableResult::through_lens(&self.database, result, &self.lens);
                readable.push(result.await?);
            }
            if let Some(conditions) = &self.conditions {
                let marks = if conditions.has_marks() {
                    self.list_marks(&readable).await?
                } else {
                    HashMap::new()
                };
                readable.retain(|result| conditions.match_result(result, &marks));
            }
            if is_end || !readable.is_empty() {
                return Ok(readable);
            }
        }
    }

    /// The marks of the results of a page, by result.
    pub(crate) async fn list_marks(
        &self,
        page: &[ReadableResult],
    ) -> Result<HashMap<ResultId, Vec<Mark>>, InternalError> {
        let ids = page.iter().map(ReadableResult::id).collect();
        Ok(by_result(self.database.list_marks_of(ids).await?))
    }
}

impl Results<'_> {
    /// The newest `ok` results of a prism, at most `most`.
    ///
    /// # Errors
    /// When the database fails, or a version that a result names is missing.
    pub async fn newest_answered(
        self,
        lens: &Arc<PrismLens>,
        most: u32,
    ) -> Result<Vec<ReadableResult>, InternalError> {
        let database = &self.refract.database;
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
}
