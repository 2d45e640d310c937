//! Begins a sitting: draws the results of its queue.

use refract_boxed_futures::boxed;
use std::collections::HashSet;
use std::sync::Arc;

use chrono::Utc;
use refract_domain::ids::{PersonId, ResultId, SittingId};
use refract_domain::lens::{Cutoffs, cutoffs_of};
use refract_domain::prism::VersionNumber;
use refract_domain::result::mark::Annotator;
use refract_domain::result::whole_milliseconds;
use refract_evaluation::counting::ReviewOrder;
use refract_persistence::{Prism, ResultFilter, SearchCandidate, SittingRow};

use super::next::{OpenQuestions, WantedQuestions};
use super::sitting::{KEPT, SittingState};
use super::{QueueKind, ReviewQueue};
use crate::InternalError;
use crate::lenses::PrismLens;
use crate::marks::Marks;
use crate::results::SearchError;

/// Most results of a sitting.
const SIZE: usize = 200;
/// Newest results that a queue looks at when no index has its order: every queue but a random
/// sample. Reading them takes a fraction of a second.
pub const REVIEWED_NEWEST: u32 = 20_000;
/// Newest versions among which one with results is looked for.
const VERSIONS: usize = 20;
/// Results of the sample that the first query reads.
const FIRST_READ: u32 = 256;
/// Results of the sample that are read at most: a filter that matches fewer than one in ten of them
/// is searched by its own index.
const MOST_READ: u32 = 4_096;

/// The results of a queue, and whether there were more than were looked at.
struct DrawnResults {
    results: Vec<ResultId>,
    is_of_newest: bool,
}

#[boxed]
impl Marks<'_> {
    /// The version of which results are drawn unless all are: the newest one that has results, so
    /// that a version just saved leaves something to judge.
    pub async fn version_to_review(self, prism: &Prism) -> Result<VersionNumber, InternalError> {
        let database = &self.refract.database;
        let latest = prism.latest_version;
        let newest_first = (1..=latest.get()).rev().filter_map(VersionNumber::new);
        for version in newest_first.take(VERSIONS) {
            let filter = ResultFilter {
                version: Some(version),
                ..ResultFilter::default()
            };
            let found = database.list_candidate_ids(prism.account, prism.id, &filter, 1);
            if !found.await?.is_empty() {
                return Ok(version);
            }
        }
        Ok(latest)
    }

    /// Begins a sitting with this id and up to 200 results of a queue, unless it was begun before.
    /// It is empty when everything in the queue is judged.
    ///
    /// # Errors
    /// When a column of the search cannot be searched, or the database fails.
    pub async fn begin_review(
        self,
        lens: &Arc<PrismLens>,
        person: PersonId,
        by: &Annotator,
        queue: &ReviewQueue,
        id: SittingId,
    ) -> Result<(), SearchError> {
        let is_fair = queue.is_fair();
        let drawn = self.draw(lens, by, queue).await?;
        let state = SittingState {
            kind: queue.kind,
            question: queue.question.clone(),
            is_blind: queue.is_blind || queue.kind == QueueKind::Random,
            is_fair,
            is_shared: queue.is_shared,
            is_of_newest: drawn.is_of_newest,
            results: drawn.results,
            steps: Vec::new(),
            version: queue.search.filter.version,
            since: queue.search.filter.since,
            until: queue.search.filter.until,
        };
        let now = whole_milliseconds(Utc::now());
        let sitting = SittingRow {
            id,
            person,
            prism: lens.prism.id,
            state: state.json().map_err(InternalError::from)?,
            used_at: now,
        };
        let database = &self.refract.database;
        let Err(error) = database.begin_sitting(sitting, now - KEPT).await else {
            return Ok(());
        };
        // a form that is sent twice begins one sitting
        let begun = self.find_sitting(person, lens.prism.id, id).await?;
        begun.map(drop).ok_or(InternalError::from(error).into())
    }

    async fn draw(
        self,
        lens: &PrismLens,
        by: &Annotator,
        queue: &ReviewQueue,
    ) -> Result<DrawnResults, SearchError> {
        if queue.is_fair()
            && let Some(results) = self.sample(lens, by, queue).await?
        {
            let is_of_newest = false;
            return Ok(DrawnResults {
                results,
                is_of_newest,
            });
        }
        if queue.kind == QueueKind::Differ {
            return self.disputed(lens, by, queue).await;
        }
        let searching = self.refract.results();
        let search = queue.ok_search();
        let searching = searching.newest_matches(lens, &search, REVIEWED_NEWEST);
        let (found, is_of_newest) = searching.await?;
        let mut results = Vec::new();
        for part in ordered(lens, queue, found)?.chunks(SIZE) {
            results.extend(self.open(lens, by, queue, part).await?);
            if results.len() >= SIZE {
                break;
            }
        }
        results.truncate(SIZE);
        Ok(DrawnResults {
            results,
            is_of_newest,
        })
    }

    /// The results about which people differ, those that match the search.
    async fn disputed(
        self,
        lens: &PrismLens,
        by: &Annotator,
        queue: &ReviewQueue,
    ) -> Result<DrawnResults, SearchError> {
        let (database, question) = (&self.refract.database, queue.question.as_ref());
        let listing = database.list_disputed(lens.prism.id, question, REVIEWED_NEWEST);
        let mut disputed = listing.await.map_err(InternalError::from)?;
        let search = queue.ok_search();
        let every = ReviewQueue::default().ok_search();
        let mut is_of_newest = false;
        if search != every {
            let searching = self.refract.results();
            let searching = searching.newest_matches(lens, &search, REVIEWED_NEWEST);
            let (found, is_cut) = searching.await?;
            let found: HashSet<_> = found.iter().map(|candidate| candidate.id).collect();
            disputed.retain(|id| found.contains(id));
            is_of_newest = is_cut;
        }
        disputed.truncate(SIZE);
        let results = self.open(lens, by, queue, &disputed).await?;
        Ok(DrawnResults {
            results,
            is_of_newest,
        })
    }

    /// The first open results of the random sample; `None` if the part of the sample that an index
    /// holds has too few.
    async fn sample(
        self,
        lens: &PrismLens,
        by: &Annotator,
        queue: &ReviewQueue,
    ) -> Result<Option<Vec<ResultId>>, InternalError> {
        let (prism, database) = (&lens.prism, &self.refract.database);
        let filter = queue.ok_search().filter;
        let (mut results, mut last) = (Vec::new(), None);
        let (mut read, mut size) = (0, FIRST_READ);
        while read < MOST_READ {
            let page = database.list_sample(prism.account, prism.id, last, size);
            let page = page.await?;
            let is_end = u32::try_from(page.len()).is_ok_and(|found| found < size);
            last = page.last().map(|candidate| candidate.id);
            let matching = page.iter().filter(|it| {
                let (since, until) = (filter.since, filter.until);
                it.meets(&filter)
                    && since.is_none_or(|since| it.created_at >= since)
                    && until.is_none_or(|until| it.created_at < until)
            });
            let ids: Vec<_> = matching.map(|candidate| candidate.id).collect();
            results.extend(self.open(lens, by, queue, &ids).await?);
            if results.len() >= SIZE {
                results.truncate(SIZE);
                return Ok(Some(results));
            }
            if is_end {
                return Ok(None);
            }
            read += size;
            size *= 2;
        }
        Ok(None)
    }

    /// Those of some results that have an open question.
    async fn open(
        self,
        lens: &PrismLens,
        by: &Annotator,
        queue: &ReviewQueue,
        results: &[ResultId],
    ) -> Result<Vec<ResultId>, InternalError> {
        let wanted = WantedQuestions {
            question: queue.question.as_ref(),
            kind: queue.kind,
            is_fair: queue.is_fair(),
            of_person: queue.is_of_person().then_some(by),
        };
        let open = OpenQuestions::find(self, &lens.prism, results, wanted).await?;
        let results = results.iter().copied();
        Ok(results.filter(|id| !open.of(*id).is_empty()).collect())
    }
}

/// The results of a queue in its order, those that come newest first in `found`.
fn ordered(
    lens: &PrismLens,
    queue: &ReviewQueue,
    found: Vec<SearchCandidate>,
) -> Result<Vec<ResultId>, InternalError> {
    let question = queue.question.as_ref();
    let of_lens = || question.map(|question| cutoffs_of(lens.columns().lens, question));
    let order = match queue.kind {
        QueueKind::Random => {
            let mut ids: Vec<_> = found.iter().map(|candidate| candidate.id).collect();
            ids.sort_unstable_by_key(|id| (id.random_bits(), *id));
            return Ok(ids);
        }
        QueueKind::Filter | QueueKind::Differ => {
            return Ok(found.iter().map(|candidate| candidate.id).collect());
        }
        QueueKind::Near => {
            let cutoffs = queue.cutoffs.or_else(of_lens);
            ReviewOrder::Near(cutoffs.unwrap_or(Cutoffs::AUTOMATIC))
        }
        QueueKind::LeastSure => ReviewOrder::LeastSure,
        QueueKind::NoValidAnswer => ReviewOrder::NoValidAnswer,
    };
    let mut placed = Vec::new();
    for candidate in found {
        let answers = candidate.answers().map_err(InternalError::from)?;
        let place = answers.and_then(|answers| order.place_of(&answers, question));
        if let Some(place) = place {
            placed.push((place, candidate.id));
        }
    }
    // of equal places the newest comes first
    placed.sort_by_key(|(place, _)| *place);
    Ok(placed.into_iter().map(|(_, id)| id).collect())
}
