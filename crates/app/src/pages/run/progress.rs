//! How far a run came, what can be done while it runs and afterwards, and other runs of the file,
//! compared with this one row by row.

use maud::{Markup, html};
use refract_domain::result::{FileRunLimits, FileRunState};
use refract_file_runs::{CheckFacts, ComparedRuns, DifferingRow};
use refract_service::runs::{RunProgress, StoredRun};

use super::run_view::{RunView, refused, shares};
use super::start::{duration, limits};
use crate::components::{
    clamped, count, counted, prism_address, run_address, share, stacked_table, state_tag,
    table_style_choice,
};
use crate::pages::uploaded_file::open_file;
use crate::replies::PageError;
use crate::requests::Visit;

/// The formats of a download with their names for people.
const FORMATS: [(&str, &str); 5] = [
    ("csv", "csv"),
    ("tsv", "tsv"),
    ("jsonl", "jsonl"),
    ("xlsx", "Excel workbook"),
    ("parquet", "parquet"),
];

/// The most characters of an error.
const ERROR: usize = 200;
/// The most errors that are shown.
const ERRORS: usize = 8;

/// The part of the page that changes while a node works on the run.
pub(super) async fn progress(visit: &Visit, view: &RunView) -> Result<Markup, PageError> {
    let run = &view.run;
    let progress = &run.progress;
    if run.state == FileRunState::Checking {
        return Ok(html! {
            p role="status" { "Reading the file: " (counted(progress.rows, "row")) " so far. This page follows by itself." }
            (waiting(view))
            (cancel(view))
        });
    }
    if run.state == FileRunState::Previewing {
        return Ok(html! {
            p role="status" { "Answering five rows. This page follows by itself." }
            (waiting(view))
            (cancel(view))
        });
    }
    let facts = run
        .check
        .as_deref()
        .and_then(CheckFacts::parse)
        .unwrap_or_default();
    Ok(html! {
        (bar(view, progress))
        (waiting(view))
        (numbers(view, &facts, cost(visit, view).await?))
        (failures(view, progress))
        (changes(visit, view))
        (downloads(view, progress, facts.refused > 0))
        (refused(view, facts.refused, &facts.refused_rows))
        // while a node works, the figures above follow what it has saved
        @if !run.state.is_worked_on() || progress.answered > 0 { (shares(visit, view).await?) }
        (comparisons(visit, view).await?)
    })
}

/// Rows that need no work any more.
fn finished(progress: &RunProgress) -> u64 {
    progress.refused + progress.answered_before + progress.answered + progress.failed
}

fn bar(view: &RunView, progress: &RunProgress) -> Markup {
    let (seen, rows) = (finished(progress), progress.rows);
    let left = rows.saturating_sub(seen);
    let is_running = view.run.state == FileRunState::Running;
    // a retry goes through the whole file, and counts the rows for which it was started
    let is_retry = is_running && progress.to_retry > 0;
    let (done, all, noun) = if is_retry {
        let retried = progress.answered + progress.failed;
        (
            retried.min(progress.to_retry),
            progress.to_retry,
            "failed row",
        )
    } else {
        (seen, rows, "row")
    };
    let percent = share(done, all).unwrap_or_else(|| "0.0".to_owned());
    let rate = progress
        .rows_a_minute
        .filter(|rate| *rate > 0 && is_running);
    html! {
        p.run-bar {
            progress max=(all.max(1)) value=(done) aria-label="Rows that are finished" { (percent) " %" }
            " " strong { (count(done)) " of " (counted(all, noun)) }
            @if is_retry { " " span.soft { "· looked through " (count(seen)) " of " (counted(rows, "row")) } }
        }
        @if let Some(rate) = rate {
            p role="status" {
                (counted(rate, "row")) " a minute"
                @if let Some(seconds) = left.saturating_mul(60).checked_div(rate) { ", about " (duration(seconds)) " left" }
                "."
            }
        }
    }
}

/// A run that no node works on yet, or still for a moment.
fn waiting(view: &RunView) -> Markup {
    html! {
        @if !view.run.state.is_worked_on() && view.run.is_leased {
            p.soft role="status" { "The rows on their way are being finished. The figures follow by themselves." }
        }
        @if view.run.state.is_worked_on() && !view.run.is_leased {
            p.soft { "Waiting for a node to take it; this takes seconds, or up to half a minute after a node was lost." }
        }
    }
}

/// What the rows cost that were answered until now, in words. While a node works, the page that follows
/// it adds nothing up.
async fn cost(visit: &Visit, view: &RunView) -> Result<Option<String>, PageError> {
    let run = &view.run;
    if run.is_leased || run.state.is_worked_on() || run.progress.model_requests == 0 {
        return Ok(None);
    }
    let cost = visit.refract.runs().usage(run).await?.cost;
    Ok(visit.refract.token_price().of_results(cost))
}

/// The limits of a run in words; `None` if it has none.
fn limits_in_words(limits: FileRunLimits) -> Option<String> {
    let words = [
        (limits.model_requests, "model request"),
        (limits.tokens, "token"),
        (limits.failed_rows, "failed row"),
    ];
    let words = words.map(|(most, noun)| most.map(|most| counted(most, noun)));
    let words: Vec<_> = words.into_iter().flatten().collect();
    (!words.is_empty()).then(|| words.join(" or "))
}

fn numbers(view: &RunView, facts: &CheckFacts, cost: Option<String>) -> Markup {
    let progress = &view.run.progress;
    let results = format!("{}/results", prism_address(&view.lens.prism));
    let failed = format!("{results}?run={}&status=failed", view.run.id);
    let version = format!("{results}?version={}", view.run.version);
    html! {
        dl.facts {
            dt { "Answered" } dd { (count(progress.answered + progress.answered_before)) @if progress.answered_before > 0 { " (" a href=(version) { (count(progress.answered_before)) " of them before" } ")" } }
            dt { "Failed" } dd { @if progress.failed > 0 { a href=(failed) { (count(progress.failed)) } } @else { "0" } }
            dt { "Refused" } dd { (count(progress.refused)) }
            @if facts.left_out > 0 { dt { "Left out" } dd { (counted(facts.left_out, "row")) " without a text, not in downloads either" } }
            @if let Some(limits) = limits_in_words(view.run.limits) { dt { "Pauses at" } dd { (limits) } }
            dt { "Model requests" } dd { (count(progress.model_requests)) }
            dt { "Tokens" } dd { (count(progress.input_tokens)) " read, " (count(progress.output_tokens)) " written" }
            @if let Some(cost) = cost { dt { "Cost" } dd { (cost) } }
            @if progress.truncated > 0 { dt { "Cut by the model's server" } dd { (counted(progress.truncated, "text")) } }
        }
    }
}

fn failures(view: &RunView, progress: &RunProgress) -> Markup {
    let rest = progress.failures.len().saturating_sub(ERRORS);
    html! {
        @if view.run.state != FileRunState::Matching && !progress.failures.is_empty() {
            h3 { "Why rows failed" }
            ul.plain {
                @for (error, rows) in progress.failures.iter().take(ERRORS) {
                    li { strong { (count(*rows)) } " " bdi { (clamped(error, ERROR)) } }
                }
                @if rest > 0 { li.soft { "and " (counted(rest, "other reason")) } }
            }
        }
    }
}

fn cancel(view: &RunView) -> Markup {
    html! {
        @if view.is_editor {
            form method="post" action={ (run_address(view.run.id)) "/cancel" } {
                button type="submit" { "Cancel the run" }
            }
        }
    }
}

fn changes(visit: &Visit, view: &RunView) -> Markup {
    let address = run_address(view.run.id);
    let has_file = view.run.upload.is_some();
    html! {
        @if view.is_editor {
            @match view.run.state {
                FileRunState::Running => div.row {
                    form method="post" action={ (address) "/pause" } { button.main type="submit" { "Pause" } }
                    (cancel(view))
                },
                FileRunState::Paused if has_file => form.narrow method="post" action={ (address) "/resume" } {
                    (limits(visit, view.run.limits))
                    div.row {
                        button.main type="submit" { "Go on" }
                        @if view.run.progress.failed > 0 { button type="submit" formaction={ (address) "/retry" } { "Retry what failed, then go on" } }
                        button type="submit" formaction={ (address) "/cancel" } { "Cancel the run" }
                    }
                },
                FileRunState::Done if has_file && view.run.progress.failed > 0 => form method="post" action={ (address) "/retry" } {
                    button.main type="submit" { "Retry the " (counted(view.run.progress.failed, "failed row")) }
                },
                _ => {},
            }
        }
    }
}

fn downloads(view: &RunView, progress: &RunProgress, has_refused: bool) -> Markup {
    let address = run_address(view.run.id);
    html! {
        @if view.run.upload.is_some() && progress.rows > 0 {
            form.row method="get" action={ (address) "/download" } {
                label for="format" { "Download" }
                select #format name="format" {
                    @for (format, name) in FORMATS { option value=(format) { (name) } }
                }
                label { input type="checkbox" name="columns" value="keep" checked; " with the file's own columns" }
                @if has_refused {
                    label { input type="checkbox" name="refused" value="with"; " with the refused rows" }
                }
                (table_style_choice())
                button type="submit" { "Download" }
            }
            @if view.run.state != FileRunState::Done {
                p.hint { "The rows that have a result now, in the file's order." }
            }
        }
    }
}

/// The query parameter of the run to compare with.
const WITH: &str = "with";
/// The most rows that are compared.
const ROWS: u64 = 5_000;
/// The most characters of a text.
const TEXT: usize = 160;

/// Links to the other runs of the file, and the comparison that the address asks for.
async fn comparisons(visit: &Visit, view: &RunView) -> Result<Markup, PageError> {
    let runs = visit.refract.runs();
    let others = runs.runs_of_same_file(visit.account(), &view.run).await?;
    let chosen = visit.sent.query.get(WITH);
    let chosen = others
        .iter()
        .find(|other| chosen == Some(other.id.to_string().as_str()));
    let body = if let Some(other) = chosen {
        compared(visit, view, other).await?
    } else {
        html! {}
    };
    let address = run_address(view.run.id);
    Ok(html! {
        @if !others.is_empty() {
            section #compare {
                h3 { "Other runs of this file" }
                ul.plain {
                    @for other in &others {
                        li {
                            a href=(run_address(other.id)) { "Version " (other.version) } " " (state_tag(other.state, other.upload.is_some())) " "
                            a href={ (address) "?with=" (other.id) "#compare" } { "Compare row by row" }
                        }
                    }
                }
                (body)
            }
        }
    })
}

async fn compared(visit: &Visit, view: &RunView, other: &StoredRun) -> Result<Markup, PageError> {
    if view.run.upload.is_none() || other.upload.is_none() {
        return Ok(
            html! { p.soft { "The file is deleted, so its rows cannot be put side by side." } },
        );
    }
    let a = open_file(visit, &view.run).await?;
    let b = open_file(visit, other).await?;
    let compared = ComparedRuns::of(&a, &b, ROWS).await;
    let compared = compared.map_err(|error| PageError::NotChanged(error.to_string()))?;
    let headings = ["Column", "Equal", "Different", "Share different"];
    let rows = html! {
        @for column in &compared.columns {
            tr {
                th scope="row" { bdi { (column.name) } }
                td.number data-label="Equal" { (count(column.equal)) }
                td.number data-label="Different" { (count(column.different)) }
                td.number data-label="Share different" { (share(column.different, column.equal + column.different).unwrap_or_default()) " %" }
            }
        }
    };
    Ok(html! {
        p {
            (counted(compared.rows, "row")) " answered by version " (view.run.version) " and by version " (other.version)
            @if compared.has_more { ", among the first " (count(ROWS)) " of the file" }
            "."
        }
        (stacked_table("Answers of both runs", &headings, &rows))
        @if !compared.differing.is_empty() {
            h4 { "Rows that differ" }
            (differing(view, other, &compared.differing))
        }
    })
}

fn differing(view: &RunView, other: &StoredRun, rows: &[DifferingRow]) -> Markup {
    let (a, b) = (
        format!("Version {}", view.run.version),
        format!("Version {}", other.version),
    );
    let headings = ["Line", "Text", "Column", &a, &b];
    let rows = html! {
        @for row in rows {
            tr {
                td.number data-label="Line" { (count(row.line)) }
                th scope="row" { div.text dir="auto" { (clamped(&row.text, TEXT)) } }
                td data-label="Column" { bdi { (row.column) } }
                td data-label=(a) { a href={ "/results/" (row.results[0]) } { bdi { (row.values[0]) } } }
                td data-label=(b) { a href={ "/results/" (row.results[1]) } { bdi { (row.values[1]) } } }
            }
        }
    };
    stacked_table("Rows that differ", &headings, &rows)
}
