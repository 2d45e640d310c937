//! The form of a lens: a group of inputs for each column.

use maud::{Markup, html};
use refract_domain::lens::Output;
use refract_domain::prism::PrismVersion;
use refract_domain::problem::Problem;
use refract_evaluation::counting::lens_preview::LabelMoves;
use refract_evaluation::counting::percent_histogram::PercentHistogram;
use refract_service::lenses::LensDraft;
use serde_json::json;

use super::lens_form::{ColumnInput, LensForm};
use crate::components::field::FormField;
use crate::components::form_errors::at_paths;
use crate::components::histogram::histogram;
use crate::components::number::count;

/// The minimum and the maximum of a slider, in percent.
const SLIDER: (&str, &str) = ("5", "95");

/// The groups of all columns, with an error at each invalid input.
pub(super) fn columns(
    form: &LensForm,
    latest: &PrismVersion,
    problems: &[Problem],
    draft: Option<&LensDraft>,
) -> Markup {
    let last = form.columns.len().saturating_sub(1);
    html! {
        @for (place, column) in form.columns.iter().enumerate() {
            @let moves = draft.and_then(|draft| draft.preview.columns.get(place)?.moves.as_ref());
            fieldset #{ "columns." (place) } {
                legend { "Column " (place + 1) }
                div.column-inputs {
                    (name(place, column, problems))
                    (shows(place, column, latest, problems))
                    (rearranging(place, last))
                }
                @if column.is_label() { (cutoffs(place, column, problems, moves)) }
            }
        }
    }
}

/// The buttons that move and remove a column.
fn rearranging(place: usize, last: usize) -> Markup {
    html! {
        div.row {
            button type="submit" name="act" value={ "up." (place) } disabled[place == 0] {
                "Up" span.unseen { ": column " (place + 1) }
            }
            button type="submit" name="act" value={ "down." (place) } disabled[place == last] {
                "Down" span.unseen { ": column " (place + 1) }
            }
            button.quiet type="submit" name="act" value={ "remove." (place) } {
                "Remove" span.unseen { " column " (place + 1) }
            }
        }
    }
}

/// The inputs that add a column.
pub(super) fn adding(latest: &PrismVersion) -> Markup {
    html! {
        div.row {
            label for="add" { "Another column" }
            select.short #add name="add" { (options(latest, "")) }
            button type="submit" name="act" value="add" { "Add" }
        }
    }
}

fn name(place: usize, column: &ColumnInput, problems: &[Problem]) -> Markup {
    let id = format!("columns.{place}.name");
    let field = FormField::new(&id, "Name").value(&column.name);
    let error = at_paths(problems, &[&id, &format!("columns.{place}")]);
    field.error(error).line("text", "off")
}

fn shows(
    place: usize,
    column: &ColumnInput,
    latest: &PrismVersion,
    problems: &[Problem],
) -> Markup {
    let id = format!("columns.{place}.shows");
    let paths = ["question", "output"].map(|name| format!("columns.{place}.{name}"));
    let field = FormField::new(&id, "Shows");
    let field = field.error(at_paths(problems, &[&paths[0], &paths[1]]));
    field.select(&options(latest, &column.shows))
}

fn options(latest: &PrismVersion, chosen: &str) -> Markup {
    html! {
        @for question in latest.questions() {
            @for output in Output::names(question.question_type()) {
                @let value = format!("{}/{output}", question.key);
                option value=(value) selected[value == chosen] { (question.key) ": " (output) }
            }
        }
    }
}

fn cutoffs(
    place: usize,
    column: &ColumnInput,
    problems: &[Problem],
    moves: Option<&LabelMoves>,
) -> Markup {
    let number = |name: &str, label: &str, hint: &str, value: &str| {
        let id = format!("columns.{place}.{name}");
        let field = FormField::new(&id, label).hint(hint);
        field.error(at_paths(problems, &[&id])).around(&html! {
            input #(id) name=(id) type="number" inputmode="decimal" min="0" max="100" step="any" value=(value)
                data-cutoff=(name) aria-describedby={ (id) "-hint" };
            input type="range" min=(SLIDER.0) max=(SLIDER.1) step="1" value=(value) hidden
                data-slider=(name) aria-label={ (label) ", as a slider" };
        })
    };
    html! {
        div.label-column data-column=(place) data-moves=[moves.map(script_counts)] {
            @if let Some(moves) = moves { (stored(column, moves)) }
            div {
                (number("no_below", "No below, in percent", "A lower probability of yes is No.", &column.no_below))
                (number("yes_from", "Yes from, in percent", "Between the two it is Unsure.", &column.yes_from))
            }
        }
    }
}

/// The histogram of stored probabilities, with their labels under the cutoffs.
fn stored(column: &ColumnInput, moves: &LabelMoves) -> Markup {
    let percent = |text: &str| text.trim().parse::<f64>().unwrap_or(50.0).clamp(0.0, 100.0);
    let (no_below, yes_from) = (percent(&column.no_below), percent(&column.yes_from));
    let counts = moves.probabilities.counts();
    let labels = labels(&moves.probabilities, no_below, yes_from);
    html! {
        (histogram(counts, no_below, yes_from))
        p.counts aria-live="polite" {
            "No " b data-count="no" { (count(labels[0])) }
            " · Unsure " b data-count="unsure" { (count(labels[1])) }
            " · Yes " b data-count="yes" { (count(labels[2])) }
            " of " (count(moves.probabilities.results())) " stored results"
        }
    }
}

/// How many probabilities are No, Unsure and Yes. Cutoffs that are not whole percents are rounded
/// up here, since each bar is a whole percent; the preview is exact.
fn labels(probabilities: &PercentHistogram, no_below: f64, yes_from: f64) -> [u64; 3] {
    let mut labels = [0; 3];
    for (percent, count) in (0_u8..).zip(probabilities.counts()) {
        let percent = f64::from(percent);
        let [no, unsure, yes] = &mut labels;
        if percent < no_below {
            *no += count;
        } else if percent < yes_from {
            *unsure += count;
        } else {
            *yes += count;
        }
    }
    labels
}

/// The counts from which a script updates the page while a slider moves: for each percent, the
/// probabilities by their present label, and those of results that no other column changes.
fn script_counts(moves: &LabelMoves) -> String {
    let counts = |histogram: &PercentHistogram| histogram.counts().to_vec();
    json!({
        "all": counts(&moves.probabilities),
        "alone": [counts(&moves.alone.no), counts(&moves.alone.unsure), counts(&moves.alone.yes)],
        "always": moves.always_changed_results,
    })
    .to_string()
}
