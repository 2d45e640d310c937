//! The results of a prism after its watermark, counted day by day.

use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};
use refract_domain::ids::{PrismId, ResultId};
use refract_persistence::{Database, KeyCount, PersistenceError};

/// Counts the results of a prism from `first` on, by day and key.
///
/// A day without results costs nothing: the next day to be counted is that of the next result.
pub(super) async fn count_tail(
    database: &Database,
    prism: PrismId,
    first: ResultId,
) -> Result<Vec<(NaiveDate, KeyCount)>, PersistenceError> {
    let mut tail = Vec::new();
    let mut next = Some(first);
    while let Some(begin) = next {
        let day = begin.moment().date_naive();
        let last = last_of(day);
        let counting = database.count_results_by_key(prism, begin.just_before(), last);
        tail.extend(counting.await?.into_iter().map(|count| (day, count)));
        next = database.find_first_result(prism, last).await?;
    }
    Ok(tail)
}

/// The id after every result of a day and before the results of the next one.
fn last_of(day: NaiveDate) -> ResultId {
    let next = day.checked_add_days(Days::new(1));
    next.map_or(ResultId::HIGHEST, |next| {
        let begin: DateTime<Utc> = next.and_time(NaiveTime::MIN).and_utc();
        ResultId::first_of(begin).just_before()
    })
}
