//! Search of a prism's results: by what was asked, by who made them, by what the lens shows, by
//! words in their texts and by marks.
//!
//! A search reads candidates in pages, in the order of their ids (keyset pagination). One index
//! finds the candidates by one condition; the other conditions are checked on each candidate. No
//! index covers two conditions, and none can cover what a lens shows, since the lens may change at
//! any moment. So that no page takes long, a search gives up after some thousand candidates
//! ([`SearchLimits`]) and reports how far it read.
//!
//! The least sure results can come first. A result of a search has neighbours: those before and after
//! it in the list.

mod candidate_reader;
pub(crate) mod result_search;

use refract_boxed_futures::boxed;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use refract_domain::ids::ResultId;
use refract_domain::result::ResultActor;
use refract_evaluation::counting::least_confidence;
use refract_persistence::{Database, ResultFilter, ResultOrder, SearchCandidate};

use self::candidate_reader::{CandidateReader, Matches, SearchEnd};
use crate::InternalError;
use crate::lenses::prism_lens::PrismLens;
use crate::results::Results;
use crate::results::column_value::ColumnNotSearchable;
use crate::results::export::PrismResults;
use crate::results::read::ReadableResult;

pub use self::candidate_reader::CountedMatches;
pub use self::result_search::{
    MarkCondition, MatchCount, ResultSearch, SearchLimits, SearchPage, TextWords,
};

/// The candidates of one part of a count.
const COUNTED_AT_ONCE: u32 = 20_000;

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

#[boxed]
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

    /// Counts the matches of a search among its next 20,000 candidates after `last`, newest first: all
    /// matches are counted in parts, since the search may have to look at each result of a prism.
    ///
    /// # Errors
    /// When the column of a value cannot be searched, or the database fails.
    pub async fn count_matches(
        self,
        lens: &PrismLens,
        search: &ResultSearch,
        last: Option<ResultId>,
    ) -> Result<CountedMatches, SearchError> {
        let limits = SearchLimits {
            results: 1,
            candidates: COUNTED_AT_ONCE,
            counted: 0,
        };
        let reader = CandidateReader::new(self.refract, lens, search, limits)?;
        Ok(reader.count_on(last).await?)
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
        let (found, count) = reader.read_newest(Ok).await?;
        Ok((found, !matches!(count, MatchCount::All(_))))
    }
}

/// A page of results, newest first in either direction of paging.
pub struct FoundResults {
    /// The results.
    pub results: Vec<FoundRow>,
    /// The result after which [newer results](SearchPage::NewerThan) begin; `None` when there is
    /// none.
    pub newer: Option<ResultId>,
    /// The result before which [older results](SearchPage::OlderThan) begin; `None` when there is
    /// none.
    pub older: Option<ResultId>,
    /// The moment up to which results were read, if the search gave up before the page was full;
    /// `older` or `newer` continues from there.
    pub searched_to: Option<DateTime<Utc>>,
    /// How many results match; counted with the page of the newest results.
    pub count: Option<MatchCount>,
}

/// A result of a search.
pub struct FoundRow {
    /// The result.
    pub result: ReadableResult,
    /// Who made the result.
    pub actor: ResultActor,
    /// The result that retried this one, if any.
    pub retried_as: Option<ResultId>,
}

impl FoundResults {
    async fn load(
        database: &Database,
        lens: &Arc<PrismLens>,
        page: SearchPage,
        matches: Matches,
    ) -> Result<Self, InternalError> {
        let Matches { found, end, count } = matches;
        // in the order of reading
        let (first, last) = (found.first(), found.last());
        let (first, last) = (first.map(|it| it.id), last.map(|it| it.id));
        let (onwards, searched_to) = match end {
            SearchEnd::NoneLeft => (None, None),
            SearchEnd::PageFull => (last, None),
            SearchEnd::GivenUp { last, created_at } => (Some(last), Some(created_at)),
        };
        let mut results = load_rows(database, lens, found).await?;
        let (newer, older) = match page {
            SearchPage::Newest => (None, onwards),
            // an empty page has no result to go back from, so the way back includes the last result
            // read
            SearchPage::OlderThan(from) => (first.or(Some(from.just_before())), onwards),
            SearchPage::NewerThan(from) => {
                results.reverse();
                let back = first.unwrap_or(from.just_after());
                (onwards, (from > ResultId::LOWEST).then_some(back))
            }
        };
        Ok(Self {
            results,
            newer,
            older,
            searched_to,
            count,
        })
    }
}

/// Loads the results of candidates, in the candidates' order. A result that was deleted meanwhile
/// is left out.
async fn load_rows(
    database: &Database,
    lens: &Arc<PrismLens>,
    candidates: Vec<SearchCandidate>,
) -> Result<Vec<FoundRow>, InternalError> {
    if candidates.is_empty() {
        return Ok(Vec::new());
    }
    let ids = candidates.iter().map(|candidate| candidate.id).collect();
    let failed = candidates.iter().filter(|candidate| !candidate.is_ok());
    let failed: Vec<_> = failed.map(|candidate| candidate.id).collect();
    let retries = if failed.is_empty() {
        HashMap::new()
    } else {
        database.list_retries(failed).await?
    };
    let saved = database.find_results(lens.prism.account, ids).await?;
    let mut saved: HashMap<_, _> = saved.into_iter().map(|it| (it.id, it)).collect();
    let mut rows = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        if let Some(result) = saved.remove(&candidate.id) {
            rows.push(FoundRow {
                result: ReadableResult::through_lens(database, result, lens).await?,
                actor: candidate.actor,
                retried_as: retries.get(&candidate.id).copied(),
            });
        }
    }
    Ok(rows)
}

#[boxed]
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

#[boxed]
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
