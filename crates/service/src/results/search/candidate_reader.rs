//! Reads the candidates of a search until a page is full.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use refract_domain::ids::ResultId;
use refract_persistence::{Database, ResultFilter, ResultOrder, SearchCandidate};

use super::result_search::{
    MarkCondition, MatchCount, ResultSearch, SearchConditions, SearchLimits, SearchPage,
};
use crate::lenses::prism_lens::PrismLens;
use crate::prisms::find_saved_version;
use crate::results::column_value::ColumnNotSearchable;
use crate::{InternalError, Refract};

/// Candidates that the first query reads when some of them may not match.
const FIRST_READ: u32 = 200;
/// Most candidates that one query reads.
const LARGEST_READ: u32 = 1_600;
/// Results whose texts are in memory at one time.
const TEXTS_AT_ONCE: usize = 50;

/// The outcome of reading the candidates of one page.
pub(super) struct Matches {
    /// The candidates that match, in the order of reading.
    pub(super) found: Vec<SearchCandidate>,
    pub(super) end: SearchEnd,
    /// How many results match, if it was counted.
    pub(super) count: Option<MatchCount>,
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

/// The matches of a part of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedMatches {
    /// How many there are.
    pub matches: usize,
    /// The candidate after which the count goes on; `None` where there are no more.
    pub counted_to: Option<ResultId>,
}

/// Candidates that one query read.
struct CandidatePage {
    candidates: Vec<SearchCandidate>,
    /// Where the next query goes on; `None` if there are no more candidates.
    next: Option<ResultId>,
}

/// Reads the candidates of one page of a search.
pub(super) struct CandidateReader<'a> {
    database: &'a Database,
    lens: &'a PrismLens,
    filter: &'a ResultFilter,
    conditions: SearchConditions,
    limits: SearchLimits,
}

impl<'a> CandidateReader<'a> {
    /// Reads the candidates of a search through a lens.
    pub(super) fn new(
        refract: &'a Refract,
        lens: &'a PrismLens,
        search: &'a ResultSearch,
        limits: SearchLimits,
    ) -> Result<Self, ColumnNotSearchable> {
        Ok(Self {
            database: &refract.database,
            lens,
            filter: &search.filter,
            conditions: SearchConditions::of(lens, search)?,
            limits,
        })
    }

    /// Reads candidates until the page is full, there are no more, or too many were read. The page
    /// of the newest results also counts the matches.
    pub(super) async fn read(&self, page: SearchPage) -> Result<Matches, InternalError> {
        let (order, from) = match page {
            SearchPage::Newest => (ResultOrder::NewestFirst, None),
            SearchPage::OlderThan(id) => (ResultOrder::NewestFirst, Some(id)),
            SearchPage::NewerThan(id) => (ResultOrder::OldestFirst, Some(id)),
        };
        let most_found = usize::try_from(self.limits.results).unwrap_or(usize::MAX);
        let most_read = self.limits.candidates;
        let most_counted = match page {
            SearchPage::Newest if !self.each_matches() => self.limits.counted.min(most_read),
            SearchPage::Newest | SearchPage::OlderThan(_) | SearchPage::NewerThan(_) => 0,
        };
        let (mut found, mut matches) = (Vec::new(), 0);
        let (mut last, mut read, mut size) = (from, 0, self.first_read());
        let mut is_exhausted = false;
        let end = loop {
            let read_page = self.next_page(order, last, size).await?;
            for candidate in self.matching(read_page.candidates).await? {
                matches += 1;
                if found.len() < most_found {
                    found.push(candidate);
                }
            }
            read += size;
            let is_full = matches > most_found;
            match read_page.next {
                None => is_exhausted = true,
                next if read < if is_full { most_counted } else { most_read } => last = next,
                Some(id) if !is_full => {
                    let created_at = id.moment();
                    break SearchEnd::GivenUp {
                        last: id,
                        created_at,
                    };
                }
                Some(_) => {}
            }
            if is_exhausted || is_full && read >= most_counted {
                break if is_full {
                    SearchEnd::PageFull
                } else {
                    SearchEnd::NoneLeft
                };
            }
            let most = if is_full { most_counted } else { most_read };
            size = size.saturating_mul(4).min(LARGEST_READ).min(most - read);
        };
        let count = match page {
            SearchPage::OlderThan(_) | SearchPage::NewerThan(_) => None,
            SearchPage::Newest if self.limits.counted == 0 => None,
            SearchPage::Newest if is_exhausted => Some(MatchCount::All(matches)),
            SearchPage::Newest if self.each_matches() => Some(self.count_all().await?),
            SearchPage::Newest => Some(MatchCount::AmongNewest { matches, read }),
        };
        Ok(Matches { found, end, count })
    }

    /// Counts the matches among the next candidates after `last`, newest first; of the newest ones
    /// without it.
    pub(super) async fn count_on(
        &self,
        mut last: Option<ResultId>,
    ) -> Result<CountedMatches, InternalError> {
        let most_read = self.limits.candidates;
        let (mut matches, mut read) = (0, 0);
        loop {
            let size = LARGEST_READ.min(most_read - read);
            let page = self.next_page(ResultOrder::NewestFirst, last, size).await?;
            matches += self.matching(page.candidates).await?.len();
            read += size;
            last = page.next;
            if last.is_none() || read >= most_read {
                return Ok(CountedMatches {
                    matches,
                    counted_to: last,
                });
            }
        }
    }

    /// What `keep` makes of all matches among the newest candidates, newest first.
    pub(super) async fn read_newest<T>(
        &self,
        keep: impl Fn(SearchCandidate) -> Result<T, InternalError>,
    ) -> Result<(Vec<T>, MatchCount), InternalError> {
        let newest_first = ResultOrder::NewestFirst;
        let most_read = self.limits.candidates;
        let mut found = Vec::new();
        let (mut last, mut read) = (None, 0);
        loop {
            let size = LARGEST_READ.min(most_read - read);
            let page = self.next_page(newest_first, last, size).await?;
            for candidate in self.matching(page.candidates).await? {
                found.push(keep(candidate)?);
            }
            read += size;
            let matches = found.len();
            match page.next {
                None => return Ok((found, MatchCount::All(matches))),
                Some(_) if read >= most_read => {
                    return Ok((found, MatchCount::AmongNewest { matches, read }));
                }
                next @ Some(_) => last = next,
            }
        }
    }

    /// Whether each candidate of the index matches.
    fn each_matches(&self) -> bool {
        self.conditions.are_none() && self.filter.by_index() == *self.filter
    }

    /// Number of candidates in the first query: one more than the page has, if each candidate
    /// matches.
    fn first_read(&self) -> u32 {
        let page = self.limits.results.saturating_add(1);
        let first = if self.each_matches() {
            page
        } else {
            page.max(FIRST_READ)
        };
        first.min(self.limits.candidates)
    }

    /// Counts the candidates of the index, each of which matches.
    async fn count_all(&self) -> Result<MatchCount, InternalError> {
        let prism = &self.lens.prism;
        let most = self.limits.counted;
        let ids = self.database.list_candidate_ids(
            prism.account,
            prism.id,
            self.filter,
            most.saturating_add(1),
        );
        let found = ids.await?.len();
        let is_more = u32::try_from(found).is_ok_and(|found| found > most);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        Ok(if is_more {
            MatchCount::MoreThan(most)
        } else {
            MatchCount::All(found)
        })
    }

    /// The next candidates after `last`: of the marks where only marked results match, else of the
    /// index for the filter.
    async fn next_page(
        &self,
        order: ResultOrder,
        last: Option<ResultId>,
        size: u32,
    ) -> Result<CandidatePage, InternalError> {
        let (prism, database) = (&self.lens.prism, self.database);
        let is_full = |found: usize| u32::try_from(found) == Ok(size);
        if let Some(MarkCondition::Marked | MarkCondition::Outcome(..) | MarkCondition::By(_)) =
            self.conditions.marks
        {
            let marked = database.list_marked_ids(prism.id, self.filter, order, last, size);
            let ids = marked.await?;
            let next = ids.last().copied().filter(|_| is_full(ids.len()));
            let filter = self.filter.clone();
            let candidates = database.find_candidates(prism.account, ids, filter, order);
            return Ok(CandidatePage {
                candidates: candidates.await?,
                next,
            });
        }
        let candidates = database
            .list_candidates(prism.account, prism.id, self.filter, order, last, size)
            .await?;
        let next = candidates.last().filter(|_| is_full(candidates.len()));
        Ok(CandidatePage {
            next: next.map(|candidate| candidate.id),
            candidates,
        })
    }

    /// The candidates that match all conditions, in their order.
    async fn matching(
        &self,
        mut candidates: Vec<SearchCandidate>,
    ) -> Result<Vec<SearchCandidate>, InternalError> {
        candidates.retain(|candidate| candidate.meets(self.filter));
        if let Some(wanted) = self.filter.is_retried {
            let retries = self.database.list_retries(ids(&candidates)).await?;
            candidates.retain(|candidate| retries.contains_key(&candidate.id) == wanted);
        }
        if self.conditions.has_values() {
            candidates = self.answered(candidates).await?;
        }
        if self.conditions.marks.is_some() {
            let marks = self
                .conditions
                .marks_by_result(self.database, ids(&candidates));
            let marks = marks.await?;
            let marks_of = |id| marks.get(&id).map(Vec::as_slice).unwrap_or_default();
            candidates.retain(|candidate| self.conditions.match_marks(marks_of(candidate.id)));
        }
        if self.conditions.words.is_some() {
            candidates = self.with_words(candidates).await?;
        }
        Ok(candidates)
    }

    /// The candidates whose answers match.
    async fn answered(
        &self,
        candidates: Vec<SearchCandidate>,
    ) -> Result<Vec<SearchCandidate>, InternalError> {
        let prism = self.lens.prism.id;
        let mut answered = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let version = find_saved_version(self.database, prism, candidate.version).await?;
            let answers = candidate.answers()?;
            if self.conditions.match_answers(&version, answers.as_ref()) {
                answered.push(candidate);
            }
        }
        Ok(answered)
    }

    /// The candidates whose texts have the words. The database finds those that may, and the words
    /// are looked for in the texts of these, a few at a time.
    async fn with_words(
        &self,
        mut candidates: Vec<SearchCandidate>,
    ) -> Result<Vec<SearchCandidate>, InternalError> {
        let Some(words) = &self.conditions.words else {
            return Ok(candidates);
        };
        let database = self.database;
        let possible = database
            .find_like(ids(&candidates), words.patterns())
            .await?;
        candidates.retain(|candidate| possible.contains(&candidate.id));
        let mut having = HashSet::new();
        for part in candidates.chunks(TEXTS_AT_ONCE) {
            let account = self.lens.prism.account;
            for result in database.find_results(account, ids(part)).await? {
                if words.are_in(result.submission.field_values()) {
                    having.insert(result.id);
                }
            }
        }
        candidates.retain(|candidate| having.contains(&candidate.id));
        Ok(candidates)
    }
}

fn ids(candidates: &[SearchCandidate]) -> Vec<ResultId> {
    candidates.iter().map(|candidate| candidate.id).collect()
}
