//! Usage as rows of a table.

use std::collections::BTreeSet;

use maud::{Markup, html};
use refract_service::results::{ListedUsage, Usage, UsageDimension, total_usage};

use super::usage_form::label;
use crate::components::file_run::run_address;
use crate::components::number::count;
use crate::components::table::stacked_table;
use crate::pages::keys::address_of_key;

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
pub(super) fn usage_table(by: &BTreeSet<UsageDimension>, listed: &[ListedUsage]) -> Markup {
    let headings = by.iter().map(|dimension| label(*dimension)).chain(SUMS);
    let headings: Vec<&str> = headings.collect();
    let rows = html! {
        @for group in listed {
            tr {
                @for dimension in by { th scope="row" { (name(group, *dimension)) } }
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
    stacked_table("Usage", &headings, &rows)
}

/// The name of a group, with a link to what it is about.
fn name(group: &ListedUsage, dimension: UsageDimension) -> Markup {
    match (dimension, &group.prism, &group.key, &group.run) {
        (UsageDimension::Prism, Some(slug), _, _) => {
            html! { a href={ "/prisms/" (slug) } { bdi { (slug) } } }
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
        td.number data-label=[usage.cost.map(|_| "Cost")] {
            @if let Some(cost) = usage.cost { (cost) }
        }
    }
}
