//! `/runs/{id}`: one file run, from matching its columns to downloading its rows in the order of the
//! uploaded file.

mod columns;
mod progress;
mod run_view;
mod start;

use actix_web::http::StatusCode;
use actix_web::http::header::HeaderValue;
use bytes::Bytes;
use futures_util::{Stream, stream};
use maud::html;
use refract_domain::ids::FileRunId;
use refract_domain::result::{FileRunChange, FileRunLimits, FileRunState};
use refract_file_runs::{HeldOutputError, RowLayout, SheetChoice};
use refract_service::runs::{ChangeRunOutcome, DeleteUploadOutcome, NewStoredRun};

use self::columns::{SHEET, SKIPS_HIDDEN, has_sheet_choice, mappings};
use self::run_view::{RunView, find};
use self::start::{NO_LIMIT, read_limits};
use crate::components::{
    NoticeKind, PrismTab, STATE, moment, notice, output_format, output_media_type, prism_address,
    run_address, sentence, state_tag, table_style,
};
use crate::pages::runs::suggested;
use crate::pages::uploaded_file::{open_file, read_outline, unreadable};
use crate::replies::{PageError, PageReply};
use crate::requests::{Visit, version_number};

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let view = find(&visit).await?;
    page(&visit, &view, "", StatusCode::OK).await
}

/// Shows the part of the page that changes while a node works on the run.
pub(crate) async fn show_progress(visit: Visit) -> Result<PageReply, PageError> {
    let view = find(&visit).await?;
    let part = progress::progress(&visit, &view).await?;
    let state = HeaderValue::from_static(view.followed_state());
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
            div #run-progress data-address={ (run_address(run.id)) "/progress" } data-state=(view.followed_state()) {
                (progress::progress(visit, view).await?)
            }
        },
    };
    let main = html! {
        @if let Some(notice) = visit.done(done) { (notice) }
        @if !fault.is_empty() { (notice(NoticeKind::Refused, &html! { (fault) })) }
        div.row.spread {
            h2 { bdi { (run.file_name) } " " (state_tag(run.state, run.upload.is_some())) }
            a href={ (prism_address(&lens.prism)) "/runs" } { "All runs" }
        }
        p.soft {
            "Version " (run.version) " · uploaded "
            @if let Some(name) = &run.by { "by " bdi { (name) } " " }
            (moment(run.made_at))
        }
        @if let Some(reason) = &run.reason { p.fault { (sentence(reason)) } }
        (body)
        (run_view::file(visit, view))
        (run_view::history(visit, view).await?)
    };
    let title = format!("{} · {}", run.file_name, lens.prism.name);
    let page = visit.prism_page(&lens.prism, PrismTab::Runs, title, &main);
    Ok(page.script("run.js").status(status).reply())
}

fn done(what: &str) -> Option<&'static str> {
    match what {
        "paused" => Some(
            "The run pauses: rows on their way are finished and saved. If these were the last ones, the run ends.",
        ),
        "cancelled" => Some("The run is cancelled. The results of its rows stay."),
        "deleted" => Some("The file is deleted. The results of its rows stay."),
        _ => None,
    }
}

/// Matches the columns, and lets a node read the file.
pub(crate) async fn check(visit: Visit) -> Result<PageReply, PageError> {
    let view = find(&visit).await?;
    if visit.sent.form.has(SHEET) {
        return choose_sheet(&visit, &view).await;
    }
    let (actor, runs) = (visit.actor(), visit.refract.runs());
    let columns = mappings(&visit.sent.form);
    let matched = runs
        .match_columns(&actor, view.run.id, columns, None)
        .await?;
    let ChangeRunOutcome::Changed(_) = matched else {
        return outcome(&visit, &view, matched, "").await;
    };
    let lacking = columns::lacking(&visit, &view).await?;
    if !lacking.is_empty() {
        // the other columns are kept as they were chosen
        let view = find(&visit).await?;
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        return page(&visit, &view, &lacking, status).await;
    }
    change(&visit, &view, FileRunChange::Check, None, "").await
}

/// Reads another sheet of the workbook, and shows its columns.
async fn choose_sheet(visit: &Visit, view: &RunView) -> Result<PageReply, PageError> {
    let upload = view.run.upload.ok_or(PageError::NotFound)?;
    if !has_sheet_choice(visit, view).await? {
        let fault =
            "The sheet of this file is chosen already: upload the file again for another one.";
        return page(visit, view, fault, StatusCode::CONFLICT).await;
    }
    let choice = SheetChoice {
        sheet: Some(visit.sent.form.get(SHEET).to_owned()),
        skips_hidden_rows: visit.sent.form.has(SKIPS_HIDDEN),
    };
    let reading = read_outline(visit, upload, &view.run.file_name, choice);
    let outline = match reading.await? {
        Ok(outline) => outline,
        Err(error) => {
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            return page(visit, view, &unreadable(&error), status).await;
        }
    };
    let mappings = suggested(visit, &view.lens.prism, &outline).await?;
    let (actor, runs) = (visit.actor(), visit.refract.runs());
    let matched = runs.match_columns(&actor, view.run.id, mappings, None);
    outcome(visit, view, matched.await?, "").await
}

/// Lets a node answer five rows.
pub(crate) async fn preview(visit: Visit) -> Result<PageReply, PageError> {
    let view = find(&visit).await?;
    change(&visit, &view, FileRunChange::Preview, None, "").await
}

/// Starts the run.
pub(crate) async fn start(visit: Visit) -> Result<PageReply, PageError> {
    with_limits(&visit, FileRunChange::Start).await
}

/// Lets a paused run go on.
pub(crate) async fn resume(visit: Visit) -> Result<PageReply, PageError> {
    with_limits(&visit, FileRunChange::Resume).await
}

/// Retries the rows that failed.
pub(crate) async fn retry_failed(visit: Visit) -> Result<PageReply, PageError> {
    with_limits(&visit, FileRunChange::RetryFailed).await
}

/// Pauses the run.
pub(crate) async fn pause(visit: Visit) -> Result<PageReply, PageError> {
    let view = find(&visit).await?;
    change(&visit, &view, FileRunChange::Pause, None, "paused").await
}

/// Cancels the run for good.
pub(crate) async fn cancel(visit: Visit) -> Result<PageReply, PageError> {
    let view = find(&visit).await?;
    change(&visit, &view, FileRunChange::Cancel, None, "cancelled").await
}

/// Makes another run of the file, for another version.
pub(crate) async fn run_again(visit: Visit) -> Result<PageReply, PageError> {
    let view = find(&visit).await?;
    let version = version_number(visit.sent.form.get("version")).ok_or(PageError::NotFound)?;
    let upload = view.run.upload.ok_or(PageError::NotFound)?;
    let new = NewStoredRun {
        id: FileRunId::new(visit.sent.form.id_of_made()),
        prism: view.run.prism,
        version: Some(version),
        upload,
        mappings: view.run.mappings.clone(),
    };
    let runs = visit.refract.runs();
    let made = runs.create_file_run(&visit.actor(), new).await;
    let made = made.map_err(|error| PageError::NotChanged(error.to_string()))?;
    Ok(PageReply::see_other(&run_address(made.id)))
}

/// Deletes the file of the run.
pub(crate) async fn delete_file(visit: Visit) -> Result<PageReply, PageError> {
    let view = find(&visit).await?;
    let upload = view.run.upload.ok_or(PageError::NotFound)?;
    let runs = visit.refract.runs();
    match runs.delete_upload(&visit.actor(), upload).await? {
        DeleteUploadOutcome::Deleted | DeleteUploadOutcome::NotFound => Ok(back(&view, "deleted")),
        DeleteUploadOutcome::InUse => {
            let fault = "A run of this file is not finished: cancel it first. After that its rows in flight take a few seconds.";
            let view = find(&visit).await?;
            page(&visit, &view, fault, StatusCode::CONFLICT).await
        }
    }
}

/// Changes a run with the limits of the form.
async fn with_limits(visit: &Visit, change_: FileRunChange) -> Result<PageReply, PageError> {
    let view = find(visit).await?;
    let Some(limits) = read_limits(&visit.sent.form) else {
        return page(visit, &view, NO_LIMIT, StatusCode::UNPROCESSABLE_ENTITY).await;
    };
    change(visit, &view, change_, Some(limits), "").await
}

async fn change(
    visit: &Visit,
    view: &RunView,
    change: FileRunChange,
    limits: Option<FileRunLimits>,
    done: &str,
) -> Result<PageReply, PageError> {
    let (actor, runs) = (visit.actor(), visit.refract.runs());
    let changing = runs.change_file_run(&actor, view.run.id, change, limits);
    outcome(visit, view, changing.await?, done).await
}

/// The reply to a change: the page of the run, with the reason if nothing was changed.
async fn outcome(
    visit: &Visit,
    view: &RunView,
    outcome: ChangeRunOutcome,
    done: &str,
) -> Result<PageReply, PageError> {
    let fault = match outcome {
        ChangeRunOutcome::Changed(_) => return Ok(back(view, done)),
        ChangeRunOutcome::NotFound | ChangeRunOutcome::VersionNotFound => {
            return Err(PageError::NotFound);
        }
        ChangeRunOutcome::NotPossible(_) => {
            "The run was changed meanwhile, so nothing was done. This is how it is now."
        }
        ChangeRunOutcome::FileDeleted => "The file is deleted. Upload it again to run it.",
        ChangeRunOutcome::PrismArchived => "The prism is archived: restore it, then retry.",
    };
    let view = find(visit).await?;
    page(visit, &view, fault, StatusCode::CONFLICT).await
}

fn back(view: &RunView, done: &str) -> PageReply {
    let address = run_address(view.run.id);
    let query = if done.is_empty() {
        String::new()
    } else {
        format!("?done={done}")
    };
    PageReply::see_other(&format!("{address}{query}"))
}

/// Sends the rows that have a result, and the refused ones if these are asked for.
pub(crate) async fn download(visit: Visit) -> Result<PageReply, PageError> {
    let view = find(&visit).await?;
    let query = &visit.sent.query;
    let keep_columns = query.get("columns") == Some("keep");
    let slug = &view.lens.prism.slug;
    let (actor, runs) = (visit.actor(), visit.refract.runs());
    let format = output_format(query)?;
    let layout = RowLayout {
        format,
        keep_columns,
        style: table_style(query),
    };
    let run = open_file(&visit, &view.run).await?;
    runs.save_download(&actor, &view.run, format.name()).await?;
    let rows = match query.get("refused") {
        Some("with") => run.held_rows(layout).with_refused(),
        _ => run.held_rows(layout),
    };
    let chunks = chunks(rows, async |rows| rows.next_chunk().await);
    let name = format!("{slug}-run.{}", format.name());
    Ok(PageReply::streamed_file(
        &name,
        output_media_type(format),
        chunks,
    ))
}

/// Sends the rows that a limit refuses, with the reasons.
pub(crate) async fn download_refused(visit: Visit) -> Result<PageReply, PageError> {
    let view = find(&visit).await?;
    let run = open_file(&visit, &view.run).await?;
    let name = format!("{}-refused.csv", view.lens.prism.slug);
    let list = run.refused_list();
    let chunks = chunks(list, async |list| list.next_chunk().await);
    Ok(PageReply::streamed_file(
        &name,
        "text/csv; charset=utf-8",
        chunks,
    ))
}

/// The chunks of a file while it is written. After an error the client gets a broken file instead
/// of one that looks whole.
fn chunks<T, F>(rows: T, next: F) -> impl Stream<Item = Result<Bytes, HeldOutputError>> + 'static
where
    T: 'static,
    F: AsyncFn(&mut T) -> Result<Option<Vec<u8>>, HeldOutputError> + Clone + 'static,
{
    stream::try_unfold(rows, move |mut rows| {
        let next = next.clone();
        async move {
            let chunk = next(&mut rows).await?;
            Ok(chunk.map(|chunk| (Bytes::from(chunk), rows)))
        }
    })
}
