//! Search of a prism's results: by what they were asked with, by who made them, and by what the lens
//! shows of them.
//!
//! A search reads candidates in pages, in the order of their ids (keyset pagination). One index
//! finds the candidates by one condition; the other conditions are checked on each of them, since
//! two conditions at once have no index, and what a lens shows cannot have one: the lens may change
//! at any moment. So that no page takes long, a search gives up after some thousand candidates
//! ([`SearchLimits`]) and says how far it looked.

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
    /// What is known of a result without its answers.
    pub filter: ResultFilter,
    /// What a column of the lens shows of a result.
    pub value: Option<ColumnValue>,
}

/// Why a search found nothing.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The lens has no such column, or a column whose values cannot be searched for.
    #[error(transparent)]
    Column(#[from] ColumnNotSearchable),
    /// Reading the results failed.
    #[error(transparent)]
    Internal(#[from] InternalError),
}

impl Results<'_> {
    /// Searches the results of a prism, through the lens as it is given, and returns one page of
    /// what it finds.
    ///
    /// # Errors
    /// When the value is of no column that can be searched, or the database fails.
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
