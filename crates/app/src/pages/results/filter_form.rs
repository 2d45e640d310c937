//! The filter form of the results, and the filters that are set, as chips: each is a link to the list
//! without it.

use chrono::{FixedOffset, NaiveDate, Offset as _, Utc};
use maud::{Markup, html};
use refract_domain::ids::PersonId;
use refract_domain::result::ResultActor;
use refract_service::lenses::PrismLens;
use refract_service::results::SearchableColumn;

use super::filter_values::{FilterValues, MARKED_BY, ORDER, QuickPeriod, RUN};
use super::rows::ResultActors;
use crate::components::{FormField, clamped, run_address};
use crate::requests::Day;

/// The most columns of which each has a list of its values; of more, one is chosen at a time.
const LISTED_COLUMNS: usize = 6;
/// The query parameter that chooses a column whose values are listed.
const COLUMN: &str = "column";

/// The form with the values that were sent, valid or not. `chosen` is a column whose values are to
/// be listed.
pub(super) fn filter_form(
    values: &FilterValues,
    lens: &PrismLens,
    columns: &[SearchableColumn],
    chosen: Option<&str>,
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
            (values.field("words", "Words in the texts").line("search", "off"))
            (values.field("ref", "Ref").line("search", "off"))
            (passed_on(values, "answer"))
            (passed_on(values, RUN))
            details.more open data-used[values.has_errors() || chosen.is_some()] {
                summary { "More filters" }
                (answers(values, lens, columns, chosen))
                (values.field("status", "Status").choice(&statuses))
                (versions(&values.field("version", "Version"), lens))
                (values.period())
                (actors.choice(&values.field("by", "Made by")))
                (marks(&values.field("marks", "Marks"), actors))
                (values.field(ORDER, "Order").choice(&FilterValues::ORDERS))
            }
            button.main type="submit" { "Filter" }
            @if values.is_narrowed() || values.has_errors() { a.button href=(address) { "Clear" } }
            (periods(values))
            @if let Some(run) = values.filter.filter.run {
                p.hint { "Only results of " a href=(run_address(run)) { "one file run" } "." }
            }
        }
    }
}

/// A list of values for each column, or for the chosen ones of many.
fn answers(
    values: &FilterValues,
    lens: &PrismLens,
    columns: &[SearchableColumn],
    chosen: Option<&str>,
) -> Markup {
    let sent: Vec<_> = values.query.all("value").collect();
    let is_sent = |column: &SearchableColumn| {
        let of_column = format!("{}:", column.name.as_str());
        sent.iter().any(|sent| sent.starts_with(&of_column))
    };
    let is_chosen = |column: &SearchableColumn| Some(column.name.as_str()) == chosen;
    let listed = |column: &&SearchableColumn| {
        columns.len() <= LISTED_COLUMNS || is_sent(column) || is_chosen(column)
    };
    let error = values.error("value");
    html! {
        @for column in columns.iter().filter(listed) {
            (of_column(column, asked(lens, column.name.as_str()), &sent))
        }
        @if columns.len() > LISTED_COLUMNS {
            div.field {
                label for=(COLUMN) { "By an answer" }
                select #(COLUMN) name=(COLUMN) {
                    option value="" { "choose a column" }
                    @for column in columns.iter().filter(|column| !listed(column)) {
                        @let name = column.name.as_str();
                        option value=(name) {
                            (name) @if let Some(words) = asked(lens, name) { " · " (clamped(words, VALUE)) }
                        }
                    }
                }
            }
        }
        @if !error.is_empty() { p.fault { (error) } }
    }
}

/// The words of the question that a column of the lens or a key is about.
fn asked<'a>(lens: &'a PrismLens, name: &str) -> Option<&'a str> {
    let mut columns = lens.columns().lens.iter();
    let column = columns.find(|column| column.name.as_str() == name);
    let key = column.map_or(name, |column| column.question.as_str());
    let mut questions = lens.latest.questions().iter();
    let question = questions.find(|question| question.key.as_str() == key)?;
    Some(&question.text)
}

/// The values of one column, whose question shows on hover.
fn of_column(column: &SearchableColumn, asked: Option<&str>, sent: &[&str]) -> Markup {
    let name = column.name.as_str();
    let sent_as = |key: &str| format!("{name}:{key}");
    let (of_latest, former): (Vec<_>, Vec<_>) =
        column.values.iter().partition(|value| !value.is_former);
    let option = |key: &str, label: &str| {
        let value = sent_as(key);
        html! { option value=(value) selected[sent.contains(&value.as_str())] { (label) } }
    };
    let id = format!("value.{name}");
    html! {
        div.field title=[asked] {
            label for=(id) { bdi { (name) } }
            select #(id) name="value" {
                option value="" { "any" }
                @for value in of_latest { (option(&value.key, &value.label)) }
                @if !former.is_empty() {
                    optgroup label="Earlier versions" {
                        @for value in former { (option(&value.key, &value.label)) }
                    }
                }
                (option("", "no value"))
            }
        }
    }
}

/// Values that a link brought and the form has no input for.
fn passed_on(values: &FilterValues, name: &str) -> Markup {
    let error = values.error(name);
    html! {
        @for value in values.query.all(name) { input type="hidden" name=(name) value=(value); }
        @if !error.is_empty() { p.fault { (error) } }
    }
}

/// What else than `any` or `none` the marks must be.
fn marked_in_words(value: &str, actors: &ResultActors) -> String {
    match value.strip_prefix(MARKED_BY).and_then(PersonId::parse) {
        Some(person) => format!("marked by {}", actors.name(ResultActor::Person(person))),
        None => format!("marked {value}"),
    }
}

fn marks(field: &FormField<'_>, actors: &ResultActors) -> Markup {
    let listed = [("", "any"), ("any", "marked"), ("none", "not marked")];
    let is_listed = listed.iter().any(|(value, _)| *value == field.value);
    field.select(&html! {
        @for (value, words) in listed { (field.option(value, words)) }
        @if !is_listed { (field.option(field.value, &marked_in_words(field.value, actors))) }
    })
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

/// Buttons that set the period and send the form as it is.
fn periods(values: &FilterValues) -> Markup {
    let from = values.query.get("from").and_then(Day::parse);
    let offset = from.map_or(Utc.fix(), |from| from.offset);
    let today = Utc::now().with_timezone(&offset).date_naive();
    let from = from.map(|from| from.date);
    let is_open = values.query.get("to").is_none();
    html! {
        div.row.periods role="group" aria-label="Quick periods" {
            @for period in QuickPeriod::ALL {
                @let (value, label) = period.names();
                @let is_shown = is_open && from == period.begin(today);
                button.quiet type="submit" name="period" value=(value) aria-pressed=[is_shown.then_some("true")] { (label) }
            }
        }
    }
}

/// The most characters of a filter's value.
const VALUE: usize = 40;

/// The chips; nothing when no filter is set.
pub(super) fn chips(
    values: &FilterValues,
    lens: &PrismLens,
    actors: &ResultActors,
    address: &str,
) -> Markup {
    let set = values.query.pairs().filter(|(name, _)| *name != ORDER);
    let set: Vec<_> = set.collect();
    html! {
        @if !set.is_empty() {
            ul.chips aria-label="Filters that are set" {
                @for (name, value) in &set {
                    @let rest = values.query.without(name, value).in_address();
                    @let words = words(name, value, actors);
                    li {
                        a href={ (address) (rest) } title="Remove this filter" {
                            @if let Some(question) = question(name, value, lens) { bdi { (clamped(question, VALUE)) } " " }
                            bdi { (clamped(&words, VALUE)) }
                            span.unseen { ", remove" }
                            span aria-hidden="true" { " ✕" }
                        }
                    }
                }
            }
        }
    }
}

/// The end of a period, with the clock that its day is of.
fn by_clock(name: &str, date: NaiveDate, offset: FixedOffset) -> String {
    if offset == Utc.fix() {
        format!("{name}: {date} (UTC)")
    } else {
        format!("{name}: {date} (UTC{offset})")
    }
}

/// The words of the question that a filter is about.
fn question<'a>(name: &str, value: &str, lens: &'a PrismLens) -> Option<&'a str> {
    let is_answer = matches!(name, "value" | "answer" | "marks") && !value.starts_with(MARKED_BY);
    let (column, _) = value.rsplit_once(':').filter(|_| is_answer)?;
    asked(lens, column)
}

/// A filter in the words of its input.
fn words(name: &str, value: &str, actors: &ResultActors) -> String {
    match name {
        "value" | "answer" => {
            let (column, value) = value.rsplit_once(':').unwrap_or((value, ""));
            let value = if value.is_empty() { "no value" } else { value };
            format!("{column}: {value}")
        }
        "by" => format!("by {}", actors.chosen(value)),
        "marks" => match value {
            "any" => "marked".to_owned(),
            "none" => "not marked".to_owned(),
            other => marked_in_words(other, actors),
        },
        "status" if value == "unretried" => "failed and not retried".to_owned(),
        "status" => value.to_owned(),
        "from" | "to" => match Day::parse(value) {
            Some(Day { date, offset }) => by_clock(name, date, offset),
            None => format!("{name}: {value}"),
        },
        RUN => "one file run".to_owned(),
        other => format!("{other}: {value}"),
    }
}
