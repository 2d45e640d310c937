//! The results of a run: the newest ones, and what they were answered with.

use maud::{Markup, html};
use refract_domain::lens::Column;
use refract_domain::prism::question::Question;
use refract_evaluation::counting::column_tally::{ColumnSummary, ColumnTally};
use refract_service::results::{PrismResults, ReadableResult, ResultOrder, ResultSearch};

use super::run_view::RunView;
use crate::components::{count, counted, prism_address, share_bar};
use crate::replies::PageError;
use crate::requests::Visit;

/// The most results that are counted, newest first: of a run that a node works on, since its page
/// follows it, and of any other.
const COUNTED_WHILE_WORKED_ON: usize = 500;
const COUNTED: usize = 50_000;
/// The most columns of the lens with shares, and the most values of each.
const COLUMNS: usize = 12;
const VALUES: usize = 6;

/// The newest results that the run made; at most one page of them.
pub(super) async fn newest_results(
    visit: &Visit,
    view: &RunView,
    most: usize,
) -> Result<Vec<ReadableResult>, PageError> {
    let mut newest = of_run(visit, view)?.next_page().await?;
    newest.truncate(most);
    Ok(newest)
}

/// The newest results of the version that the run asks; at most one page of them.
pub(super) async fn newest_of_version(
    visit: &Visit,
    view: &RunView,
    most: usize,
) -> Result<Vec<ReadableResult>, PageError> {
    let mut search = ResultSearch::default();
    search.filter.version = Some(view.run.version);
    search.filter.is_ok = Some(true);
    let mut newest = results(visit, view, search)?.next_page().await?;
    newest.truncate(most);
    Ok(newest)
}

/// The results that the run made, newest first.
fn of_run(visit: &Visit, view: &RunView) -> Result<PrismResults, PageError> {
    let mut search = ResultSearch::default();
    search.filter.run = Some(view.run.id);
    results(visit, view, search)
}

/// The results that a search finds, newest first.
fn results(visit: &Visit, view: &RunView, search: ResultSearch) -> Result<PrismResults, PageError> {
    let lens = (*view.lens).clone();
    let results = visit.refract.results();
    let results = results.of_search(lens, search, ResultOrder::NewestFirst);
    // the search names no column
    results.map_err(|_| PageError::NotFound)
}

/// The shares of the values in each column of the lens.
pub(super) async fn shares(visit: &Visit, view: &RunView) -> Result<Markup, PageError> {
    let columns = view.lens.columns();
    let tally =
        |column: &Column| ColumnTally::new(column, view.lens.latest.question(&column.question));
    let mut tallies: Vec<_> = columns.lens.iter().take(COLUMNS).map(tally).collect();
    let mut results = of_run(visit, view)?;
    let most = if view.run.state.is_worked_on() {
        COUNTED_WHILE_WORKED_ON
    } else {
        COUNTED
    };
    let (mut read, mut answered) = (0, 0);
    while read < most {
        // a page at a time, since texts may be long
        let page = results.next_page().await?;
        if page.is_empty() {
            break;
        }
        let page = page.iter().take(most - read);
        read += page.len();
        for result in page.filter(|result| result.is_ok()) {
            answered += 1;
            for (tally, value) in tallies.iter_mut().zip(result.view().values(columns.lens)) {
                tally.add(value);
            }
        }
    }
    let address = format!(
        "{}/results?run={}",
        prism_address(&view.lens.prism),
        view.run.id
    );
    Ok(html! {
        @if answered > 0 {
            h3 { "What was answered" }
            p.soft {
                @if read >= most { "The newest " (count(most)) " results that this run made, " (count(answered)) " of them answered. " }
                @else { "Of the " (counted(answered, "answer")) " that this run made. " }
                a href=(address) { "Its results" }
            }
            div.columns { @for tally in &tallies { (column(tally, view.lens.latest.question(&tally.column.question), answered)) } }
        }
    })
}

/// The shares of a column's values, under its question with its name.
fn column(tally: &ColumnTally, question: Option<&Question>, all: usize) -> Markup {
    let name = tally.column.name.as_str();
    let is_yes_no = tally.column.output.cutoffs().is_some();
    let all = u64::try_from(all).unwrap_or(u64::MAX);
    html! {
        section {
            h4 { @if let Some(question) = question { bdi { (question.text) } " " } code.soft { (name) } }
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
                                tr.(label.to_lowercase())[is_yes_no] {
                                    th scope="row" { bdi { (label) } }
                                    td { (share_bar(*cells, all)) }
                                }
                            }
                        }
                    }
                    @if labels.len() > VALUES { p.hint { "and " (count(labels.len() - VALUES)) " more values" } }
                }
            }
        }
    }
}
