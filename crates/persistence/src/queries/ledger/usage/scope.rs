//! Which results are added up, and by what. A period is whole days in UTC, whose sums are stored, and
//! parts of days.

use std::collections::BTreeSet;

use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};
use refract_domain::ids::{ApiKeyId, PrismId};

/// What usage can be grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UsageDimension {
    /// The prism that was asked.
    Prism,
    /// The API key that made the result.
    Key,
    /// The person who made the result in the app.
    Person,
    /// The file run that made the result.
    Run,
    /// The model, as its server reports it.
    Model,
    /// The day in UTC on which the result was saved.
    Day,
}

impl UsageDimension {
    /// Every dimension, in the order in which groups are listed.
    pub const ALL: [Self; 6] = [
        Self::Prism,
        Self::Key,
        Self::Person,
        Self::Run,
        Self::Model,
        Self::Day,
    ];

    /// The name of the dimension: `prism`, `key`, `person`, `run`, `model` or `day`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Prism => "prism",
            Self::Key => "key",
            Self::Person => "person",
            Self::Run => "run",
            Self::Model => "model",
            Self::Day => "day",
        }
    }

    /// The dimension with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}

/// Which results are added up, and in which groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageScope {
    /// What to group by; without any, all results are one group.
    pub by: BTreeSet<UsageDimension>,
    /// Only results of this prism.
    pub prism: Option<PrismId>,
    /// Only results that this key made.
    pub key: Option<ApiKeyId>,
    /// Results from this moment on; deleted ones from the beginning of its day in UTC.
    pub since: Option<DateTime<Utc>>,
    /// Results before this moment; deleted ones to the end of its day in UTC.
    pub until: Option<DateTime<Utc>>,
}

/// A period, cut at midnights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UsagePeriod {
    /// The whole days: from the first one on and before the second, each `None` where the period has
    /// no such end.
    pub(super) days: (Option<i32>, Option<i32>),
    /// What is left at the ends.
    pub(super) parts: Vec<PartOfDay>,
}

/// A part of one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartOfDay {
    /// The day, as days since 1970.
    pub(super) day: i32,
    /// The first moment.
    pub(super) since: DateTime<Utc>,
    /// The moment after the last.
    pub(super) until: DateTime<Utc>,
}

impl UsagePeriod {
    /// The period from one moment on and before another.
    pub(super) fn new(since: Option<DateTime<Utc>>, until: Option<DateTime<Utc>>) -> Self {
        let part = |since: DateTime<Utc>, until| PartOfDay {
            day: since.date_naive().to_epoch_days(),
            since,
            until,
        };
        let first = since.map(|since| first_midnight(since).max(since));
        let end = until.map(|until| midnight(until.date_naive()));
        if let (Some(since), Some(until)) = (since, until)
            && first > end
        {
            // within one day, or nothing at all
            let nothing = (Some(0), Some(0));
            return Self {
                days: nothing,
                parts: vec![part(since, until)],
            };
        }
        let begin = since.zip(first).filter(|(since, first)| since < first);
        let rest = end.zip(until).filter(|(end, until)| end < until);
        let day = |moment: DateTime<Utc>| moment.date_naive().to_epoch_days();
        Self {
            days: (first.map(day), end.map(day)),
            parts: [begin, rest]
                .into_iter()
                .flatten()
                .map(|(since, until)| part(since, until))
                .collect(),
        }
    }
}

/// The midnight at a moment or the next one after it.
fn first_midnight(moment: DateTime<Utc>) -> DateTime<Utc> {
    let day = moment.date_naive();
    if midnight(day) == moment {
        return moment;
    }
    midnight(day.checked_add_days(Days::new(1)).unwrap_or(day))
}

fn midnight(day: NaiveDate) -> DateTime<Utc> {
    day.and_time(NaiveTime::MIN).and_utc()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(hours: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + chrono::TimeDelta::hours(hours)
    }

    /// The day of a part, its first hour and the hour after its last.
    type HoursOfDay = (i32, i64, i64);

    /// The whole days and the hours of the parts.
    fn cut(
        since: Option<i64>,
        until: Option<i64>,
    ) -> ((Option<i32>, Option<i32>), Vec<HoursOfDay>) {
        let period = UsagePeriod::new(since.map(moment), until.map(moment));
        let hour = |moment: DateTime<Utc>| moment.timestamp() / 3600;
        let parts = period.parts.into_iter();
        let parts = parts.map(|part| (part.day, hour(part.since), hour(part.until)));
        (period.days, parts.collect())
    }

    #[test]
    fn a_period_is_whole_days_and_what_is_left_at_its_ends() {
        assert_eq!(cut(None, None), ((None, None), vec![]));
        assert_eq!(cut(Some(24), Some(72)), ((Some(1), Some(3)), vec![]));
        assert_eq!(cut(Some(25), None), ((Some(2), None), vec![(1, 25, 48)]));
        assert_eq!(cut(None, Some(25)), ((None, Some(1)), vec![(1, 24, 25)]));
        let both_ends = vec![(0, 5, 24), (3, 72, 73)];
        assert_eq!(cut(Some(5), Some(73)), ((Some(1), Some(3)), both_ends));
        let no_whole_day = vec![(0, 5, 24), (1, 24, 30)];
        assert_eq!(cut(Some(5), Some(30)), ((Some(1), Some(1)), no_whole_day));
        let one_day = vec![(1, 25, 30)];
        assert_eq!(cut(Some(25), Some(30)), ((Some(0), Some(0)), one_day));
    }

    #[test]
    fn the_first_and_the_last_moment_of_all_can_be_named() {
        for moment in [DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC] {
            UsagePeriod::new(Some(moment), Some(moment));
            UsagePeriod::new(Some(moment), None);
            UsagePeriod::new(None, Some(moment));
        }
    }
}
