//! All results of a prism, read page by page through its lens as it was at the beginning.

use std::sync::Arc;

use refract_persistence::{Database, PersistenceError, ResultFilter, ResultOrder, ResultPages};

use crate::ReadableResult;
use crate::prisms::PrismLens;
use crate::refusal::InternalError;

/// The results of a prism that a filter lets through, a page at a time.
pub struct PrismResults {
    database: Database,
    lens: Arc<PrismLens>,
    filter: ResultFilter,
    pages: ResultPages,
}

impl PrismResults {
    /// The results, with the columns of this lens; nothing is read yet.
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
            filter,
            pages: database.result_pages(account, prism, filter, order),
        }
    }

    /// How many there are by now.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn count(&self) -> Result<u64, PersistenceError> {
        let prism = &self.lens.prism;
        self.database
            .count_results(prism.account, prism.id, self.filter)
            .await
    }

    /// The lens that they are read through.
    pub fn lens(&self) -> &Arc<PrismLens> {
        &self.lens
    }

    /// The next page; an empty one is the end.
    ///
    /// # Errors
    /// When the database fails, or a version that a result names is missing.
    pub async fn next_page(&mut self) -> Result<Vec<ReadableResult>, InternalError> {
        let page = self.pages.next().await?;
        let mut readable = Vec::with_capacity(page.len());
        for result in page {
            readable.push(ReadableResult::through(&self.database, result, &self.lens).await?);
        }
        Ok(readable)
    }
}
