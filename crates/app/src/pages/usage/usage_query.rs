//! The period and the groups of the usage, parsed from an address.

use chrono::{Days, NaiveDate, Utc};
use refract_domain::ids::{ApiKeyId, PrismId};
use refract_service::results::{UsageDimension, UsageScope};

use crate::components::list_filters::ListFilters;
use crate::requests::page_request::Query;

/// The address of the page.
pub(super) const ADDRESS: &str = "/usage";
/// The query parameters of the form, which are also the names of its inputs.
const NAMES: [&str; 5] = ["by", "prism", "key", "from", "to"];
/// The days that are shown when no period is chosen, with today.
const DAYS: u64 = 30;

/// The parsed choices, with their validation errors.
pub(super) type UsageQuery = ListFilters<UsageScope>;

impl UsageQuery {
    /// Parses the choices. Without a period, the last 30 days are added up.
    pub(super) fn read(query: &Query) -> Self {
        let mut read = Self::unread(query, &NAMES);
        if read.query.get("from").is_none() && read.query.get("to").is_none() {
            let first = first_day(Utc::now().date_naive());
            read.query = read.query.with("from", Some(&first.to_string()));
        }
        let choose = "is none of the list: choose one";
        let by = read.read_one("by", choose, UsageDimension::named);
        let prism = read.read_one("prism", choose, PrismId::parse);
        let key = read.read_one("key", choose, ApiKeyId::parse);
        let (since, until) = read.read_period();
        read.filter = UsageScope {
            by: [by.unwrap_or(UsageDimension::Prism)].into(),
            prism,
            key,
            since,
            until,
        };
        read
    }
}

/// The first of the days that end today.
fn first_day(today: NaiveDate) -> NaiveDate {
    today.checked_sub_days(Days::new(DAYS - 1)).unwrap_or(today)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requests::days::beginning;

    const ID: &str = "0190b8f2-0000-7000-8000-0000000000aa";

    fn read(query: &str) -> UsageQuery {
        UsageQuery::read(&Query::parse(query))
    }

    #[test]
    fn without_a_period_the_last_thirty_days_are_added_up_by_prism() {
        let query = read("");
        let first = first_day(Utc::now().date_naive());
        assert_eq!(query.filter.since, Some(beginning(first)));
        assert_eq!(query.filter.until, None);
        assert_eq!(query.filter.by, [UsageDimension::Prism].into());
        assert!(query.query.in_address().contains(&format!("from={first}")));
    }

    #[test]
    fn a_chosen_period_and_prism_are_kept() {
        let query = read(&format!("by=day&prism={ID}&key={ID}&to=2026-05-04"));
        assert!(!query.has_errors());
        assert_eq!(query.filter.since, None);
        let end = NaiveDate::from_ymd_opt(2026, 5, 5).map(beginning);
        assert_eq!(query.filter.until, end);
        assert_eq!(query.filter.prism, PrismId::parse(ID));
        assert_eq!(query.filter.key, ApiKeyId::parse(ID));
        assert_eq!(query.filter.by, [UsageDimension::Day].into());
    }

    #[test]
    fn what_cannot_be_read_is_an_error_at_its_input() {
        for (query, name) in [
            ("by=hour", "by"),
            ("prism=triage", "prism"),
            ("key=importer", "key"),
            ("from=yesterday", "from"),
            ("from=2026-05-04&to=2026-05-03", "to"),
        ] {
            let query = read(query);
            assert!(query.has_errors());
            assert_ne!(query.error(name), "", "{name}");
        }
    }
}
