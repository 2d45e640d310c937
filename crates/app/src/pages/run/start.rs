//! A run that was checked: what it will cost, five rows answered first, and the start.

use std::slice;

use maud::{Markup, html};
use refract_domain::result::FileRunLimits;
use refract_file_runs::{CheckFacts, RUN_CONCURRENCY};
use refract_lens_rendering::cell_text;
use refract_service::results::ReadableResult;

use super::run_view::{RunView, newest_of_version, newest_results, refused};
use crate::components::{
    FormField, NoticeKind, bar, clamped, count, counted, describe_answer, moment, notice,
    run_address, stacked_table_with,
};
use crate::replies::PageError;
use crate::requests::{Form, Visit};

/// Rows of the preview that are shown.
const PREVIEW: usize = 5;
/// The most newest results whose pace is taken.
const PACED: usize = 20;
/// The least milliseconds of an answer that say how long a run takes.
const LEAST_MS: u64 = 20;
/// The most characters of a text and of any other cell.
const TEXT: usize = 200;
const CELL: usize = 80;
/// The most columns of the lens that are shown.
const COLUMNS: usize = 8;
/// The fault of a limit that cannot be read.
pub(super) const NO_LIMIT: &str = "A limit is a whole number from 1 on, or empty for no limit.";

/// The section of the page.
pub(super) async fn section(visit: &Visit, view: &RunView) -> Result<Markup, PageError> {
    let run = &view.run;
    let facts = run.check.as_deref().and_then(CheckFacts::parse);
    let facts = facts.unwrap_or_default();
    let preview = newest_results(visit, view, PREVIEW).await?;
    let pace = pace(visit, view, &preview).await?;
    let address = run_address(run.id);
    Ok(html! {
        (what_is_in_it(&facts))
        (refused(view, facts.refused, &facts.refused_rows))
        @if facts.to_ask() > 0 {
            (price(visit, &facts, pace))
            (asked_before(visit, view, &facts).await?)
            @if preview.is_empty() {
                @if view.is_editor {
                    form method="post" action={ (address) "/preview" } {
                        button type="submit" { "Answer " (first_rows(facts.to_ask())) " first" }
                        p.hint { "They are results like all others, and are not asked about again." }
                    }
                }
            } @else {
                h3 { @if preview.len() < PREVIEW { (counted(preview.len(), "row")) } @else { "Five rows" } ", answered" }
                (answered(view, &preview))
            }
        } @else if facts.rows == 0 {
            p { "The file has a header and no rows, so there is nothing to ask." }
        } @else {
            p { "Every row is answered already, or refused. Nothing needs to be asked; start the run to download its rows in their order." }
        }
        @if view.is_editor { (start_form(visit, &address, facts.rows > 0)) }
    })
}

/// The rows of a preview, at most all that are to be asked about.
fn first_rows(to_ask: u64) -> String {
    match usize::try_from(to_ask) {
        Ok(rows) if rows < PREVIEW => counted(rows, "row"),
        _ => "five rows".to_owned(),
    }
}

/// The form that starts a run or lets it go on, with its limits.
fn start_form(visit: &Visit, address: &str, has_rows: bool) -> Markup {
    html! {
        form.narrow method="post" action={ (address) "/start" } {
            @if has_rows { (limits(visit, FileRunLimits::default())) }
            div.row {
                @if has_rows { button.main type="submit" { "Start" } }
                button type="submit" formaction={ (address) "/cancel" } formnovalidate { "Cancel the run" }
            }
        }
    }
}

/// The inputs for the limits, with what was typed or the present limits.
pub(super) fn limits(visit: &Visit, present: FileRunLimits) -> Markup {
    let typed = &visit.sent.form;
    let input = |name, label, most: Option<u64>| {
        let present = most.map(|most| most.to_string()).unwrap_or_default();
        let value = if typed.has(name) {
            typed.get(name)
        } else {
            &present
        };
        FormField::new(name, label)
            .value(value)
            .placeholder("no limit")
            .line("text", "off")
    };
    html! {
        details open[present != FileRunLimits::default()] {
            summary { "Stop at a limit" }
            p.hint {
                "The run pauses when it reaches one. What was answered is kept."
                @if visit.site.is_for_trying_only { " The built-in scorer sends no model requests and reads no tokens." }
            }
            (input("model_requests", "Model requests", present.model_requests))
            (input("tokens", "Tokens, read and written", present.tokens))
            (input("failed_rows", "Failed rows", present.failed_rows))
        }
    }
}

/// The limits of the form; `None` if one cannot be read.
pub(super) fn read_limits(form: &Form) -> Option<FileRunLimits> {
    let read = |name| match form.get(name).trim() {
        "" => Some(None),
        text => {
            let most: u64 = text.replace([',', ' '], "").parse().ok()?;
            (1..=u64::try_from(i64::MAX).unwrap_or(u64::MAX))
                .contains(&most)
                .then_some(Some(most))
        }
    };
    Some(FileRunLimits {
        model_requests: read("model_requests")?,
        tokens: read("tokens")?,
        failed_rows: read("failed_rows")?,
    })
}

fn what_is_in_it(facts: &CheckFacts) -> Markup {
    html! {
        p {
            strong { (counted(facts.rows, "row")) } " in " (facts.kind) "."
            @if facts.answered_before > 0 { " " (count(facts.answered_before)) " of them are answered already, and are not asked about again." }
            @if !facts.unused_columns.is_empty() {
                " Not asked about, but kept in downloads: " bdi { (clamped(&facts.unused_columns.join(", "), TEXT)) } "."
            }
        }
        @if !facts.remarks.is_empty() {
            ul.plain { @for remark in &facts.remarks { li { (remark) "." } } }
        }
    }
}

/// What the rest of the file costs.
fn price(visit: &Visit, facts: &CheckFacts, pace: Option<Pace>) -> Markup {
    html! {
        p {
            (counted(facts.to_ask(), "row")) " to ask about"
            @if facts.requests > 0 {
                ": some " strong { (counted(facts.requests, "model request")) } " and "
                strong { (counted(facts.tokens, "token")) } " to read"
            }
            @if let Some(Pace { each, of }) = pace {
                ", about " strong { (time(facts.to_ask(), each)) } " at the pace of the " (of)
            }
            @if let Some(price) = visit.refract.token_price().of_reading(facts.tokens) { "; " (price) }
            @else if visit.site.is_for_trying_only { "; the built-in scorer costs nothing" }
            "."
        }
    }
}

/// What was asked about before and is paid for again: an equal file with another version, or results
/// that were downloaded.
async fn asked_before(
    visit: &Visit,
    view: &RunView,
    facts: &CheckFacts,
) -> Result<Markup, PageError> {
    let version = view.run.version;
    let runs = visit.refract.runs();
    let runs = runs.runs_of_same_file(visit.account(), &view.run).await?;
    let other = runs
        .iter()
        .find(|run| run.version != version && run.progress.answered > 0);
    let are_results = facts.unused_columns.iter().any(|name| name == "result_id");
    Ok(html! {
        @if let Some(other) = other {
            (notice(NoticeKind::Warning, &html! {
                "Version " (other.version) " answered " (counted(other.progress.answered, "row")) " of "
                a href=(run_address(other.id)) { "this file" }
                ", " (moment(other.made_at)) ". Version " (version) " answers anew, at the price above."
            }))
        } @else if are_results {
            (notice(NoticeKind::Warning, &html! {
                "The file has results in it, as a download has. Version " (version)
                " asks about the texts of its rows anew, at the price above."
            }))
        }
    })
}

/// How long an answer takes.
#[derive(Clone, Copy)]
struct Pace {
    /// The mean time of one answer in milliseconds.
    each: u64,
    /// The answers that it is the mean of.
    of: &'static str,
}

/// The pace of the preview, or of the version's newest results; `None` when it answered nothing yet.
async fn pace(
    visit: &Visit,
    view: &RunView,
    preview: &[ReadableResult],
) -> Result<Option<Pace>, PageError> {
    if !preview.is_empty() {
        return Ok(mean(preview).map(|each| Pace {
            each,
            of: "rows below",
        }));
    }
    let newest = newest_of_version(visit, view, PACED).await?;
    Ok(mean(&newest).map(|each| Pace {
        each,
        of: "newest results",
    }))
}

/// The mean time; `None` where what is not asked takes longer than the model.
fn mean(results: &[ReadableResult]) -> Option<u64> {
    let took: u64 = results.iter().map(|result| result.view().took_ms).sum();
    let mean = took.checked_div(u64::try_from(results.len()).ok()?);
    mean.filter(|each| *each >= LEAST_MS)
}

/// How long the rows take if each takes this many milliseconds.
fn time(rows: u64, each: u64) -> String {
    let at_once = u64::try_from(RUN_CONCURRENCY.get()).unwrap_or(1);
    let seconds = rows
        .saturating_mul(each)
        .div_ceil(at_once.saturating_mul(1_000));
    duration(seconds)
}

/// A number of seconds in people's words.
pub(super) fn duration(seconds: u64) -> String {
    match seconds {
        0..90 => counted(seconds.max(1), "second"),
        90..5_400 => counted(seconds.div_ceil(60), "minute"),
        _ => counted(seconds.div_ceil(3_600), "hour"),
    }
}

fn answered(view: &RunView, preview: &[ReadableResult]) -> Markup {
    let columns = view.lens.columns();
    let shown = || columns.lens.iter().take(COLUMNS);
    let headings = html! {
        tr {
            th scope="col" { "Text" }
            @for column in shown() { th scope="col" { bdi { (column.name.as_str()) } } }
        }
    };
    let rows = html! {
        @for result in preview {
            @let result = result.view();
            tr {
                th scope="row" {
                    a.text href={ "/results/" (result.id) } dir="auto" {
                        @for (_, text) in result.fields.as_slice() { (clamped(text, TEXT)) " " }
                    }
                    @if let Some(error) = result.status.error() { div.failed { "failed: " (clamped(error, TEXT)) } }
                }
                @for (column, value) in shown().zip(result.values(columns.lens)) {
                    @let question = result.questions.iter().find(|question| question.key == column.question);
                    @let answer = result.status.answers().and_then(|answers| answers.get(&column.question));
                    td data-label=(column.name.as_str()) {
                        bdi { (clamped(&cell_text(value), CELL)) }
                        @if let (Some(question), Some(answer)) = (question, answer) {
                            @if let (_, Some(probability)) = describe_answer(question, answer, slice::from_ref(column)) { " " (bar(probability, true)) }
                        }
                    }
                }
            }
        }
    };
    stacked_table_with("Rows of the preview", &headings, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_whole_numbers_or_nothing() {
        let read = |value: &str| {
            let mut form = Form::default();
            form.push("tokens", value);
            read_limits(&form).map(|limits| limits.tokens)
        };
        assert_eq!(read(""), Some(None));
        assert_eq!(read(" 12,000 "), Some(Some(12_000)));
        for wrong in ["0", "-1", "1.5", "many", "99999999999999999999"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_time_has_one_unit() {
        assert_eq!(duration(0), "1 second");
        assert_eq!(duration(89), "89 seconds");
        assert_eq!(duration(90), "2 minutes");
        assert_eq!(duration(5_400), "2 hours");
    }
}
