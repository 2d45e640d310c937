//! The period and the groups of the usage: parsed from an address, chosen in a form, and as rows of a
//! table.

use std::collections::BTreeSet;

use chrono::{Datelike as _, Days, NaiveDate, Offset as _, Utc};
use maud::{Markup, html};
use refract_domain::ids::{ApiKeyId, PrismId};
use refract_service::prisms::Prism;
use refract_service::results::{ListedUsage, Usage, UsageDimension, UsageScope, total_usage};

use crate::components::{ListFilters, count, counted, run_address, stacked_table};
use crate::pages::keys::address_of_key;
use crate::requests::{Day, Query};

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

/// The days that are added up in words, with links to the usual ones.
pub(super) fn usage_period(query: &UsageQuery) -> Markup {
    let (from, to) = (query.query.get("from"), query.query.get("to"));
    let day = from.and_then(Day::parse);
    let offset = day.map_or(Utc.fix(), |day| day.offset);
    let today = Utc::now().with_timezone(&offset).date_naive();
    let of_month = today.with_day(1).unwrap_or(today);
    let usual = [("Last 30 days", first_day(today)), ("This month", of_month)];
    let is_shown = |first| to.is_none() && day.is_some_and(|day| day.date == first);
    html! {
        p.row {
            @if !usual.iter().any(|(_, first)| is_shown(*first)) {
                strong {
                    @if let Some(from) = day { "From " (from.date) }
                    @if let Some(to) = to.and_then(Day::parse) { @if day.is_some() { " to " } @else { "To " } (to.date) }
                }
            }
            @for (words, first) in usual {
                @if is_shown(first) { strong { (words) } }
                @else {
                    @let of_period = query.query.with("from", Some(&first.to_string())).with("to", None);
                    a href={ (ADDRESS) (of_period.in_address()) } { (words) }
                }
            }
        }
    }
}

/// The form with the values that were sent, valid or not.
pub(super) fn usage_form(
    query: &UsageQuery,
    prisms: &[Prism],
    keys: &[(ApiKeyId, String)],
) -> Markup {
    let by = query.field("by", "Added up by");
    let prism = query.field("prism", "Of");
    let key = query.field("key", "Made by key");
    html! {
        form.filters method="get" action=(ADDRESS) aria-label="Filters" {
            (by.select(&html! {
                @for dimension in UsageDimension::ALL {
                    (by.option(dimension.name(), label(dimension)))
                }
            }))
            (prism.select(&html! {
                option value="" { "all prisms" }
                @for listed in prisms {
                    (prism.option(&listed.id.to_string(), listed.name.as_str()))
                }
            }))
            (key.select(&html! {
                option value="" { "any, or none" }
                @for (id, label) in keys {
                    (key.option(&id.to_string(), label))
                }
            }))
            (query.period())
            button.main type="submit" { "Show" }
        }
    }
}

/// A dimension as people name it.
pub(super) fn label(dimension: UsageDimension) -> &'static str {
    match dimension {
        UsageDimension::Prism => "Prism",
        UsageDimension::Key => "Key",
        UsageDimension::Person => "Person",
        UsageDimension::Run => "File run",
        UsageDimension::Model => "Model",
        UsageDimension::Day => "Day",
    }
}

/// The headings of the sums.
const SUMS: [&str; 7] = [
    "Results",
    "Failed",
    "Model requests",
    "Tokens read",
    "From the cache",
    "Tokens written",
    "Cost",
];

/// A row for each group and, below several ones, their total.
pub(super) fn usage_table(
    by: &BTreeSet<UsageDimension>,
    listed: &[ListedUsage],
    prisms: &[Prism],
) -> Markup {
    let headings = by.iter().map(|dimension| label(*dimension)).chain(SUMS);
    let headings: Vec<&str> = headings.collect();
    let rows = html! {
        @for group in listed {
            tr {
                @for dimension in by { th scope="row" { (name(group, *dimension, prisms)) } }
                (sums(&group.usage))
            }
        }
        @if listed.len() > 1 {
            tr {
                @for (place, _) in by.iter().enumerate() {
                    th scope="row" { @if place == 0 { "All" } }
                }
                (sums(&total_usage(listed)))
            }
        }
    };
    let unknown = without_cost(listed);
    html! {
        (stacked_table("Usage", &headings, &rows))
        @if unknown > 0 { p.hint { "Cost unknown for " (counted(unknown, "result")) ": " (NO_PRICE) } }
    }
}

/// Why a cost is unknown, and what to do.
pub(super) const NO_PRICE: &str = "the model's host states none. Whoever runs the server can set prices \
     (REFRACT_MODEL_PRICES); results from then on have a cost.";

/// How many results are in groups that asked a model and have no cost.
pub(super) fn without_cost(listed: &[ListedUsage]) -> u64 {
    let unknown = listed.iter().filter(|group| is_unknown(&group.usage));
    unknown.map(|group| group.usage.calls).sum()
}

fn is_unknown(usage: &Usage) -> bool {
    usage.cost.is_none() && usage.model_requests > 0
}

/// The name of a group, with a link to what it is about.
fn name(group: &ListedUsage, dimension: UsageDimension, prisms: &[Prism]) -> Markup {
    match (dimension, &group.prism, &group.key, &group.run) {
        (UsageDimension::Prism, Some(slug), _, _) => {
            let mut named = prisms.iter();
            let named = named.find(|prism| prism.slug.as_str() == slug);
            let name = named.map_or(slug.as_str(), |prism| prism.name.as_str());
            html! { a href={ "/prisms/" (slug) } { bdi { (name) } } br; code.soft { (slug) } }
        }
        (UsageDimension::Key, _, Some(key), _) => {
            html! { a href=(address_of_key(key.id)) { bdi { (key.label) } } }
        }
        (UsageDimension::Run, _, _, Some(run)) => {
            html! { a href=(run_address(run.id)) { bdi { (run.file_name) } } }
        }
        _ => html! { bdi { (group.name(dimension)) } },
    }
}

fn sums(usage: &Usage) -> Markup {
    html! {
        @for (heading, number) in SUMS.iter().zip(usage.counts()) {
            td.number data-label=(heading) { (count(number)) }
        }
        td.number data-label="Cost" {
            @match usage.cost {
                Some(cost) => (cost),
                None if is_unknown(usage) => { span.soft { "unknown" } }
                None => "0",
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0190b8f2-0000-7000-8000-0000000000aa";

    fn read(query: &str) -> UsageQuery {
        UsageQuery::read(&Query::parse(query))
    }

    #[test]
    fn without_a_period_the_last_thirty_days_are_added_up_by_prism() {
        let query = read("");
        let first = first_day(Utc::now().date_naive());
        assert_eq!(
            query.filter.since,
            Day::parse(&first.to_string()).map(Day::begin)
        );
        assert_eq!(query.filter.until, None);
        assert_eq!(query.filter.by, [UsageDimension::Prism].into());
        assert!(query.query.in_address().contains(&format!("from={first}")));
    }

    #[test]
    fn a_chosen_period_and_prism_are_kept() {
        let query = read(&format!("by=day&prism={ID}&key={ID}&to=2026-05-04"));
        assert!(!query.has_errors());
        assert_eq!(query.filter.since, None);
        let end = Day::parse("2026-05-05").map(Day::begin);
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
