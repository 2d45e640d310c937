//! Search of a prism's results: by what was asked, by who made them, by what the lens shows, by
//! words in their texts and by marks.
//!
//! A search reads candidates in pages, in the order of their ids (keyset pagination). One index
//! finds the candidates by one condition; the other conditions are checked on each candidate. No
//! index covers two conditions, and none can cover what a lens shows, since the lens may change at
//! any moment. So that no page takes long, a search gives up after some thousand candidates
//! ([`SearchLimits`]) and reports how far it read.

mod candidate_reader;
mod found_results;
mod least_sure;
pub(crate) mod result_search;

use std::sync::Arc;

use refract_persistence::SearchCandidate;

use self::candidate_reader::CandidateReader;
pub use self::found_results::{FoundResults, FoundRow};
pub use self::least_sure::Neighbours;
pub use self::result_search::{
    MarkCondition, MatchCount, ResultSearch, SearchLimits, SearchPage, TextWords,
};
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

    /// The matches among the newest `most` candidates, newest first, and whether there are older
    /// candidates.
    ///
    /// # Errors
    /// When the column of a value cannot be searched, or the database fails.
    pub(crate) async fn newest_matches(
        self,
        lens: &PrismLens,
        search: &ResultSearch,
        most: u32,
    ) -> Result<(Vec<SearchCandidate>, bool), SearchError> {
        let limits = SearchLimits {
            results: 1,
            candidates: most,
            counted: 0,
        };
        let reader = CandidateReader::new(self.refract, lens, search, limits)?;
        let (found, count) = reader.read_newest().await?;
        Ok((found, !matches!(count, MatchCount::All(_))))
    }
}
