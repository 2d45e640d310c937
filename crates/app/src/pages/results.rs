//! `/prisms/{slug}/results`: stored results as rows of the lens, with filters and downloads.

mod actors;
mod filter_form;
mod filter_values;
mod rows;

use std::sync::Arc;

use actix_web::http::StatusCode;
use chrono::Utc;
use maud::{Markup, html};
use refract_domain::ids::ResultId;
use refract_service::lenses::PrismLens;
use refract_service::marks::MarkedColumns;
use refract_service::results::{
    FoundResults, MatchCount, ResultOrder, SearchError, SearchPage, SearchableColumn,
};

use self::actors::ResultActors;
use self::filter_form::{chips, filter_form};
pub(crate) use self::filter_values::FilterValues;
pub(crate) use self::rows::LIST;
use self::rows::rows;
use crate::components::list_pages::{
    NEWER, OLDER, downloads, media_type, neighbours, page_address, page_of, row_format,
};
use crate::components::moment::moment;
use crate::components::notice::{NoticeKind, empty_state, notice};
use crate::components::number::{count, counted};
use crate::components::prism_tabs::{PrismTab, prism_address};
use crate::replies::page::Page;
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::Visit;

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let lens = visit.find_lens().await?;
    let columns = visit.refract.results().searchable_columns(&lens).await?;
    let values = FilterValues::read(&visit.sent.query, &lens, &columns);
    if values.has_errors() {
        return refused(&visit, lens, &columns, &values).await;
    }
    let lens = Arc::new(lens);
    let page = page_of(
        &visit.sent.query,
        ResultId::parse,
        SearchPage::OlderThan,
        SearchPage::NewerThan,
    )?;
    let page = page.unwrap_or(SearchPage::Newest);
    let found = find(&visit, &lens, &values, page).await?;
    let actors = ResultActors::load(&visit, &found.results).await?;
    let address = format!("{}/results", prism_address(&lens.prism));
    let narrowed = values.is_narrowed();
    let beside = |side, id| page_address(&address, &values.query, side, id);
    let (newer, older) = (beside(NEWER, found.newer), beside(OLDER, found.older));
    let chosen = visit.sent.query.get("column");
    let main = html! {
        (filter_form(&values, &lens, &columns, chosen, &actors, &address))
        (chips(&values, &actors, &address))
        @if found.results.is_empty() && found.searched_to.is_none() {
            (nothing(&lens, &address, narrowed || page != SearchPage::Newest))
        } @else {
            div.row.spread {
                p.soft { (how_many(&visit, &lens, &values, found.count).await?) }
                (downloads(&values.query, &address))
            }
            (looked_so_far(&found, page, newer.as_deref(), older.as_deref()))
            @if !found.results.is_empty() { (rows(&lens, &found.results, &actors, &values.query)) }
        }
        (neighbours("Pages of results", newer, older))
    };
    Ok(results_page(&visit, &lens, &main).reply())
}

async fn find(
    visit: &Visit,
    lens: &Arc<PrismLens>,
    values: &FilterValues,
    page: SearchPage,
) -> Result<FoundResults, PageError> {
    let (results, limits) = (visit.refract.results(), values.limits());
    if !values.is_least_sure_first() {
        let searching = results.search(lens, &values.filter, page, limits);
        return Ok(searching.await?);
    }
    let after = match page {
        SearchPage::OlderThan(id) => Some(id),
        SearchPage::Newest | SearchPage::NewerThan(_) => None,
    };
    let searching = results.search_least_sure(lens, &values.filter, after, limits);
    Ok(searching.await?)
}

/// How many results the list has, and its order.
async fn how_many(
    visit: &Visit,
    lens: &PrismLens,
    values: &FilterValues,
    counted_matches: Option<MatchCount>,
) -> Result<Markup, PageError> {
    let order = if values.is_least_sure_first() {
        "least sure first"
    } else {
        "newest first"
    };
    if !values.is_narrowed() && !values.is_least_sure_first() {
        let counts = visit.refract.results();
        let counts = counts.counts(visit.account(), Utc::now()).await?;
        let in_all = counts.of_prism(lens.prism.id).in_all;
        return Ok(html! { (counted(in_all, "result")) ", " (order) });
    }
    Ok(html! {
        @match counted_matches {
            Some(MatchCount::All(matches)) => { (counted(matches, "result")) ", " (order) }
            Some(MatchCount::MoreThan(matches)) => { "More than " (counted(matches, "result")) ", " (order) }
            Some(MatchCount::AmongNewest { matches, read }) => {
                (counted(matches, "result")) " among the newest " (count(read)) ", " (order)
            }
            None => "Further results"
        }
    })
}

/// The form again, with an error at each invalid filter.
async fn refused(
    visit: &Visit,
    lens: PrismLens,
    columns: &[SearchableColumn],
    values: &FilterValues,
) -> Result<PageReply, PageError> {
    let actors = ResultActors::load(visit, &[]).await?;
    let address = format!("{}/results", prism_address(&lens.prism));
    let main = html! {
        (notice(NoticeKind::Refused, &html! { "A filter cannot be read, so nothing was searched for. Change what is marked below." }))
        (filter_form(values, &lens, columns, None, &actors, &address))
    };
    let page = results_page(visit, &lens, &main);
    Ok(page.status(StatusCode::UNPROCESSABLE_ENTITY).reply())
}

fn results_page<'a>(visit: &'a Visit, lens: &PrismLens, main: &Markup) -> Page<'a> {
    let title = format!("Results · {}", lens.prism.name);
    visit.prism_page(&lens.prism, PrismTab::Results, title, main)
}

fn nothing(lens: &PrismLens, address: &str, is_narrowed: bool) -> Markup {
    if is_narrowed {
        let clear = html! { a.button href=(address) { "Clear the filters" } };
        return empty_state("No result matches.", &clear);
    }
    let prism = prism_address(&lens.prism);
    let first = html! {
        p.row {
            a.button.main href={ (prism) "/try" } { "Try a text" }
            a href=(prism) { "What callers need" }
        }
    };
    empty_state("Every answer of this prism is kept and shown here.", &first)
}

/// A notice that a search reached its limit before its page was full: how far it read, with a link
/// to continue.
fn looked_so_far(
    found: &FoundResults,
    page: SearchPage,
    newer: Option<&str>,
    older: Option<&str>,
) -> Markup {
    let Some(searched_to) = found.searched_to else {
        return html! {};
    };
    let on = match page {
        SearchPage::NewerThan(_) => newer,
        SearchPage::Newest | SearchPage::OlderThan(_) => older,
    };
    notice(
        NoticeKind::Warning,
        &html! {
            "Looked as far as " (moment(searched_to)) ", and there is more to look through. "
            @if let Some(on) = on { a href=(on) { "Search on" } }
        },
    )
}

impl From<SearchError> for PageError {
    fn from(refusal: SearchError) -> Self {
        match refusal {
            // the lens lost the column after the filters were parsed
            SearchError::Column(_) => Self::NotFound,
            SearchError::Internal(error) => Self::Internal(error),
        }
    }
}

/// Sends the file with the rows of `refract results export`, oldest first.
pub(crate) async fn download(visit: Visit) -> Result<PageReply, PageError> {
    let format = row_format(&visit.sent.query)?;
    let lens = visit.find_lens().await?;
    let columns = visit.refract.results().searchable_columns(&lens).await?;
    let values = FilterValues::read(&visit.sent.query, &lens, &columns);
    if values.has_errors() {
        return refused(&visit, lens, &columns, &values).await;
    }
    let name = format!("{}-results.{}", lens.prism.slug, format.name());
    let oldest_first = ResultOrder::OldestFirst;
    let results = visit.refract.results();
    let results = results.of_search(lens, values.filter, oldest_first);
    // the filters name only searchable columns of this lens
    let results = results.map_err(|_| PageError::NotFound)?;
    let marked = MarkedColumns::default();
    let chunks = results
        .export_chunks(&visit.actor(), format, marked)
        .await?;
    Ok(PageReply::streamed_file(&name, media_type(format), chunks))
}
