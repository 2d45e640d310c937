//! Search of a prism's results: by what was asked, by who made them, by what the lens shows, by
//! words in their texts and by marks.
//!
//! A search reads candidates in pages, in the order of their ids (keyset pagination). One index
//! finds the candidates by one condition; the other conditions are checked on each candidate. No
//! index covers two conditions, and none can cover what a lens shows, since the lens may change at
//! any moment. So that no page takes long, a search gives up after some thousand candidates
//! ([`SearchLimits`]) and reports how far it read.

mod candidate_reader;
pub(crate) mod conditions;
mod found_results;
mod least_sure;
mod neighbours;
mod newest_matches;
mod result_search;
mod search_page;
mod text_words;

use std::sync::Arc;

use self::candidate_reader::CandidateReader;
pub use self::found_results::{FoundResults, FoundRow};
pub use self::neighbours::Neighbours;
pub use self::result_search::{MarkCondition, ResultSearch};
pub use self::search_page::{MatchCount, SearchLimits, SearchPage};
pub use self::text_words::TextWords;
use crate::InternalError;
use crate::lenses::prism_lens::PrismLens;
use crate::results::Results;
use crate::results::column_value::ColumnNotSearchable;

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
        let reader = CandidateReader::new(self.refract, lens, search, limits)?;
        let matches = reader.read(page).await?;
        Ok(FoundResults::load(database, lens, page, matches).await?)
    }
}
