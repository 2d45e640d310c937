//! Precision, recall and F1 of each outcome.

use std::cmp::Reverse;

use maud::{Markup, html};
use refract_evaluation::measures::figures::number;
use refract_evaluation::measures::outcome::OutcomeMeasures;

use super::quality_view::QualityView;
use crate::components::number::{count, counted, measured_percent};
use crate::components::table::stacked_table;

/// The most outcomes in the table; the file has all.
const MOST: usize = 20;

/// The table: the most frequent outcomes in the question's order.
pub(super) fn by_outcome(view: &QualityView<'_>) -> Markup {
    let outcomes = &view.measures.outcomes;
    let shown = most_frequent(outcomes, MOST);
    let rows = html! {
        @for outcome in &shown {
            tr {
                th scope="row" { bdi { (view.label(&outcome.key)) } }
                td.number data-label="Marked" { (count(outcome.marked)) }
                td.number data-label="Answered" { (count(outcome.predicted)) }
                td.number data-label="Precision, %" { (measured_percent(outcome.precision)) }
                td.number data-label="Recall, %" { (measured_percent(outcome.recall)) }
                td.number data-label="F1" { (number(outcome.f1)) }
            }
        }
    };
    let headings = [
        "Outcome",
        "Marked",
        "Answered",
        "Precision, %",
        "Recall, %",
        "F1",
    ];
    let rest = outcomes.len().saturating_sub(shown.len());
    html! {
        (stacked_table("Measures by outcome", &headings, &rows))
        @if rest > 0 { p.soft { "and " (counted(rest, "rarer outcome")) ", which the file has." } }
    }
}

/// The outcomes that are most often marked or predicted, in the question's order.
pub(super) fn most_frequent(outcomes: &[OutcomeMeasures], most: usize) -> Vec<&OutcomeMeasures> {
    let mut numbered: Vec<_> = outcomes.iter().enumerate().collect();
    numbered.sort_by_key(|(_, outcome)| Reverse(outcome.marked + outcome.predicted));
    numbered.truncate(most);
    numbered.sort_by_key(|(number, _)| *number);
    numbered.into_iter().map(|(_, outcome)| outcome).collect()
}
