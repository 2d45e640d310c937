//! Days in addresses and forms, in UTC.

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveTime, Utc};

/// The validation error of a text that is not a day.
pub(crate) const NO_DAY: &str = "is no day: write it like 2026-05-04";

/// Reads a day such as `2026-05-04`.
pub(crate) fn day(text: &str) -> Option<NaiveDate> {
    let day = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
    (1970..=9998).contains(&day.year()).then_some(day)
}

/// The moment at which a day begins.
pub(crate) fn beginning(day: NaiveDate) -> DateTime<Utc> {
    day.and_time(NaiveTime::MIN).and_utc()
}
