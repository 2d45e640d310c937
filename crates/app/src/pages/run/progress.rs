//! How far a run came, and what can be done while it runs and afterwards.

use maud::{Markup, html};
use refract_domain::result::file_run::FileRunState;
use refract_file_runs::CheckFacts;
use refract_lens_rendering::RowFormat;
use refract_service::runs::RunProgress;

use super::comparison::comparisons;
use super::downloads::PARQUET;
use super::facts::refused;
use super::run_view::RunView;
use super::shares::shares;
use super::start::{duration, limits};
use crate::components::file_run::run_address;
use crate::components::number::{count, counted, share};
use crate::components::prism_tabs::prism_address;
use crate::replies::page_error::PageError;
use crate::requests::visit::Visit;

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
        (numbers(view, progress))
        (failures(view, progress))
        (changes(visit, view))
        (downloads(view, progress))
        (refused(view, facts.refused, &facts.refused_rows))
        (shares(visit, view).await?)
        (comparisons(visit, view).await?)
    })
}

/// Rows that need no work any more.
fn finished(progress: &RunProgress) -> u64 {
    progress.refused + progress.answered_before + progress.answered + progress.failed
}

fn bar(view: &RunView, progress: &RunProgress) -> Markup {
    let (done, all) = (finished(progress), progress.rows);
    let percent = share(done, all).unwrap_or_else(|| "0.0".to_owned());
    let left = all.saturating_sub(done);
    let is_running = view.run.state == FileRunState::Running;
    let rate = progress
        .rows_a_minute
        .filter(|rate| *rate > 0 && is_running);
    html! {
        p.run-bar {
            progress max=(all.max(1)) value=(done) aria-label="Rows that are finished" { (percent) " %" }
            " " strong { (count(done)) " of " (counted(all, "row")) }
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

/// A run that no node works on yet, or not any more.
fn waiting(view: &RunView) -> Markup {
    html! {
        @if view.run.state.is_worked_on() && !view.run.is_leased {
            p.soft { "Waiting for a node to take it; this takes seconds, or up to half a minute after a node was lost." }
        }
    }
}

fn numbers(view: &RunView, progress: &RunProgress) -> Markup {
    let failed = format!(
        "{}/results?run={}&status=failed",
        prism_address(&view.lens.prism),
        view.run.id
    );
    html! {
        dl.facts {
            dt { "Answered" } dd { (count(progress.answered + progress.answered_before)) @if progress.answered_before > 0 { " (" (count(progress.answered_before)) " of them before)" } }
            dt { "Failed" } dd { @if progress.failed > 0 { a href=(failed) { (count(progress.failed)) } } @else { "0" } }
            dt { "Refused" } dd { (count(progress.refused)) }
            dt { "Model requests" } dd { (count(progress.model_requests)) }
            dt { "Tokens" } dd { (count(progress.input_tokens)) " read, " (count(progress.output_tokens)) " written" }
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
                    li { strong { (count(*rows)) } " " bdi { (crate::components::clamped::clamped(error, ERROR)) } }
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
                    (limits(&visit.sent.form, view.run.limits))
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

fn downloads(view: &RunView, progress: &RunProgress) -> Markup {
    let address = run_address(view.run.id);
    html! {
        @if view.run.upload.is_some() && progress.rows > 0 {
            form.row method="get" action={ (address) "/download" } {
                label for="format" { "Download" }
                select #format name="format" {
                    @for format in RowFormat::NAMES.into_iter().chain([PARQUET]) { option value=(format) { (format) } }
                }
                label { input type="checkbox" name="columns" value="keep" checked; " with the file's own columns" }
                label { input type="checkbox" name="mark" value="bom"; " for Excel" }
                button type="submit" { "Download" }
            }
            @if view.run.state != FileRunState::Done {
                p.hint { "The rows that have a result now, in the file's order." }
            }
        }
    }
}
