//! The page of results of a search.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use refract_domain::ids::ResultId;
use refract_domain::result::actor::ResultActor;
use refract_persistence::{Database, SearchCandidate};

use super::candidate_reader::{Matches, SearchEnd};
use super::result_search::{MatchCount, SearchPage};
use crate::InternalError;
use crate::lenses::prism_lens::PrismLens;
use crate::results::readable_result::ReadableResult;

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
    pub(super) async fn load(
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
pub(super) async fn load_rows(
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
