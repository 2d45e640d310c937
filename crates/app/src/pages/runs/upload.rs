//! Stores an uploaded file and makes a run of it, whose columns are then matched.

use actix_web::http::StatusCode;
use refract_domain::ids::UploadId;
use refract_file_runs::{ColumnMapping, InputOutline};
use refract_service::prisms::Prism;
use refract_service::runs::{CreateRunError, FileName, NewStoredRun, StoredMapping, UploadError};

use super::page;
use crate::components::fault_sentence::sentence;
use crate::components::file_run::run_address;
use crate::components::form_errors::describe;
use crate::pages::uploaded_file::{column_mapping, read_outline, unreadable};
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::arriving_file::{ArrivingFile, ArrivingForm};
use crate::requests::visit::Visit;

/// Why an uploaded file becomes no run.
enum NoRun {
    /// For a reason that the person can mend.
    Refused(String),
    /// Since it is larger than the limit.
    TooLarge,
    /// For any other reason.
    Failed(PageError),
}

/// Stores the file of the form, and makes a run of it.
pub(crate) async fn upload(visit: Visit, mut form: ArrivingForm) -> Result<PageReply, PageError> {
    let prism = visit.find_prism().await?;
    match run_of(&visit, &prism, &mut form).await {
        Ok(address) => Ok(PageReply::see_other(&address)),
        Err(NoRun::Failed(error)) => Err(error),
        Err(NoRun::TooLarge) => Err(PageError::UploadTooLarge(visit.site.upload_mib())),
        Err(NoRun::Refused(reason)) => {
            let page = page(&visit, &prism, &reason).await?;
            Ok(page.status(StatusCode::UNPROCESSABLE_ENTITY).reply())
        }
    }
}

/// Stores the file and makes its run; returns the address of the run's page.
async fn run_of(visit: &Visit, prism: &Prism, form: &mut ArrivingForm) -> Result<String, NoRun> {
    let (actor, runs) = (visit.actor(), visit.refract.runs());
    let Some(mut file) = form.file().await.map_err(NoRun::Failed)? else {
        return Err(NoRun::Refused("Choose a file.".to_owned()));
    };
    let name = FileName::parse(&file.name);
    let name = name.map_err(|errors| NoRun::Refused(describe(&file.name, &errors)))?;
    let file_name = name.as_str().to_owned();
    let upload = store(visit, name, &mut file).await?;
    let outline = match read_outline(visit, upload, &file_name).await? {
        Ok(outline) => outline,
        Err(error) => {
            // a file that cannot be read is not kept
            runs.delete_upload(&actor, upload).await?;
            return Err(NoRun::Refused(unreadable(&error)));
        }
    };
    let mappings = suggested(visit, prism, &outline).await?;
    let new = NewStoredRun {
        prism: prism.id,
        version: None,
        upload,
        mappings,
    };
    let run = runs.create_file_run(&actor, new).await?;
    Ok(run_address(run.id))
}

/// Stores the file while it arrives.
async fn store(
    visit: &Visit,
    name: FileName,
    file: &mut ArrivingFile<'_>,
) -> Result<UploadId, NoRun> {
    let (actor, runs) = (visit.actor(), visit.refract.runs());
    let beginning = runs.begin_upload(&actor, name, visit.site.upload_bytes);
    let mut upload = beginning.await?;
    loop {
        let written = match file.next().await {
            Ok(Some(bytes)) => upload.write(&bytes).await.map_err(NoRun::from),
            Ok(None) => return Ok(upload.finish().await?),
            Err(error) => Err(NoRun::Failed(error)),
        };
        if let Err(error) = written {
            // what cannot be deleted now is deleted after a day
            let _ = upload.discard().await;
            return Err(error);
        }
    }
}

async fn suggested(
    visit: &Visit,
    prism: &Prism,
    outline: &InputOutline,
) -> Result<Vec<StoredMapping>, PageError> {
    let prisms = visit.refract.prisms();
    let version = prisms.find_version(prism, prism.latest_version).await?;
    let remembered = visit
        .refract
        .runs()
        .last_mappings(visit.account(), prism.id);
    let remembered: Vec<_> = remembered.await?.into_iter().map(column_mapping).collect();
    let columns = refract_file_runs::suggest_columns(&version, &outline.header, &remembered);
    Ok(columns.into_iter().map(stored_mapping).collect())
}

/// A mapping as it is stored.
fn stored_mapping(mapping: ColumnMapping) -> StoredMapping {
    let ColumnMapping { column, field } = mapping;
    StoredMapping { column, field }
}

impl From<PageError> for NoRun {
    fn from(error: PageError) -> Self {
        Self::Failed(error)
    }
}

impl From<refract_service::InternalError> for NoRun {
    fn from(error: refract_service::InternalError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<UploadError> for NoRun {
    fn from(error: UploadError) -> Self {
        match error {
            UploadError::Internal(error) => error.into(),
            UploadError::TooLarge { .. } => Self::TooLarge,
            refused @ (UploadError::Empty | UploadError::Expired) => {
                Self::Refused(sentence(&refused.to_string()))
            }
        }
    }
}

impl From<CreateRunError> for NoRun {
    fn from(error: CreateRunError) -> Self {
        match error {
            CreateRunError::Internal(error) => error.into(),
            refused @ (CreateRunError::UploadNotFound
            | CreateRunError::PrismNotFound
            | CreateRunError::VersionNotFound) => Self::Refused(sentence(&refused.to_string())),
        }
    }
}
