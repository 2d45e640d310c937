//! A search whose least sure results come first.
//!
//! The results before and after one in the list that a search gives.

use std::cmp::Reverse;
use std::sync::Arc;

use refract_domain::ids::ResultId;
use refract_evaluation::counting::least_sure::least_confidence;
use refract_persistence::SearchCandidate;

use super::candidate_reader::CandidateReader;
use super::found_results::{FoundResults, load_rows};
use super::result_search::{MatchCount, SearchLimits, SearchPage};
use super::{ResultSearch, SearchError};
use crate::InternalError;
use crate::lenses::prism_lens::PrismLens;
use crate::results::Results;

impl Results<'_> {
    /// Searches the results of a prism, and returns one page of matches: those with the least sure
    /// answer first, and of equally sure ones the newest. No index has this order, so that it
    /// covers the newest candidates alone, and failed results are left out. The page begins after
    /// the result `after`, or with the least sure one.
    ///
    /// # Errors
    /// When the column of a value cannot be searched, or the database fails.
    pub async fn search_least_sure(
        self,
        lens: &Arc<PrismLens>,
        search: &ResultSearch,
        after: Option<ResultId>,
        limits: SearchLimits,
    ) -> Result<FoundResults, SearchError> {
        let database = &self.refract.database;
        let (ranked, count) = self.rank(lens, search, limits).await?;
        let begin = place_of(&ranked, after).map_or(0, |place| place + 1);
        let size = usize::try_from(limits.results).unwrap_or(usize::MAX);
        let mut page: Vec<_> = ranked.into_iter().skip(begin).collect();
        let has_more = page.len() > size;
        page.truncate(size);
        let older = page.last().filter(|_| has_more).map(|last| last.id);
        Ok(FoundResults {
            results: load_rows(database, lens, page).await?,
            newer: None,
            older,
            searched_to: None,
            count: Some(count),
        })
    }

    /// The answered matches among the newest candidates, the least sure one first.
    pub(super) async fn rank(
        self,
        lens: &PrismLens,
        search: &ResultSearch,
        limits: SearchLimits,
    ) -> Result<(Vec<SearchCandidate>, MatchCount), SearchError> {
        let reader = CandidateReader::new(self.refract, lens, search, limits)?;
        let (found, count) = reader.read_newest().await?;
        let mut ranked = Vec::with_capacity(found.len());
        for candidate in found {
            let answers = candidate.answers().map_err(InternalError::from)?;
            if let Some(least) = answers.as_ref().and_then(least_confidence) {
                ranked.push((least, candidate));
            }
        }
        ranked.sort_by_key(|(least, candidate)| (*least, Reverse(candidate.id)));
        let ranked = ranked.into_iter().map(|(_, candidate)| candidate);
        Ok((ranked.collect(), count))
    }
}

/// The place of a result in a list of candidates.
pub(super) fn place_of(ranked: &[SearchCandidate], id: Option<ResultId>) -> Option<usize> {
    ranked.iter().position(|candidate| Some(candidate.id) == id)
}

/// The results beside one in a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Neighbours {
    /// The result before it; `None` at the beginning.
    pub previous: Option<ResultId>,
    /// The result after it; `None` at the end.
    pub next: Option<ResultId>,
}

impl Results<'_> {
    /// The results beside this one in the list of a search, newest first.
    ///
    /// # Errors
    /// When the column of a value cannot be searched, or the database fails.
    pub async fn neighbours(
        self,
        lens: &PrismLens,
        search: &ResultSearch,
        id: ResultId,
        limits: SearchLimits,
    ) -> Result<Neighbours, SearchError> {
        let limits = SearchLimits {
            results: 1,
            ..limits
        };
        let reader = CandidateReader::new(self.refract, lens, search, limits)?;
        let nearest = async |page| {
            let matches = reader.read(page).await?;
            Ok::<_, SearchError>(matches.found.first().map(|candidate| candidate.id))
        };
        Ok(Neighbours {
            previous: nearest(SearchPage::NewerThan(id)).await?,
            next: nearest(SearchPage::OlderThan(id)).await?,
        })
    }

    /// The results beside this one in the list of a search, the least sure one first; none if the
    /// result is not in the list.
    ///
    /// # Errors
    /// When the column of a value cannot be searched, or the database fails.
    pub async fn least_sure_neighbours(
        self,
        lens: &PrismLens,
        search: &ResultSearch,
        id: ResultId,
        limits: SearchLimits,
    ) -> Result<Neighbours, SearchError> {
        let (ranked, _) = self.rank(lens, search, limits).await?;
        let Some(place) = place_of(&ranked, Some(id)) else {
            return Ok(Neighbours::default());
        };
        let at = |place: Option<usize>| Some(ranked.get(place?)?.id);
        Ok(Neighbours {
            previous: at(place.checked_sub(1)),
            next: at(place.checked_add(1)),
        })
    }
}
