//! The results of a prism after its watermark, counted day by day.

use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};
use refract_domain::ids::{PrismId, ResultId};
use refract_persistence::{Database, KeyCount, PersistenceError};

/// The results after a watermark, by day and key.
#[derive(Default)]
pub(super) struct Tail {
    /// Results that the watermark may pass.
    pub(super) closed: Vec<(NaiveDate, KeyCount)>,
    /// Results that are too young for the watermark to pass.
    pub(super) open: Vec<(NaiveDate, KeyCount)>,
}

impl Tail {
    /// Counts the results after `watermark`, from `first`, the first result after it.
    /// Results up to `closed` are old enough for the watermark to pass.
    ///
    /// A day without results costs nothing: the next day to be counted is that of the next result.
    pub(super) async fn count(
        database: &Database,
        prism: PrismId,
        watermark: Option<ResultId>,
        first: ResultId,
        closed: ResultId,
    ) -> Result<Self, PersistenceError> {
        let mut tail = Self::default();
        let mut after = watermark
            .unwrap_or(ResultId::LOWEST)
            .max(first.just_before());
        let mut next = Some(first.max(after.just_after()));
        while let Some(begin) = next {
            let day = begin.moment().date_naive();
            let last = last_of(day);
            if after < closed {
                let up_to = last.min(closed);
                let counted = database.count_results_by_key(prism, after, up_to).await?;
                tail.closed
                    .extend(counted.into_iter().map(|count| (day, count)));
                after = up_to;
            }
            if after < last {
                let counted = database.count_results_by_key(prism, after, last).await?;
                tail.open
                    .extend(counted.into_iter().map(|count| (day, count)));
                after = last;
            }
            next = database.find_first_result(prism, after).await?;
        }
        Ok(tail)
    }
}

/// The id after every result of a day and before the results of the next one.
fn last_of(day: NaiveDate) -> ResultId {
    let next = day.checked_add_days(Days::new(1));
    next.map_or(ResultId::HIGHEST, |next| {
        let begin: DateTime<Utc> = next.and_time(NaiveTime::MIN).and_utc();
        ResultId::first_of(begin).just_before()
    })
}
