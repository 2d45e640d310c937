//! Search of a prism's results: by what was asked, by who made them, and by what the lens shows.
//!
//! A search reads candidates in pages, in the order of their ids (keyset pagination). One index
//! finds the candidates by one condition; the other conditions are checked on each candidate. No
//! index covers two conditions, and none can cover what a lens shows, since the lens may change at
//! any moment. So that no page takes long, a search gives up after some thousand candidates
//! ([`SearchLimits`]) and reports how far it read.

mod candidate_reader;
mod found_results;
mod search_page;

use std::sync::Arc;

use refract_persistence::ResultFilter;

use self::candidate_reader::CandidateReader;
pub use self::found_results::{FoundResults, FoundRow};
pub use self::search_page::{SearchLimits, SearchPage};
use crate::InternalError;
use crate::lenses::prism_lens::PrismLens;
use crate::results::Results;
use crate::results::column_value::{ColumnNotSearchable, ColumnValue, WantedValue};

/// Which results are searched for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultSearch {
    /// Conditions on everything but the answers.
    pub filter: ResultFilter,
    /// A value that a column of the lens must show.
    pub value: Option<ColumnValue>,
}

/// Why a search failed.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The lens has no such column, or a column that cannot be searched.
    #[error(transparent)]
    Column(#[from] ColumnNotSearchable),
    /// Reading the results failed.
    #[error(transparent)]
    Internal(#[from] InternalError),
}

impl Results<'_> {
    /// Searches the results of a prism through the given lens, and returns one page of matches.
    ///
    /// # Errors
    /// When the column of the value cannot be searched, or the database fails.
    pub async fn search(
        self,
        lens: &Arc<PrismLens>,
        search: &ResultSearch,
        page: SearchPage,
        limits: SearchLimits,
    ) -> Result<FoundResults, SearchError> {
        let database = &self.refract.database;
        let wanted = search.value.as_ref();
        let wanted = wanted.map(|value| WantedValue::of(lens, value));
        let reader = CandidateReader {
            database,
            lens,
            filter: &search.filter,
            wanted: wanted.transpose()?,
            limits,
        };
        let matches = reader.read(page).await?;
        Ok(FoundResults::load(database, lens, page, matches).await?)
    }
}
