//! `/prisms/{slug}/results`: stored results as rows of the lens, with filters and downloads.

mod file_download;
mod filter_form;
mod filter_values;
mod rows;

use std::sync::Arc;

use actix_web::http::StatusCode;
use chrono::Utc;
use maud::{Markup, html};
use refract_domain::account::Role;
use refract_domain::ids::{PersonId, ResultId};
use refract_service::lenses::PrismLens;
use refract_service::marks::LastMark;
use refract_service::results::{
    FoundResults, MatchCount, ResultOrder, SearchError, SearchPage, SearchableColumn,
};

use self::file_download::{FORMATS, chosen_columns};
use self::filter_form::{chips, filter_form};
use self::rows::{ListedMarks, ROWS, ResultActors, rows};
use crate::components::{
    NEWER, NoticeKind, OLDER, PrismTab, count, counted, downloads, empty_state, moment, neighbours,
    notice, output_format, page_address, page_of, prism_address,
};
use crate::replies::{Page, PageError, PageReply};
use crate::requests::Visit;

pub(crate) use self::filter_values::{FilterValues, MARKED_BY};
pub(crate) use self::rows::LIST;

/// The query parameter that asks for all matches to be counted, and its value.
const COUNT: &str = "count";
const ALL: &str = "all";
/// The query parameters of a part of a count: the matches before it, and the result after which it
/// goes on.
const SO_FAR: &str = "so_far";
const COUNTED_TO: &str = "counted_to";
/// The most parts of a count for which a reader waits, of 20,000 results each.
const MOST_PARTS: usize = 50;

/// The address of the results that somebody marked last.
pub(crate) fn marks_of(person: PersonId, last: LastMark) -> String {
    format!("/prisms/{}/results?marks={MARKED_BY}{person}", last.prism)
}

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
    let marks = values.filter.marks.as_ref();
    let marks = ListedMarks::load(&visit, &found.results, marks).await?;
    let address = format!("{}/results", prism_address(&lens.prism));
    let narrowed = values.is_narrowed();
    let beside = |side, id| page_address(&address, &values.query, side, id);
    let (newer, older) = (beside(NEWER, found.newer), beside(OLDER, found.older));
    let chosen = visit.sent.query.get("column");
    let may_change = visit.visitor.role.may(Role::Editor);
    let main = html! {
        (filter_form(&values, &lens, &columns, chosen, &actors, &address))
        (chips(&values, &lens, &actors, &address))
        @if found.results.is_empty() && found.searched_to.is_none() {
            (nothing(&lens, &address, narrowed || page != SearchPage::Newest, may_change))
        } @else {
            div.row.spread {
                p.soft { (how_many(&visit, &lens, &values, found.count, &address).await?) }
                (downloads(&values.query, &address, &FORMATS))
            }
            @if (narrowed || values.is_least_sure_first()) && may_change {
                @let query = values.query.clone().and("choice", "filter");
                p { a href={ (prism_address(&lens.prism)) "/edit/trial" (query.in_address()) } { "Try other words on these" } }
            }
            (chosen_columns(&values.query, &lens, &address))
            (looked_so_far(&found, page, newer.as_deref(), older.as_deref()))
            @if !found.results.is_empty() { (rows(&lens, &found.results, &actors, marks.as_ref(), &values)) }
        }
        (neighbours("Pages of results", newer, older))
    };
    let mut page = results_page(&visit, &lens, &main);
    if !found.results.is_empty() {
        page = page.skipping_to(ROWS, "Skip to the results");
    }
    Ok(page.script("count.js").script("fold.js").reply())
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
    address: &str,
) -> Result<Markup, PageError> {
    let order = order(values);
    if !values.is_narrowed() && !values.is_least_sure_first() {
        let counts = visit.refract.results();
        let counts = counts.counts(visit.account(), Utc::now()).await?;
        let in_all = counts.of_prism(lens.prism.id).in_all;
        return Ok(html! { (counted(in_all, "result")) ", " (order) });
    }
    Ok(html! {
        @match counted_matches {
            Some(MatchCount::All(matches)) => { (counted(matches, "result")) ", " (order) }
            Some(MatchCount::AmongNewest { matches, read }) if values.is_least_sure_first() => {
                (counted(matches, "result")) " among the newest " (count(read)) ", " (order)
            }
            Some(MatchCount::MoreThan(_) | MatchCount::AmongNewest { .. }) => {
                @if visit.sent.query.get(COUNT) == Some(ALL) {
                    (count_all(visit, lens, values).await?) ", " (order)
                } @else {
                    (counting(counted_matches, values, address))
                }
            }
            None => "Further results"
        }
    })
}

fn order(values: &FilterValues) -> &'static str {
    if values.is_least_sure_first() {
        "least sure first; among more options the same percentage is surer"
    } else {
        "newest first"
    }
}

/// What is known of a count that takes longer than the page: a script goes on counting, and a link
/// counts all where no script runs.
fn counting(known: Option<MatchCount>, values: &FilterValues, address: &str) -> Markup {
    let from_the_newest = format!("{address}/progress{}", values.query.in_address());
    let all = format!(
        "{address}{}",
        values.query.with(COUNT, Some(ALL)).in_address()
    );
    html! {
        span #matches data-address=(from_the_newest) {
            @match known {
                Some(MatchCount::AmongNewest { matches, read }) => {
                    (counted(matches, "result")) " among the newest " (count(read))
                }
                Some(MatchCount::MoreThan(matches)) => { "More than " (counted(matches, "result")) }
                Some(MatchCount::All(_)) | None => {}
            }
            ", " (order(values)) " " a href=(all) { "Count all" }
        }
    }
}

/// All matches, counted while the reader waits; so many at least where there are very many results.
async fn count_all(
    visit: &Visit,
    lens: &PrismLens,
    values: &FilterValues,
) -> Result<String, PageError> {
    let results = visit.refract.results();
    let (mut matches, mut last) = (0, None);
    for _ in 0..MOST_PARTS {
        let part = results.count_matches(lens, &values.filter, last).await?;
        matches += part.matches;
        last = part.counted_to;
        if last.is_none() {
            return Ok(counted(matches, "result"));
        }
    }
    Ok(format!("At least {}", counted(matches, "result")))
}

/// Counts a part of the matches, and answers with what the script shows meanwhile: so many so far,
/// with the address of the next part, or all.
pub(crate) async fn count_on(visit: Visit) -> Result<PageReply, PageError> {
    let lens = visit.find_lens().await?;
    let columns = visit.refract.results().searchable_columns(&lens).await?;
    let values = FilterValues::read(&visit.sent.query, &lens, &columns);
    if values.has_errors() {
        return Err(PageError::NotFound);
    }
    let sent = &visit.sent.query;
    let before: usize = sent.get(SO_FAR).and_then(|it| it.parse().ok()).unwrap_or(0);
    let last = sent.get(COUNTED_TO).and_then(ResultId::parse);
    let results = visit.refract.results();
    let part = results.count_matches(&lens, &values.filter, last).await?;
    let matches = before.saturating_add(part.matches);
    let next = part.counted_to.map(|last| {
        let query = values.query.with(SO_FAR, Some(&matches.to_string()));
        let query = query.with(COUNTED_TO, Some(&last.to_string()));
        format!(
            "{}/results/progress{}",
            prism_address(&lens.prism),
            query.in_address()
        )
    });
    let shown = html! {
        span #matches data-address=[next.as_deref()] {
            @if next.is_some() { (count(matches)) " so far, counting …" }
            @else { (counted(matches, "result")) ", " (order(&values)) }
        }
    };
    Ok(PageReply::html(StatusCode::OK, shown))
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
        (notice(NoticeKind::Refused, &html! { "A filter is not valid, so nothing was searched for. Change what is marked below." }))
        (filter_form(values, &lens, columns, None, &actors, &address))
    };
    let page = results_page(visit, &lens, &main);
    Ok(page.status(StatusCode::UNPROCESSABLE_ENTITY).reply())
}

fn results_page<'a>(visit: &'a Visit, lens: &PrismLens, main: &Markup) -> Page<'a> {
    let title = format!("Results · {}", lens.prism.name);
    visit.prism_page(&lens.prism, PrismTab::Results, title, main)
}

fn nothing(lens: &PrismLens, address: &str, is_narrowed: bool, may_upload: bool) -> Markup {
    if is_narrowed {
        let clear = html! { a.button href=(address) { "Clear the filters" } };
        return empty_state("No result matches.", &clear);
    }
    let prism = prism_address(&lens.prism);
    let first = html! {
        p.row {
            a.button.main href={ (prism) "/try" } { "Try a text" }
            @if may_upload { a href={ (prism) "/runs" } { "Upload a file" } }
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

/// Sends the file with the rows of the list as `refract results export` writes them, oldest first; of
/// the least sure ones in the order of the list.
pub(crate) async fn download(visit: Visit) -> Result<PageReply, PageError> {
    let format = output_format(&visit.sent.query)?;
    let lens = visit.find_lens().await?;
    let columns = visit.refract.results().searchable_columns(&lens).await?;
    let values = FilterValues::read(&visit.sent.query, &lens, &columns);
    if values.has_errors() {
        return refused(&visit, lens, &columns, &values).await;
    }
    let results = visit.refract.results();
    let results = if values.is_least_sure_first() {
        let limits = values.limits();
        results.of_least_sure(lens, values.filter, limits).await?
    } else {
        let results = results.of_search(lens, values.filter, ResultOrder::OldestFirst);
        // the filters name only searchable columns of this lens
        results.map_err(|_| PageError::NotFound)?
    };
    file_download::send(&visit, results, format).await
}
