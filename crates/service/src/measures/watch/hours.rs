//! Counts of a prism's results by hour, version, model and version of prompts, and counting the
//! results that are not in these hours yet.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::ids::{PrismId, ResultId};
use refract_domain::prism::VersionNumber;
use refract_evaluation::drift::{ResultTally, TalliedResult};
use refract_persistence::{
    CountableResult, Database, NewHours, PersistenceError, WatchHourRow, WriteOutcome,
};

/// Results that are read at one time.
const PAGE: u32 = 1024;
/// Results older than this are never counted: the first look at a large prism has an end.
const BACKLOG: TimeDelta = TimeDelta::days(40);

/// Whose results are counted together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HourKey {
    /// Whole hours since 1970.
    pub(super) hour: i32,
    pub(super) version: VersionNumber,
    /// The model, as its server reports it.
    pub(super) model: Option<String>,
    pub(super) prompt_version: Option<i32>,
}

/// The results of one key.
#[derive(Clone, Debug)]
pub(super) struct CountedHour {
    /// The moment of the first result.
    pub(super) first_at: DateTime<Utc>,
    pub(super) tally: ResultTally,
}

/// Counted results, in the order of their hours.
#[derive(Clone, Debug, Default)]
pub(super) struct CountedHours(BTreeMap<HourKey, CountedHour>);

impl CountedHours {
    /// Stored counts.
    ///
    /// # Errors
    /// Counts are not what this version of Refract stores.
    pub(super) fn of_rows(rows: Vec<WatchHourRow>) -> Result<Self, PersistenceError> {
        let column = "watch_hours.counts";
        let hours = rows.into_iter().map(|row| {
            let tally = serde_json::from_str(&row.counts);
            let tally = tally.map_err(|_| PersistenceError::Unreadable { column })?;
            let key = HourKey {
                hour: row.hour,
                version: row.version,
                model: row.model,
                prompt_version: row.prompt_version,
            };
            let first_at = row.first_at;
            Ok((key, CountedHour { first_at, tally }))
        });
        Ok(Self(hours.collect::<Result<_, PersistenceError>>()?))
    }

    /// The counts, to be stored.
    fn into_rows(self) -> Result<Vec<WatchHourRow>, PersistenceError> {
        let rows = self.0.into_iter().map(|(key, hour)| {
            let counts = serde_json::to_string(&hour.tally)
                .map_err(|_| PersistenceError::Refused("counts have no JSON".to_owned()))?;
            Ok(WatchHourRow {
                hour: key.hour,
                version: key.version,
                model: key.model,
                prompt_version: key.prompt_version,
                first_at: hour.first_at,
                counts,
            })
        });
        rows.collect()
    }

    /// Counts a result. Returns whether it is the first one of its hour, version, model and prompts.
    pub(super) fn add(&mut self, result: &CountableResult) -> bool {
        let moment = result.id.moment();
        let key = HourKey {
            hour: hour_of(moment),
            version: result.version,
            model: result.model.clone(),
            prompt_version: result.prompt_version,
        };
        let tallied = TalliedResult {
            answers: result.answers.as_ref(),
            took_ms: result.took_ms,
            is_truncated: result.is_truncated,
            input_tokens: result.input_tokens.unwrap_or_default(),
            output_tokens: result.output_tokens.unwrap_or_default(),
        };
        let mut is_first = false;
        let hour = self.0.entry(key).or_insert_with(|| {
            is_first = true;
            CountedHour {
                first_at: moment,
                tally: ResultTally::default(),
            }
        });
        hour.tally.add(&tallied);
        is_first
    }

    /// The counts from one hour on and before another.
    pub(super) fn between(
        &self,
        from: i32,
        to: i32,
    ) -> impl Iterator<Item = (&HourKey, &CountedHour)> {
        let hours = self.0.iter();
        hours.filter(move |(key, _)| (from..to).contains(&key.hour))
    }

    /// Number of results from one hour on and before another.
    pub(super) fn results(&self, from: i32, to: i32) -> u64 {
        let hours = self.between(from, to);
        hours.map(|(_, hour)| hour.tally.results).sum()
    }
}

/// The hour of a moment: whole hours since 1970.
pub(super) fn hour_of(moment: DateTime<Utc>) -> i32 {
    let hours = moment.timestamp().div_euclid(SECONDS);
    i32::try_from(hours).unwrap_or_default()
}

/// The moment at which an hour begins.
pub(super) fn begin_of(hour: i32) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::hours(hour.into())
}

const SECONDS: i64 = 60 * 60;

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
