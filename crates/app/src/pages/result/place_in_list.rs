//! The place of a result in the list from which one came: links to the next and the previous one.

use maud::{Markup, html};
use refract_service::results::{Neighbours, ReadableResult};

use crate::components::prism_tabs::prism_address;
use crate::pages::results::{FilterValues, LIST};
use crate::replies::page_error::PageError;
use crate::requests::page_request::Query;
use crate::requests::visit::Visit;

/// The query of a result's page that keeps the list from which one came; empty without a list.
pub(super) fn kept_list(visit: &Visit) -> String {
    let list = visit.sent.query.get(LIST);
    Query::default().with(LIST, list).in_address()
}

/// Links to the results beside this one and back to the list. Without a list in the address it is
/// the list of all results of the prism.
pub(super) async fn place_in_list(
    visit: &Visit,
    result: &ReadableResult,
) -> Result<Markup, PageError> {
    let lens = visit.refract.lenses().of(result.prism().clone()).await?;
    let results = visit.refract.results();
    let columns = results.searchable_columns(&lens).await?;
    let list = visit.sent.query.get(LIST).unwrap_or_default();
    let list = Query::parse(list.trim_start_matches('?'));
    let values = FilterValues::read(&list, &lens, &columns);
    let (search, id, limits) = (&values.filter, result.id(), values.limits());
    let beside = if values.has_errors() {
        Neighbours::default()
    } else if values.is_least_sure_first() {
        let finding = results.least_sure_neighbours(&lens, search, id, limits);
        finding.await?
    } else {
        results.neighbours(&lens, search, id, limits).await?
    };
    let kept = kept_list(visit);
    let back = format!(
        "{}/results{}",
        prism_address(result.prism()),
        list.in_address()
    );
    Ok(html! {
        nav.row aria-label="Place in the list" {
            @if let Some(previous) = beside.previous {
                a.button href={ "/results/" (previous) (kept) } rel="prev" { "Previous" }
            }
            @if let Some(next) = beside.next {
                a.button href={ "/results/" (next) (kept) } rel="next" { "Next" }
            }
            a href=(back) { @if values.is_narrowed() { "Back to the filtered list" } @else { "All results" } }
        }
    })
}
