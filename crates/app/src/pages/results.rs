//! `/prisms/{slug}/results`: saved results as rows of the lens, with filters and downloads.

mod download;
mod filter_form;
mod filter_values;
mod makers;
mod rows;

use std::sync::Arc;

use actix_web::http::StatusCode;
use chrono::Utc;
use maud::{Markup, html};
use refract_domain::ids::ResultId;
use refract_lens_rendering::RowFormat;
use refract_service::lenses::PrismLens;
use refract_service::results::{
    FoundResults, SearchError, SearchLimits, SearchPage, searchable_columns,
};

pub(crate) use self::download::{download, media_type};
use self::filter_form::filter_form;
use self::filter_values::FilterValues;
use self::makers::ResultMakers;
use self::rows::rows;
use crate::components::empty_state::empty_state;
use crate::components::moment::moment;
use crate::components::notice::{NoticeKind, notice};
use crate::components::number::counted;
use crate::components::prism_tabs::{PrismTab, prism_address, prism_heading};
use crate::page::Section;
use crate::page_refusal::PageRefusal;
use crate::page_reply::PageReply;
use crate::sent::Query;
use crate::visit::Visit;

/// The names of the query that say which page of the results is shown.
const OLDER: &str = "older";
const NEWER: &str = "newer";

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageRefusal> {
    let account = visit.account();
    let lens = visit.find_lens().await?;
    let values = FilterValues::read(&visit.sent.query, &searchable_columns(&lens));
    if values.has_faults() {
        return refused(&visit, lens, &values).await;
    }
    let lens = Arc::new(lens);
    let page = search_page(&visit.sent.query)?;
    let limits = SearchLimits::default();
    let results = visit.refract.results();
    let found = results.search(&lens, &values.search, page, limits).await?;
    let makers = ResultMakers::load(&visit, &found.results).await?;
    let address = format!("{}/results", prism_address(&lens.prism));
    let narrowed = values.is_narrowed();
    let in_all = if narrowed {
        None
    } else {
        let counts = visit.refract.results().counts(account, Utc::now()).await?;
        Some(counts.of_prism(lens.prism.id).in_all)
    };
    let main = html! {
        (prism_heading(&lens.prism, PrismTab::Results, visit.visitor.role))
        (filter_form(&visit.sent.query, &values, &lens, &makers, &address))
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
            (looked_so_far(&found, page, &values.query, &address))
            @if !found.results.is_empty() { (rows(&lens, &found.results, &makers)) }
        }
        (neighbours(&found, &values.query, &address))
    };
    let title = format!("Results of {}", lens.prism.name);
    Ok(visit.page(title, main).section(Section::Prisms).reply())
}

/// The form again, with what is wrong beside each input.
async fn refused(
    visit: &Visit,
    lens: PrismLens,
    values: &FilterValues,
) -> Result<PageReply, PageRefusal> {
    let makers = ResultMakers::load(visit, &[]).await?;
    let address = format!("{}/results", prism_address(&lens.prism));
    let main = html! {
        (prism_heading(&lens.prism, PrismTab::Results, visit.visitor.role))
        (notice(NoticeKind::Refused, &html! { "A filter cannot be read, so nothing was searched for. Change what is marked below." }))
        (filter_form(&visit.sent.query, values, &lens, &makers, &address))
    };
    let title = format!("Results of {}", lens.prism.name);
    let page = visit.page(title, main).section(Section::Prisms);
    Ok(page.status(StatusCode::UNPROCESSABLE_ENTITY).reply())
}

/// Which page of the results an address names.
fn search_page(query: &Query) -> Result<SearchPage, PageRefusal> {
    let id = |text| ResultId::parse(text).ok_or(PageRefusal::NotFound);
    match (query.get(OLDER), query.get(NEWER)) {
        (Some(older), _) => Ok(SearchPage::OlderThan(id(older)?)),
        (None, Some(newer)) => Ok(SearchPage::NewerThan(id(newer)?)),
        (None, None) => Ok(SearchPage::Newest),
    }
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

fn downloads(query: &Query, address: &str) -> Markup {
    html! {
        p.row {
            span { "Download just these:" }
            @for format in RowFormat::NAMES {
                @let query = query.with("format", Some(format));
                a href={ (address) "/download" (query.in_address()) } download { (format) }
            }
        }
    }
}

/// How far a search looked that gave up before its page was full, with the way on.
fn looked_so_far(found: &FoundResults, page: SearchPage, query: &Query, address: &str) -> Markup {
    let Some(searched_to) = found.searched_to else {
        return html! {};
    };
    let on = match page {
        SearchPage::NewerThan(_) => page_address(address, query, NEWER, found.newer),
        SearchPage::Newest | SearchPage::OlderThan(_) => {
            page_address(address, query, OLDER, found.older)
        }
    };
    notice(
        NoticeKind::Warning,
        &html! {
            "Looked as far as " (moment(searched_to)) ", and there is more to look through. "
            @if let Some(on) = on { a href=(on) { "Search on" } }
        },
    )
}

fn neighbours(found: &FoundResults, query: &Query, address: &str) -> Markup {
    let newer = page_address(address, query, NEWER, found.newer);
    let older = page_address(address, query, OLDER, found.older);
    html! {
        @if newer.is_some() || older.is_some() {
            nav.row aria-label="Pages of results" {
                @if let Some(newer) = newer { a.button href=(newer) rel="prev" { "Newer" } }
                @if let Some(older) = older { a.button href=(older) rel="next" { "Older" } }
            }
        }
    }
}

fn page_address(address: &str, query: &Query, name: &str, id: Option<ResultId>) -> Option<String> {
    let id = id?.to_string();
    let query = query.with(name, Some(&id));
    Some(format!("{address}{}", query.in_address()))
}

impl From<SearchError> for PageRefusal {
    fn from(refusal: SearchError) -> Self {
        match refusal {
            // the lens lost the column after the filters were read
            SearchError::Column(_) => Self::NotFound,
            SearchError::Internal(error) => Self::Internal(error),
        }
    }
}
