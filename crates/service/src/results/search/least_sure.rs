//! A search whose least sure results come first, and the results before and after one in the list
//! that a search gives.

use std::cmp::Reverse;
use std::sync::Arc;

use refract_domain::ids::ResultId;
use refract_evaluation::counting::review_order::least_confidence;
use refract_persistence::{ResultFilter, ResultOrder, SearchCandidate};

use super::candidate_reader::CandidateReader;
use super::result_search::{MatchCount, SearchLimits, SearchPage};
use super::{FoundResults, ResultSearch, SearchError, load_rows};
use crate::InternalError;
use crate::lenses::prism_lens::PrismLens;
use crate::results::Results;
use crate::results::export::PrismResults;

impl Results<'_> {
    /// Searches the results of a prism, and returns one page of matches: those with the least sure
    /// answer first, of equally sure ones the newest, and failed ones last. No index has this order,
    /// so that it covers the newest candidates alone. The page begins after the result `after`, or
    /// with the least sure one.
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
        let after = ranked.get(begin..).unwrap_or_default();
        let page = after.get(..size).unwrap_or(after);
        let older = page.last().filter(|_| after.len() > page.len()).copied();
        let found = database.find_candidates(
            lens.prism.account,
            page.to_vec(),
            ResultFilter::default(),
            ResultOrder::NewestFirst,
        );
        let mut found = found.await.map_err(InternalError::from)?;
        found.sort_by_key(|candidate| place_of(page, Some(candidate.id)));
        Ok(FoundResults {
            results: load_rows(database, lens, found).await?,
            newer: None,
            older,
            searched_to: None,
            count: Some(count),
        })
    }

    /// Prepares to read the results of the list that [`Self::search_least_sure`] pages through, in
    /// its order.
    ///
    /// # Errors
    /// When the column of a value cannot be searched, or the database fails.
    pub async fn of_least_sure(
        self,
        lens: PrismLens,
        search: ResultSearch,
        limits: SearchLimits,
    ) -> Result<PrismResults, SearchError> {
        let (ranked, _) = self.rank(&lens, &search, limits).await?;
        let results = self.of_search(lens, search, ResultOrder::NewestFirst)?;
        Ok(results.in_order(ranked))
    }

    /// The matches among the newest candidates, the least sure one first and failed ones last.
    pub(crate) async fn rank(
        self,
        lens: &PrismLens,
        search: &ResultSearch,
        limits: SearchLimits,
    ) -> Result<(Vec<ResultId>, MatchCount), SearchError> {
        let reader = CandidateReader::new(self.refract, lens, search, limits)?;
        let least = |candidate: SearchCandidate| {
            let answers = candidate.answers()?;
            let least = answers.as_ref().and_then(least_confidence);
            Ok((least.is_none(), least, Reverse(candidate.id)))
        };
        let (mut ranked, count) = reader.read_newest(least).await?;
        ranked.sort_unstable();
        let ranked = ranked.into_iter().map(|(_, _, Reverse(id))| id);
        Ok((ranked.collect(), count))
    }
}

/// The place of a result in a list.
fn place_of(ranked: &[ResultId], id: Option<ResultId>) -> Option<usize> {
    ranked.iter().position(|one| Some(*one) == id)
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
        let at = |place: Option<usize>| ranked.get(place?).copied();
        Ok(Neighbours {
            previous: at(place.checked_sub(1)),
            next: at(place.checked_add(1)),
        })
    }
}
