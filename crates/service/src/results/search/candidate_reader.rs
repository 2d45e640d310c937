//! Reads the candidates of a search until a page is full.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use refract_domain::ids::ResultId;
use refract_persistence::{Database, ResultFilter, ResultOrder, SearchCandidate};

use super::search_page::{SearchLimits, SearchPage};
use crate::InternalError;
use crate::lenses::prism_lens::PrismLens;
use crate::prisms::versions::find_saved_version;
use crate::results::column_value::WantedValue;

/// Candidates that the first query reads when some of them may not match.
const FIRST_READ: u32 = 200;
/// Most candidates that one query reads.
const LARGEST_READ: u32 = 1_600;

/// The outcome of reading the candidates of one page.
pub(super) struct Matches {
    /// The candidates that match, in the order of reading.
    pub(super) found: Vec<SearchCandidate>,
    pub(super) end: SearchEnd,
}

/// Why no further candidate was read.
pub(super) enum SearchEnd {
    /// There are no more candidates.
    NoneLeft,
    /// The page is full, and there is at least one more match.
    PageFull,
    /// The limit on candidates was reached.
    GivenUp {
        last: ResultId,
        created_at: DateTime<Utc>,
    },
}

/// Reads the candidates of one page of a search.
pub(super) struct CandidateReader<'a> {
    pub(super) database: &'a Database,
    pub(super) lens: &'a PrismLens,
    pub(super) filter: &'a ResultFilter,
    /// The value that a column of the lens must show.
    pub(super) wanted: Option<WantedValue>,
    pub(super) limits: SearchLimits,
}

impl CandidateReader<'_> {
    /// Reads candidates until the page is full, there are no more, or too many were read.
    pub(super) async fn read(&self, page: SearchPage) -> Result<Matches, InternalError> {
        let (order, from) = match page {
            SearchPage::Newest => (ResultOrder::NewestFirst, None),
            SearchPage::OlderThan(id) => (ResultOrder::NewestFirst, Some(id)),
            SearchPage::NewerThan(id) => (ResultOrder::OldestFirst, Some(id)),
        };
        let prism = &self.lens.prism;
        let most_found = usize::try_from(self.limits.results).unwrap_or(usize::MAX);
        let most_read = self.limits.candidates;
        let mut found = Vec::new();
        let (mut last, mut read, mut size) = (from, 0, self.first_read());
        loop {
            let candidates = self
                .database
                .list_candidates(prism.account, prism.id, self.filter, order, last, size)
                .await?;
            let is_full = u32::try_from(candidates.len()) == Ok(size);
            let end = candidates.last().map(|last| (last.id, last.created_at));
            let retries = self.retries(&candidates).await?;
            for candidate in candidates {
                if self.matches(&candidate, &retries).await? {
                    if found.len() == most_found {
                        let end = SearchEnd::PageFull;
                        return Ok(Matches { found, end });
                    }
                    found.push(candidate);
                }
            }
            let (Some((id, created_at)), true) = (end, is_full) else {
                let end = SearchEnd::NoneLeft;
                return Ok(Matches { found, end });
            };
            read += size;
            if read >= most_read {
                let last = id;
                let end = SearchEnd::GivenUp { last, created_at };
                return Ok(Matches { found, end });
            }
            last = Some(id);
            size = size
                .saturating_mul(4)
                .min(LARGEST_READ)
                .min(most_read - read);
        }
    }

    /// Number of candidates in the first query: one more than the page has, if each candidate
    /// matches.
    fn first_read(&self) -> u32 {
        let each_matches = self.wanted.is_none() && self.filter.by_index() == *self.filter;
        let page = self.limits.results.saturating_add(1);
        let first = if each_matches {
            page
        } else {
            page.max(FIRST_READ)
        };
        first.min(self.limits.candidates)
    }

    /// The retries of those candidates that may match; none where retries do not matter.
    async fn retries(
        &self,
        candidates: &[SearchCandidate],
    ) -> Result<HashMap<ResultId, ResultId>, InternalError> {
        if self.filter.is_retried.is_none() {
            return Ok(HashMap::new());
        }
        let may_match = candidates.iter().filter(|it| it.meets(self.filter));
        let ids = may_match.map(|candidate| candidate.id).collect();
        Ok(self.database.list_retries(ids).await?)
    }

    async fn matches(
        &self,
        candidate: &SearchCandidate,
        retries: &HashMap<ResultId, ResultId>,
    ) -> Result<bool, InternalError> {
        let is_retried = retries.contains_key(&candidate.id);
        let wanted = self.filter.is_retried;
        if !candidate.meets(self.filter) || wanted.is_some_and(|wanted| wanted != is_retried) {
            return Ok(false);
        }
        let Some(wanted) = &self.wanted else {
            return Ok(true);
        };
        let prism = self.lens.prism.id;
        let version = find_saved_version(self.database, prism, candidate.version).await?;
        Ok(wanted.is_shown(&version, candidate.answers()?.as_ref()))
    }
}
