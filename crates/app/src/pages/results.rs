//! `/prisms/{slug}/results`: stored results as rows of the lens, with filters and downloads.

mod actors;
mod download;
mod filter_form;
mod filter_values;
mod rows;

use std::sync::Arc;

use actix_web::http::StatusCode;
use chrono::Utc;
use maud::{Markup, html};
use refract_domain::ids::ResultId;
use refract_service::lenses::PrismLens;
use refract_service::results::{
    FoundResults, SearchError, SearchLimits, SearchPage, searchable_columns,
};

use self::actors::ResultActors;
pub(crate) use self::download::download;
use self::filter_form::filter_form;
pub(crate) use self::filter_values::FilterValues;
use self::rows::rows;
use crate::components::empty_state::empty_state;
use crate::components::list_pages::{NEWER, OLDER, downloads, neighbours, page_address, page_of};
use crate::components::moment::moment;
use crate::components::notice::{NoticeKind, notice};
use crate::components::number::counted;
use crate::components::prism_tabs::{PrismTab, prism_address};
use crate::replies::page::Page;
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::Visit;

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let account = visit.account();
    let lens = visit.find_lens().await?;
    let values = FilterValues::read(&visit.sent.query, &searchable_columns(&lens));
    if values.has_errors() {
        return refused(&visit, lens, &values).await;
    }
    let lens = Arc::new(lens);
    let page = page_of(
        &visit.sent.query,
        ResultId::parse,
        SearchPage::OlderThan,
        SearchPage::NewerThan,
    )?;
    let page = page.unwrap_or(SearchPage::Newest);
    let limits = SearchLimits::default();
    let results = visit.refract.results();
    let found = results.search(&lens, &values.filter, page, limits).await?;
    let actors = ResultActors::load(&visit, &found.results).await?;
    let address = format!("{}/results", prism_address(&lens.prism));
    let narrowed = values.is_narrowed();
    let in_all = if narrowed {
        None
    } else {
        let counts = visit.refract.results().counts(account, Utc::now()).await?;
        Some(counts.of_prism(lens.prism.id).in_all)
    };
    let beside = |side, id| page_address(&address, &values.query, side, id);
    let (newer, older) = (beside(NEWER, found.newer), beside(OLDER, found.older));
    let main = html! {
        (filter_form(&values, &lens, &actors, &address))
        @if found.results.is_empty() && found.searched_to.is_none() {
            (nothing(&lens, &address, narrowed || page != SearchPage::Newest))
        } @else {
            div.row.spread {
                p.soft {
                    @if let Some(in_all) = in_all { (counted(in_all, "result")) ", newest first" }
                    @else { "Newest first" }
                }
                (downloads(&values.query, &address))
            }
            (looked_so_far(&found, page, newer.as_deref(), older.as_deref()))
            @if !found.results.is_empty() { (rows(&lens, &found.results, &actors)) }
        }
        (neighbours("Pages of results", newer, older))
    };
    Ok(results_page(&visit, &lens, &main).reply())
}

/// The form again, with an error at each invalid filter.
async fn refused(
    visit: &Visit,
    lens: PrismLens,
    values: &FilterValues,
) -> Result<PageReply, PageError> {
    let actors = ResultActors::load(visit, &[]).await?;
    let address = format!("{}/results", prism_address(&lens.prism));
    let main = html! {
        (notice(NoticeKind::Refused, &html! { "A filter cannot be read, so nothing was searched for. Change what is marked below." }))
        (filter_form(values, &lens, &actors, &address))
    };
    let page = results_page(visit, &lens, &main);
    Ok(page.status(StatusCode::UNPROCESSABLE_ENTITY).reply())
}

fn results_page<'a>(visit: &'a Visit, lens: &PrismLens, main: &Markup) -> Page<'a> {
    let title = format!("Results of {}", lens.prism.name);
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
