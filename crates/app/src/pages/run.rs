//! `/runs/{id}`: one file run, from matching its columns to downloading its rows.

mod actions;
mod columns;
mod comparison;
mod downloads;
mod facts;
mod history;
mod progress;
mod run_view;
mod shares;
mod start;

use actix_web::http::StatusCode;
use actix_web::http::header::HeaderValue;
use maud::html;
use refract_domain::result::file_run::FileRunState;

pub(crate) use self::actions::{
    cancel, check, delete_file, pause, preview, resume, retry_failed, run_again, start,
};
pub(crate) use self::downloads::{download, download_refused};
use self::run_view::{RunView, find};
use crate::components::fault_sentence::sentence;
use crate::components::file_run::{STATE, run_address, state_tag};
use crate::components::moment::moment;
use crate::components::notice::{NoticeKind, notice};
use crate::components::prism_tabs::{PrismTab, prism_address};
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::Visit;

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let view = find(&visit).await?;
    page(&visit, &view, "", StatusCode::OK).await
}

/// Shows the part of the page that changes while a node works on the run.
pub(crate) async fn show_progress(visit: Visit) -> Result<PageReply, PageError> {
    let view = find(&visit).await?;
    let part = progress::progress(&visit, &view).await?;
    let state = HeaderValue::from_static(view.run.state.name());
    Ok(PageReply::html(StatusCode::OK, part).with_header(STATE, state))
}

/// The page; `fault` says why what was typed is not used.
async fn page(
    visit: &Visit,
    view: &RunView,
    fault: &str,
    status: StatusCode,
) -> Result<PageReply, PageError> {
    let RunView { run, lens, .. } = view;
    let body = match run.state {
        FileRunState::Matching | FileRunState::Broken => columns::section(visit, view).await?,
        FileRunState::Ready => start::section(visit, view).await?,
        FileRunState::Checking
        | FileRunState::Previewing
        | FileRunState::Running
        | FileRunState::Paused
        | FileRunState::Done
        | FileRunState::Cancelled => html! {
            div #run-progress data-address={ (run_address(run.id)) "/progress" } data-state=(run.state.name()) {
                (progress::progress(visit, view).await?)
            }
        },
    };
    let main = html! {
        @if let Some(notice) = visit.done(done) { (notice) }
        @if !fault.is_empty() { (notice(NoticeKind::Refused, &html! { (fault) })) }
        p.soft { a href={ (prism_address(&lens.prism)) "/runs" } { "All runs" } }
        h2 { bdi { (run.file_name) } " " (state_tag(run.state)) }
        p.soft {
            "Version " (run.version) " · uploaded "
            @if let Some(name) = &run.by { "by " bdi { (name) } " " }
            (moment(run.made_at))
        }
        @if let Some(reason) = &run.reason { p.fault { (sentence(reason)) } }
        (body)
        (facts::file(visit, view))
        (history::section(visit, view).await?)
    };
    let title = format!("{} · {}", run.file_name, lens.prism.name);
    let page = visit.prism_page(&lens.prism, PrismTab::Runs, title, &main);
    Ok(page.script("run.js").status(status).reply())
}

fn done(what: &str) -> Option<&'static str> {
    match what {
        "paused" => Some("The run is paused. Rows that were on their way are finished and saved."),
        "cancelled" => Some("The run is cancelled. The results of its rows stay."),
        "deleted" => Some("The file is deleted. The results of its rows stay."),
        _ => None,
    }
}
