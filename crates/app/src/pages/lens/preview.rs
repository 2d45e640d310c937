//! The effect of a lens draft on stored results.

use maud::{Markup, html};
use refract_evaluation::counting::cutoff_reach::{CutoffName, UnreachableCutoff};
use refract_service::lenses::{DraftCell, DraftRow, LensDraft};

use super::percent_text::to_percent;
use crate::components::clamped::clamped;
use crate::components::moment::moment;
use crate::components::notice::{NoticeKind, notice};
use crate::components::number::{count, counted};
use crate::components::table::stacked_table_with;

/// The most characters of a text in a row.
const SHOWN: usize = 120;

/// The preview: how many results change, and the newest rows.
pub(super) fn preview(draft: &LensDraft) -> Markup {
    let counts = &draft.preview;
    html! {
        @for unreachable in &draft.unreachable {
            (notice(NoticeKind::Warning, &beyond(unreachable)))
        }
        p #changed-results aria-live="polite" data-results=(counts.results) {
            b data-count="changed" { (count(counts.changed_results)) }
            " of " (counted(counts.results, "stored result")) " would change."
            @if draft.has_older { " The newest are counted; older ones change alike." }
        }
        @if !counts.dropped.is_empty() {
            p {
                "Columns that go: "
                @for (place, column) in counts.dropped.iter().enumerate() {
                    @if place > 0 { ", " }
                    code { (column.name) }
                }
                "."
            }
        }
        @if draft.rows.is_empty() {
            p.soft { "There are no answered results yet. Try a text, and see here how the lens shows it." }
        } @else {
            (rows(draft))
        }
    }
}

/// The sentence about a cutoff that the model's probabilities never reach, in percent as the inputs
/// are.
fn beyond(unreachable: &UnreachableCutoff) -> Markup {
    let name = match unreachable.name {
        CutoffName::NoBelow => "No below",
        CutoffName::YesFrom => "Yes from",
    };
    let cutoff = format!("“{name}” {} %", to_percent(unreachable.cutoff.value()));
    let bound = unreachable.bound.probability().to_f64();
    let bound = format!("{} %", to_percent(bound));
    html! { (unreachable.describe(&cutoff, &bound)) "." }
}

fn rows(draft: &LensDraft) -> Markup {
    let headings = html! {
        tr {
            th scope="col" { "Saved" }
            th scope="col" { "Text" }
            @for column in &draft.preview.columns { th scope="col" { (column.after.column.name) } }
        }
    };
    let rows = html! { @for row in &draft.rows { (self::row(draft, row)) } };
    stacked_table_with("The newest results with this draft", &headings, &rows)
}

fn row(draft: &LensDraft, row: &DraftRow) -> Markup {
    let view = row.result.view();
    let text = view
        .fields
        .0
        .first()
        .map_or("", |(_, value)| value.as_str());
    html! {
        tr {
            td { a href={ "/results/" (view.id) } { (moment(view.created_at)) } }
            td { span.text dir="auto" { (clamped(text, SHOWN)) } }
            @for (place, cell) in row.cells.iter().enumerate() {
                @let name = draft.preview.columns.get(place).map(|column| column.after.column.name.as_str());
                (self::cell(place, name, cell))
            }
        }
    }
}

fn cell(place: usize, name: Option<&str>, cell: &DraftCell) -> Markup {
    html! {
        td.changed[cell.is_changed] data-label=[name] data-cell=[cell.percent.map(|_| place)] data-percent=[cell.percent]
            data-now=[cell.now.as_deref().filter(|_| cell.percent.is_some())]
            title=[cell.now.as_deref().filter(|_| cell.is_changed).map(|now| format!("now: {now}"))] {
            (cell.text)
        }
    }
}
