//! `/prisms/{slug}/retests/{id}`: one retest, from its first text to its flips, with a file of flips
//! that has the rows of `refract retest --output`.

mod retest_view;

use actix_web::http::StatusCode;
use actix_web::http::header::HeaderValue;
use maud::{Markup, html};
use refract_domain::result::{RetestChange, RetestState};
use refract_lens_rendering::FlipRowWriter;
use refract_service::measures::RetestReport;
use refract_service::measures::stored_retests::{ChangeRetestOutcome, MOST_RETESTS_UNDER_WAY};

use self::retest_view::{RetestView, find};
use crate::components::notice::sentence;
use crate::components::{
    NoticeKind, PrismTab, RETEST_TITLE, STATE, asked_version, count, counted, left_out, media_type,
    moment, notice, retest_address, retest_tag, retests_address, row_format, share,
};
use crate::replies::{PageError, PageReply};
use crate::requests::Visit;

/// The most reasons of failures that are shown.
const FAILURES: usize = 8;

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let view = find(&visit).await?;
    page(&visit, &view, "", StatusCode::OK).await
}

/// Shows the part of the page that changes while a node works on the retest.
pub(crate) async fn show_progress(visit: Visit) -> Result<PageReply, PageError> {
    let view = find(&visit).await?;
    let state = HeaderValue::from_static(view.retest.state.name());
    let part = PageReply::html(StatusCode::OK, progress(&view));
    Ok(part.with_header(STATE, state))
}

/// The page; `fault` says why nothing was changed.
async fn page(
    visit: &Visit,
    view: &RetestView,
    fault: &str,
    status: StatusCode,
) -> Result<PageReply, PageError> {
    let RetestView { retest, lens, .. } = view;
    let address = retest_address(&lens.prism, retest.id);
    let is_trial = retest.drawn.draft.is_some();
    let found = if retest.counts.answered + retest.counts.failed > 0 {
        let report = visit.refract.retests().report(retest, lens).await?;
        html! {
            (failures(&report))
            @if is_trial { (retest_view::changes(visit, view, &report).await?) }
            @else {
                (retest_view::section(&report.questions))
                (retest_view::flips(view, &report))
            }
        }
    } else {
        html! {}
    };
    let standing = if let Some(draft) = &retest.drawn.draft {
        retest_view::standing(visit, view, draft).await?
    } else {
        html! {}
    };
    let title = if is_trial {
        retest_view::TITLE
    } else {
        RETEST_TITLE
    };
    let main = html! {
        @if let Some(notice) = visit.done(done) { (notice) }
        @if !fault.is_empty() { (notice(NoticeKind::Refused, &html! { (fault) })) }
        p.soft { a href=(retests_address(&lens.prism)) { "All retests" } }
        h2 { (title) " " (retest_tag(retest.state)) }
        (standing)
        dl.facts {
            dt { "Model" } dd { bdi { (retest.model) } }
            dt { "Version" } dd { (asked_version(retest)) }
            dt { "Started" } dd { (moment(retest.made_at)) @if let Some(name) = &retest.by { " by " bdi { (name) } } }
            @if let Some(ended) = retest.ended_at { dt { "Ended" } dd { (moment(ended)) } }
        }
        @if let Some(reason) = &retest.reason { p.fault { (sentence(reason)) } }
        (left_out(&retest.drawn))
        div #run-progress data-address={ (address) "/progress" } data-state=(retest.state.name()) {
            (progress(view))
        }
        (found)
    };
    let title = format!("{title} · {}", lens.prism.name);
    let tab = if is_trial {
        PrismTab::Edit
    } else {
        PrismTab::Quality
    };
    let page = visit.prism_page(&lens.prism, tab, title, &main);
    Ok(page.script("run.js").status(status).reply())
}

fn done(what: &str) -> Option<&'static str> {
    let words = "The retest is stopped. Texts that were on their way are finished.";
    (what == "stopped").then_some(words)
}

/// How far the retest came, and what can be done.
fn progress(view: &RetestView) -> Markup {
    let retest = &view.retest;
    let counts = retest.counts;
    let asked = counts.answered + counts.failed;
    let percent = share(asked, counts.texts).unwrap_or_else(|| "0.0".to_owned());
    let address = retest_address(&view.lens.prism, retest.id);
    html! {
        p.run-bar {
            progress max=(counts.texts.max(1)) value=(asked) aria-label="Texts that were asked about" { (percent) " %" }
            " " strong { (count(asked)) " of " (counted(counts.texts, "text")) }
            @if counts.failed > 0 { ", " (count(counts.failed)) " of them failed" }
        }
        @match retest.state {
            RetestState::Waiting => p role="status" { "Waiting for a node to take it. This page follows by itself." },
            RetestState::Asking if !retest.is_leased => p role="status" { "Waiting for a node to go on; after a node was lost this takes up to half a minute." },
            RetestState::Asking => p role="status" { "Asking. This page follows by itself." },
            RetestState::Done | RetestState::Stopped | RetestState::Failed => {},
        }
        @if view.is_editor {
            @if retest.state.is_under_way() {
                form method="post" action={ (address) "/stop" } { button type="submit" { "Stop" } }
            } @else if retest.can_continue() && view.lens.prism.archived_at.is_none() {
                form method="post" action={ (address) "/continue" } {
                    button.main type="submit" { "Continue with " (counted(counts.texts.saturating_sub(counts.answered), "text")) }
                }
            }
        }
    }
}

fn failures(report: &RetestReport) -> Markup {
    let failed = &report.asked.failed;
    html! {
        @if !failed.is_empty() {
            h3 { "Why texts failed" }
            ul.plain {
                @for (reason, texts) in failed.iter().take(FAILURES) {
                    li { strong { (count(*texts)) } " " (sentence(reason)) }
                }
            }
        }
    }
}

/// Stops the retest.
pub(crate) async fn stop(visit: Visit) -> Result<PageReply, PageError> {
    change(&visit, RetestChange::Interrupt, "?done=stopped").await
}

/// Lets the retest ask about the texts without new answers.
pub(crate) async fn resume(visit: Visit) -> Result<PageReply, PageError> {
    change(&visit, RetestChange::Continue, "").await
}

async fn change(visit: &Visit, change: RetestChange, done: &str) -> Result<PageReply, PageError> {
    let view = find(visit).await?;
    let prism = &view.lens.prism;
    let address = retest_address(prism, view.retest.id);
    if change == RetestChange::Continue && prism.archived_at.is_some() {
        let fault = "The prism is archived, so no model is asked.";
        return page(visit, &view, fault, StatusCode::CONFLICT).await;
    }
    let retests = visit.refract.retests();
    let fault = match retests
        .change(&visit.actor(), view.retest.id, change)
        .await?
    {
        ChangeRetestOutcome::Changed => {
            return Ok(PageReply::see_other(&format!("{address}{done}")));
        }
        ChangeRetestOutcome::NotFound => return Err(PageError::NotFound),
        ChangeRetestOutcome::NotPossible => {
            "The retest was changed meanwhile, so nothing was done. This is how it is now."
                .to_owned()
        }
        ChangeRetestOutcome::UnderWay(_) => {
            "Another retest of this prism is under way: wait for it, or stop it.".to_owned()
        }
        ChangeRetestOutcome::TooMany => format!(
            "{MOST_RETESTS_UNDER_WAY} retests of the account are under way: wait for one, or stop it."
        ),
    };
    let view = find(visit).await?;
    page(visit, &view, &fault, StatusCode::CONFLICT).await
}

/// Sends all flips, the surest first.
pub(crate) async fn download(visit: Visit) -> Result<PageReply, PageError> {
    let format = row_format(&visit.sent.query)?;
    let view = find(&visit).await?;
    let retests = visit.refract.retests();
    let report = retests.report(&view.retest, &view.lens).await?;
    let actor = visit.actor();
    retests
        .save_download(&actor, &view.retest, format.name())
        .await?;
    let mut rows = FlipRowWriter::new(format, Vec::new());
    // writing into memory cannot fail
    let _ = rows.write_header();
    for flip in report.flipped() {
        let _ = rows.write_row(&flip.row());
    }
    let name = format!("{}-flips.{}", view.lens.prism.slug, format.name());
    let bytes = rows.finish().unwrap_or_default();
    Ok(PageReply::file(&name, media_type(format), bytes))
}
