//! Which outcome is taken for which: a confusion table whose cells lead to the results. And precision,
//! recall and F1 of each outcome.

use std::collections::HashMap;

use maud::{Markup, html};
use refract_evaluation::measures::outcome::ConfusionCell;

use super::quality_view::QualityView;
use crate::components::number::count;
use crate::components::report::report;
use crate::components::table::{table, table_with};

/// The most outcomes of a confusion table.
const MOST_IN_TABLE: usize = 10;
/// The most mistakes that are listed if there is no table; the file has all.
const MOST_MISTAKES: usize = 30;
/// The most outcomes in the table of measures; the file has all.
const MOST: usize = 20;

/// The section: the confusion table, or the most frequent mistakes, and the measures by outcome.
pub(super) fn section(view: &QualityView<'_>) -> Markup {
    let outcomes = view.measures.outcomes.iter();
    let seen = outcomes.filter(|outcome| outcome.marked + outcome.predicted > 0);
    let query = view.query();
    html! {
        div.split {
            section #confusion {
                h2 { "What is taken for what" }
                @if seen.count() <= MOST_IN_TABLE { (matrix(view)) } @else { (mistakes(view)) }
                p { a href=(view.link_to("/quality/download", &query)) download { "Download the table" } }
            }
            section {
                h2 { "By outcome" }
                (report(&view.measures.by_outcome(MOST), view.question()))
            }
        }
    }
}

/// Rows by marked outcome, columns by predicted one.
fn matrix(view: &QualityView<'_>) -> Markup {
    let outcomes = view.measures.outcomes.iter();
    let seen: Vec<_> = outcomes
        .filter(|outcome| outcome.marked + outcome.predicted > 0)
        .map(|outcome| &outcome.key)
        .collect();
    let cells = view.measures.confusion.iter();
    let cells: HashMap<_, _> = cells
        .map(|cell| ((&cell.marked, &cell.predicted), cell))
        .collect();
    let headings = html! {
        tr {
            th scope="col" { "Marked ↓ answered →" }
            @for predicted in &seen { th scope="col" { bdi { (view.label(predicted)) } } }
        }
    };
    let rows = html! {
        @for marked in &seen {
            tr {
                th scope="row" { bdi { (view.label(marked)) } }
                @for predicted in &seen {
                    td.number.right[marked == predicted] {
                        @match cells.get(&(*marked, *predicted)) {
                            None => { "·" }
                            Some(cell) => { (linked(view, cell)) }
                        }
                    }
                }
            }
        }
    };
    html! {
        div.confusion { (table_with("Marked and answered outcomes", &headings, &rows)) }
        p.hint { "Bold counts are right. Each leads to its results." }
    }
}

fn linked(view: &QualityView<'_>, cell: &ConfusionCell) -> Markup {
    html! { a href=(view.results(&cell.marked, &cell.predicted)) { (count(cell.count)) } }
}

/// The most frequent pairs of a marked and another predicted outcome.
fn mistakes(view: &QualityView<'_>) -> Markup {
    let wrong = view.measures.mistakes();
    let rows = html! {
        @for cell in wrong.iter().take(MOST_MISTAKES) {
            tr {
                th scope="row" { bdi { (view.label(&cell.marked)) } }
                td { bdi { (view.label(&cell.predicted)) } }
                td.number { (linked(view, cell)) }
            }
        }
    };
    let rest = wrong.len().saturating_sub(MOST_MISTAKES);
    html! {
        @if wrong.is_empty() {
            p.soft { "No marked answer is wrong." }
        } @else {
            (table("The most frequent mistakes", &["Marked", "Answered", "Results"], &rows))
        }
        @if rest > 0 { p.soft { "and " (count(rest)) " rarer kinds, which the file has." } }
    }
}
