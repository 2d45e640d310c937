//! The filters that are set, as chips: each is a link to the list without it.

use maud::{Markup, html};

use super::actors::ResultActors;
use super::filter_values::{FilterValues, ORDER, RUN};
use crate::components::clamped::clamped;

/// The most characters of a filter's value.
const VALUE: usize = 40;

/// The chips; nothing when no filter is set.
pub(super) fn chips(values: &FilterValues, actors: &ResultActors, address: &str) -> Markup {
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
            outcome => format!("marked {outcome}"),
        },
        "status" if value == "unretried" => "failed and not retried".to_owned(),
        "status" => value.to_owned(),
        RUN => "one file run".to_owned(),
        other => format!("{other}: {value}"),
    }
}
