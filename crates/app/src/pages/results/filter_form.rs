//! The filter form of the results, and links to common periods.

use chrono::{Datelike as _, Days, NaiveDate, Utc};
use maud::{Markup, html};
use refract_service::lenses::PrismLens;
use refract_service::results::{SearchableColumn, searchable_columns};

use super::actors::ResultActors;
use super::filter_values::FilterValues;
use crate::components::field::FormField;
use crate::requests::page_request::Query;

/// The form with the values that were sent, valid or not.
pub(super) fn filter_form(
    values: &FilterValues,
    lens: &PrismLens,
    actors: &ResultActors,
    address: &str,
) -> Markup {
    let statuses = [
        ("", "any"),
        ("ok", "ok"),
        ("failed", "failed"),
        ("unretried", "failed and not retried"),
    ];
    html! {
        form.filters method="get" action=(address) aria-label="Filters" {
            (answers(&values.field("value", "Answer"), lens))
            (values.field("status", "Status").choice(&statuses))
            (versions(&values.field("version", "Version"), lens))
            (values.field("from", "From (UTC)").line("date", "off"))
            (values.field("to", "To (UTC)").line("date", "off"))
            (values.field("ref", "Ref").line("search", "off"))
            (actors.choice(&values.field("by", "Made by")))
            button.main type="submit" { "Filter" }
            @if values.is_narrowed() || values.has_errors() { a.button href=(address) { "Clear" } }
        }
        (periods(&values.query, address, Utc::now().date_naive()))
    }
}

/// The values of each searchable column of the lens, grouped by column.
fn answers(field: &FormField<'_>, lens: &PrismLens) -> Markup {
    let columns = searchable_columns(lens);
    let mut listed = columns.iter().flat_map(|column| {
        let keys = column.values.iter().map(|value| value.key.as_str());
        keys.chain([""]).map(|key| sent_as(column, key))
    });
    let is_listed = field.value.is_empty() || listed.any(|sent| sent == field.value);
    let groups = html! {
        option value="" { "any" }
        @for column in &columns {
            optgroup label=(column.name.as_str()) {
                @for value in &column.values {
                    (field.option(&sent_as(column, &value.key), &named(column, &value.label)))
                }
                (field.option(&sent_as(column, ""), &named(column, "nothing")))
            }
        }
        // an older version may have values that the latest one lacks
        @if !is_listed { (field.option(field.value, field.value)) }
    };
    field.select(&groups)
}

/// The label of a column's value in the form.
fn named(column: &SearchableColumn, value: &str) -> String {
    format!("{}: {value}", column.name.as_str())
}

/// The form's value for a column's value.
fn sent_as(column: &SearchableColumn, key: &str) -> String {
    format!("{}:{key}", column.name.as_str())
}

fn versions(field: &FormField<'_>, lens: &PrismLens) -> Markup {
    let latest = lens.prism.latest_version.get();
    let numbers = html! {
        option value="" { "any" }
        @for number in (1..=latest).rev() {
            @let number = number.to_string();
            (field.option(&number, &number))
        }
    };
    field.select(&numbers)
}

/// Links that set the period and keep the other filters.
fn periods(query: &Query, address: &str, today: NaiveDate) -> Markup {
    let back = |days| today.checked_sub_days(Days::new(days)).unwrap_or(today);
    let in_week = u64::from(today.weekday().num_days_from_monday());
    let periods = [
        ("Today", today),
        ("This week", back(in_week)),
        ("Last 7 days", back(6)),
        ("Last 30 days", back(29)),
    ];
    html! {
        p.row {
            @for (words, from) in periods {
                @let from = from.to_string();
                @let is_shown = query.get("from") == Some(from.as_str()) && query.get("to").is_none();
                @let query = query.with("from", Some(&from)).with("to", None);
                a href={ (address) (query.in_address()) } aria-current=[is_shown.then_some("true")] { (words) }
            }
        }
    }
}
