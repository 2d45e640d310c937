//! The changes of a run that people make.

use actix_web::http::StatusCode;
use refract_domain::result::file_run::{FileRunChange, FileRunLimits};
use refract_service::runs::{ChangeRunOutcome, DeleteUploadOutcome, NewStoredRun};

use super::columns::mappings;
use super::page;
use super::run_view::{RunView, find};
use super::start::{NO_LIMIT, read_limits};
use crate::components::file_run::run_address;
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::{Visit, version_number};

/// Matches the columns, and lets a node read the file.
pub(crate) async fn check(visit: Visit) -> Result<PageReply, PageError> {
    let view = find(&visit).await?;
    let (actor, runs) = (visit.actor(), visit.refract.runs());
    let columns = mappings(&visit.sent.form);
    let matched = runs
        .match_columns(&actor, view.run.id, columns, None)
        .await?;
    if let ChangeRunOutcome::Changed(_) = matched {
        return change(&visit, &view, FileRunChange::Check, None, "").await;
    }
    outcome(&visit, &view, matched, "").await
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
