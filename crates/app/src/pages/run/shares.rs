//! The results of a run: the newest ones, and what they were answered with.

use maud::{Markup, html};
use refract_domain::ids::FileRunId;
use refract_domain::lens::Column;
use refract_evaluation::counting::column_tally::{ColumnSummary, ColumnTally};
use refract_service::results::{ReadableResult, ResultOrder, ResultSearch};

use super::run_view::RunView;
use crate::components::number::{count, counted};
use crate::components::prism_tabs::prism_address;
use crate::components::share_bar::share_bar;
use crate::replies::page_error::PageError;
use crate::requests::visit::Visit;

/// The most results that are counted, newest first.
const COUNTED: usize = 2_000;
/// The most columns of the lens with shares, and the most values of each.
const COLUMNS: usize = 12;
const VALUES: usize = 6;

/// The newest results that the run made.
pub(super) async fn newest_results(
    visit: &Visit,
    view: &RunView,
    most: usize,
) -> Result<Vec<ReadableResult>, PageError> {
    let search = search(view.run.id);
    let lens = (*view.lens).clone();
    let results = visit.refract.results();
    let pages = results.of_search(lens, search, ResultOrder::NewestFirst);
    // the search names no column
    let mut pages = pages.map_err(|_| PageError::NotFound)?;
    let mut newest = Vec::new();
    while newest.len() < most {
        let page = pages.next_page().await?;
        if page.is_empty() {
            break;
        }
        newest.extend(page);
    }
    newest.truncate(most);
    Ok(newest)
}

/// The search for the results of a run.
fn search(run: FileRunId) -> ResultSearch {
    let mut search = ResultSearch::default();
    search.filter.run = Some(run);
    search
}

/// The shares of the values in each column of the lens.
pub(super) async fn shares(visit: &Visit, view: &RunView) -> Result<Markup, PageError> {
    let results = newest_results(visit, view, COUNTED).await?;
    let columns = view.lens.columns();
    let tally =
        |column: &Column| ColumnTally::new(column, view.lens.latest.question(&column.question));
    let mut tallies: Vec<_> = columns.lens.iter().take(COLUMNS).map(tally).collect();
    let answered: Vec<_> = results.iter().filter(|result| result.is_ok()).collect();
    for result in &answered {
        for (tally, value) in tallies.iter_mut().zip(result.view().values(columns.lens)) {
            tally.add(value);
        }
    }
    let address = format!(
        "{}/results?run={}",
        prism_address(&view.lens.prism),
        view.run.id
    );
    Ok(html! {
        @if !answered.is_empty() {
            h3 { "What was answered" }
            p.soft {
                "Of the "
                @if results.len() >= COUNTED { "newest " }
                (counted(answered.len(), "answer")) " that this run made. "
                a href=(address) { "Its results" }
            }
            div.columns { @for tally in &tallies { (column(tally, answered.len())) } }
        }
    })
}

fn column(tally: &ColumnTally, all: usize) -> Markup {
    let name = tally.column.name.as_str();
    let all = u64::try_from(all).unwrap_or(u64::MAX);
    html! {
        section {
            h4 { bdi { (name) } }
            @match tally.summary() {
                None => {}
                Some(ColumnSummary::Numbers { mean, lowest, highest }) => {
                    p { "Mean " (format!("{mean:.2}")) ", from " (format!("{lowest:.2}")) " to " (format!("{highest:.2}")) "." }
                }
                Some(ColumnSummary::Labels(labels)) => {
                    table.bars {
                        caption.unseen { "Shares of " (name) }
                        tbody {
                            @for (label, cells) in labels.iter().take(VALUES) {
                                tr { th scope="row" { bdi { (label) } } td { (share_bar(*cells, all)) } }
                            }
                        }
                    }
                    @if labels.len() > VALUES { p.hint { "and " (count(labels.len() - VALUES)) " more values" } }
                }
            }
        }
    }
}
