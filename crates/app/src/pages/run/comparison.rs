//! Other runs of the same file, compared with this one row by row.

use maud::{Markup, html};
use refract_file_runs::{ComparedRuns, DifferingRow};
use refract_service::runs::StoredRun;

use super::run_view::RunView;
use crate::components::clamped::clamped;
use crate::components::file_run::{run_address, state_tag};
use crate::components::number::{count, counted, share};
use crate::components::table::stacked_table;
use crate::pages::uploaded_file::open_file;
use crate::replies::page_error::PageError;
use crate::requests::visit::Visit;

/// The query parameter of the run to compare with.
const WITH: &str = "with";
/// The most rows that are compared.
const ROWS: u64 = 5_000;
/// The most characters of a text.
const TEXT: usize = 160;

/// Links to the other runs of the file, and the comparison that the address asks for.
pub(super) async fn comparisons(visit: &Visit, view: &RunView) -> Result<Markup, PageError> {
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
                            a href=(run_address(other.id)) { "Version " (other.version) } " " (state_tag(other.state)) " "
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
