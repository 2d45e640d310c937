//! Counting the results of a prism that are not in its hours yet.

use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::ids::{PrismId, ResultId};
use refract_persistence::{Database, NewHours, PersistenceError, WriteOutcome};

use super::hours::{CountedHours, hour_of};

/// Results that are read at one time.
const PAGE: u32 = 1024;
/// Results older than this are never counted: the first look at a large prism has an end.
const BACKLOG: TimeDelta = TimeDelta::days(40);

/// Results of a prism.
#[derive(Clone, Copy, Debug)]
pub(super) struct Uncounted {
    pub(super) prism: PrismId,
    /// The results after this id, or after the watermark if that is higher.
    pub(super) from: ResultId,
    /// The results up to this id.
    pub(super) up_to: ResultId,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CountedResults {
    /// Number of results.
    pub(super) results: u64,
    /// Whether one was the first of its hour, version, model and prompts.
    pub(super) has_first: bool,
}

/// The id after which results are counted at a moment.
pub(super) fn first_watched(now: DateTime<Utc>) -> ResultId {
    ResultId::first_of(now - BACKLOG).just_before()
}

/// Counts results and stores the counts, page by page. `goes_on` gets the time that a page took and
/// may wait; counting ends when it returns `false`, and when another node counts the same results.
///
/// # Errors
/// When the database fails. What was stored by then is counted.
pub(super) async fn count_closed(
    database: &Database,
    uncounted: Uncounted,
    mut goes_on: impl AsyncFnMut(Duration) -> bool,
) -> Result<CountedResults, PersistenceError> {
    let prism = uncounted.prism;
    let mut counted = CountedResults::default();
    // no hour: the watermark alone
    let mut read_up_to = database.list_watch_hours(prism, 0, 0).await?.up_to;
    loop {
        let began = Instant::now();
        let after = read_up_to.map_or(uncounted.from, |up_to| up_to.max(uncounted.from));
        let page = database
            .list_countable_results(prism, after, uncounted.up_to, PAGE)
            .await?;
        let (Some(first), Some(last)) = (page.first(), page.last()) else {
            return Ok(counted);
        };
        let (from, to) = (hour_of(first.id.moment()), hour_of(last.id.moment()) + 1);
        let kept = database.list_watch_hours(prism, from, to).await?;
        if kept.up_to != read_up_to {
            return Ok(counted);
        }
        let mut hours = CountedHours::of_rows(kept.hours)?;
        let mut has_first = false;
        for result in &page {
            has_first |= hours.add(result);
        }
        let new = NewHours {
            prism,
            read_up_to,
            up_to: last.id,
            hours: hours.into_rows()?,
        };
        if database.keep_watch_hours(new).await? != WriteOutcome::Saved {
            return Ok(counted);
        }
        read_up_to = Some(last.id);
        counted.results += u64::try_from(page.len()).unwrap_or(u64::MAX);
        counted.has_first |= has_first;
        if !goes_on(began.elapsed()).await {
            return Ok(counted);
        }
    }
}

/// Reads results and adds them to counts, without storing the counts.
pub(super) async fn add_open(
    database: &Database,
    open: Uncounted,
    hours: &mut CountedHours,
) -> Result<(), PersistenceError> {
    let mut after = open.from;
    loop {
        let page = database
            .list_countable_results(open.prism, after, open.up_to, PAGE)
            .await?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = last.id;
        for result in &page {
            hours.add(result);
        }
    }
}
