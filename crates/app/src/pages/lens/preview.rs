//! The stored results that the draft of a lens changes, or the newest ones.

use maud::{Markup, html};
use refract_domain::answer::Probability;
use refract_evaluation::counting::{CutoffName, UnreachableCutoff};
use refract_service::lenses::{
    DRAFT_ROWS, DraftCell, DraftRows, LensDraft, LensDraftRow, LensSample, SampledResult,
};
use refract_service::results::ReadableResult;

use super::lens_form::LensForm;
use super::state::changed_query;
use crate::components::{
    NoticeKind, bar, clamped, count, counted, moment, notice, prism_address, stacked_table_with,
    to_percent,
};

/// The most characters of a text in a row.
const SHOWN: usize = 120;
/// The most unchanged cells of a row.
const CELLS: usize = 6;
/// The most characters of a text in a row of a sample, of which there are hundreds.
const SAMPLED: usize = 80;

/// The rows that a draft shows, with the buttons that switch between changed and newest ones.
pub(super) fn preview(draft: &LensDraft, rows: DraftRows, form: &LensForm) -> Markup {
    let chosen = form.chosen();
    let query = changed_query(&draft.lens, form);
    let changed = draft.preview.changed_results;
    let is_newest = rows == DraftRows::Newest;
    html! {
        @for unreachable in &draft.unreachable {
            (notice(NoticeKind::Warning, &beyond(draft, unreachable)))
        }
        div.row role="group" aria-label="Which results" {
            button.switch type="submit" name="act" value="changed" aria-pressed=(if is_newest { "false" } else { "true" }) {
                "Changed " span data-count="changed" { (count(changed)) }
            }
            button.switch type="submit" name="act" value="newest" aria-pressed=(if is_newest { "true" } else { "false" }) { "Newest" }
        }
        @if draft.preview.results == 0 {
            p.soft { "There are no answered results yet. Try a text, and see here how the lens shows it." }
        } @else if draft.rows.is_empty() {
            p.soft.no-change { "No stored result changes. Move a cutoff and see here which do." }
            (table(draft, "Changed results", chosen.is_some(), &html! {}))
        } @else {
            @let caption = if is_newest { "The newest results with this draft" } else { "Changed results, nearest to a cutoff first" };
            (table(draft, caption, chosen.is_some(), &html! { @for it in &draft.rows { (row(draft, it, chosen)) } }))
            @if !is_newest && changed > u64::from(DRAFT_ROWS) {
                @let address = format!("{}/lens/changed", prism_address(&draft.lens.prism));
                p {
                    span.soft { "The " (DRAFT_ROWS) " nearest to a cutoff. " }
                    a href={ (address) (query) } { "See all " (count(changed)) }
                }
            }
        }
    }
}

/// The changed results of a draft as a table.
pub(super) fn changed_rows(draft: &LensDraft, near: Option<usize>) -> Markup {
    let rows = html! { @for it in &draft.rows { (row(draft, it, near)) } };
    table(
        draft,
        "Changed results, nearest to a cutoff first",
        near.is_some(),
        &rows,
    )
}

/// How many results change, of how many. A script takes the number from here.
pub(super) fn changed_in_short(draft: &LensDraft) -> Markup {
    let counts = &draft.preview;
    html! {
        b data-count="changed" { (count(counts.changed_results)) }
        " of " (counted_of(draft)) " would change"
    }
}

/// The counted results: `the newest 10,000 of 1,204,000 results`.
pub(super) fn counted_of(draft: &LensDraft) -> String {
    let results = draft.preview.results;
    match draft.in_all {
        None => counted(results, "stored result"),
        Some(in_all) => format!(
            "the newest {} of {}",
            count(results),
            counted(in_all, "result")
        ),
    }
}

/// Some results at every percent as rows, from which a script shows what a moving handle changes.
pub(super) fn sample(sample: &LensSample) -> Markup {
    html! {
        table { tbody {
            @for it in &sample.results { (sampled(it)) }
        } }
    }
}

fn sampled(it: &SampledResult) -> Markup {
    let now = it.now.label();
    html! {
        tr.(it.now.key()) data-millionths=(it.probability.millionths()) data-now=(now) {
            (text_cell(&it.result, SAMPLED))
            td data-label="Answer" { (label_cell(now, now)) }
            td data-label="Probability of yes" { (bar(it.probability, true)) }
            (moment_cell(&it.result))
        }
    }
}

/// The sentence about a cutoff that the model's probabilities never reach, in percent as the inputs
/// are.
fn beyond(draft: &LensDraft, unreachable: &UnreachableCutoff) -> Markup {
    let mut columns = draft.preview.columns.iter().map(|it| &it.after.column);
    let column = columns.find(|column| column.name.as_str() == unreachable.column.as_str());
    let cutoffs = column.and_then(|column| column.output.cutoffs());
    // one cutoff has one input
    let is_one = cutoffs.is_some_and(|cutoffs| cutoffs.yes_from().is_none());
    let name = match unreachable.name {
        CutoffName::NoBelow if !is_one => "No below",
        CutoffName::NoBelow | CutoffName::YesFrom => "Yes from",
    };
    let cutoff = format!("“{name}” {} %", to_percent(unreachable.cutoff.value()));
    let bound = unreachable.bound.probability().to_f64();
    let bound = format!("{} %", to_percent(bound));
    html! { (unreachable.describe(&cutoff, &bound)) "." }
}

fn table(draft: &LensDraft, caption: &str, has_probability: bool, rows: &Markup) -> Markup {
    let first = draft.lens.latest.fields().first();
    let headings = html! {
        tr {
            th scope="col" { @if let Some(field) = first { bdi { (field.label.as_str()) } } @else { "Text" } }
            th scope="col" { "Answer" }
            @if has_probability { th scope="col" { "Probability of yes" } }
            th scope="col" { "When" }
        }
    };
    stacked_table_with(caption, &headings, rows)
}

fn row(draft: &LensDraft, row: &LensDraftRow, chosen: Option<usize>) -> Markup {
    let cell = chosen.and_then(|place| row.cells.get(place));
    let probability = cell.and_then(|cell| cell.probability);
    let label = cell.filter(|_| probability.is_some());
    // the script follows the cell of the column in the middle
    let now = label.and_then(|cell| cell.now.as_deref());
    let names = draft.preview.columns.iter();
    let names = names.map(|column| column.after.column.name.as_str());
    let others = names.zip(&row.cells).enumerate();
    // without a column in the middle, a row shows all of them
    let is_listed =
        |place, cell: &DraftCell| cell.is_changed || (chosen.is_none() && place < CELLS);
    let others =
        others.filter(|(place, (_, cell))| Some(*place) != chosen && is_listed(*place, cell));
    html! {
        tr class=[label.map(|cell| cell.text.to_lowercase())] data-millionths=[probability.map(Probability::millionths)] data-now=[now] {
            (text_cell(&row.result, SHOWN))
            td data-label="Answer" {
                @if let Some(cell) = label { (label_cell(cell.now.as_deref().unwrap_or_default(), &cell.text)) }
                @for (_, (name, cell)) in others { (other_cell(name, cell)) }
            }
            @if chosen.is_some() {
                td data-label="Probability of yes" {
                    @if let Some(probability) = probability { (bar(probability, true)) }
                }
            }
            (moment_cell(&row.result))
        }
    }
}

/// The first field of a result, as the link to it.
fn text_cell(result: &ReadableResult, most: usize) -> Markup {
    let view = result.view();
    let text = view.fields.as_slice().first();
    let text = text.map_or("", |(_, value)| value.as_str());
    html! {
        th scope="row" {
            a.text href={ "/results/" (view.id) } dir="auto" {
                @if text.trim().is_empty() { "(no text)" } @else { (clamped(text, most)) }
            }
        }
    }
}

fn moment_cell(result: &ReadableResult) -> Markup {
    html! { td data-label="When" { (moment(result.view().created_at)) } }
}

/// A label now and with the draft. A column that is new has no label now.
fn label_cell(now: &str, new: &str) -> Markup {
    let is_changed = !now.is_empty() && now != new;
    html! {
        span.label-change.changed[is_changed] {
            @if !now.is_empty() { span.now { span.old { (now) } " → " } }
            b.new { (new) }
        }
    }
}

/// A cell of another column, and what it was if it changes.
fn other_cell(name: &str, cell: &DraftCell) -> Markup {
    html! {
        div.other-change {
            bdi { (name) } ": "
            @if cell.is_changed { (clamped(cell.now.as_deref().unwrap_or_default(), SHOWN)) " → " }
            b { (clamped(&cell.text, SHOWN)) }
        }
    }
}
