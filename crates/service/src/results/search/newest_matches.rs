//! The matches of a search among the newest results, without their texts.

use refract_persistence::SearchCandidate;

use super::candidate_reader::CandidateReader;
use super::search_page::{MatchCount, SearchLimits};
use super::{ResultSearch, SearchError};
use crate::lenses::prism_lens::PrismLens;
use crate::results::Results;

impl Results<'_> {
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
