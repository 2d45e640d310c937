//! `/prisms/{slug}/runs`: files whose rows a prism was asked about, and a form for another one. An
//! uploaded file is stored and becomes a run, whose columns are then matched.

use actix_web::http::StatusCode;
use maud::{Markup, html};
use refract_domain::account::Role;
use refract_domain::ids::{FileRunId, UploadId};
use refract_file_runs::{ColumnMapping, InputKind, InputOutline, SheetChoice};
use refract_service::prisms::Prism;
use refract_service::runs::{
    CreateRunError, FileName, NewStoredRun, RunPage, StoredMapping, StoredRun, UploadError,
};
use sha2::{Digest as _, Sha256};

use crate::components::{
    FormField, NoticeKind, OLDER, PrismTab, count, describe, empty_state, moment, neighbours,
    notice, page_address, prism_address, run_address, sentence, stacked_table, state_tag,
};
use crate::pages::uploaded_file::{column_mapping, read_outline, unreadable};
use crate::replies::{Page, PageError, PageReply};
use crate::requests::{ArrivingFile, ArrivingForm, Query, Visit, form_id, id_of_made};

/// Runs on a page of the list.
const RUNS_ON_A_PAGE: u32 = 50;
/// The formats of files that a run reads, their endings, and whether this build reads them.
const FORMATS: [(&str, &str, bool); 5] = [
    ("CSV", ".csv,.txt", true),
    ("TSV", ".tsv,.tab", true),
    ("JSON Lines", ".jsonl,.ndjson,.json", true),
    ("XLSX", ".xlsx", InputKind::READS_WORKBOOKS),
    ("Parquet", ".parquet", InputKind::READS_PARQUET),
];

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let prism = visit.find_prism().await?;
    Ok(page(&visit, &prism, "").await?.reply())
}

/// The page; `file_error` says why a file was not taken.
async fn page<'a>(
    visit: &'a Visit,
    prism: &Prism,
    file_error: &str,
) -> Result<Page<'a>, PageError> {
    let older_than = match visit.sent.query.get(OLDER) {
        Some(id) => Some(FileRunId::parse(id).ok_or(PageError::NotFound)?),
        None => None,
    };
    let runs = visit.refract.runs();
    let page = RunPage {
        before: older_than,
        limit: RUNS_ON_A_PAGE,
    };
    let listed = runs.list_file_runs(visit.account(), Some(prism.id), page);
    let listed = listed.await?;
    let is_full = u32::try_from(listed.len()).is_ok_and(|runs| runs >= RUNS_ON_A_PAGE);
    let address = format!("{}/runs", prism_address(prism));
    let older = listed.last().filter(|_| is_full);
    let older = page_address(&address, &Query::default(), OLDER, older.map(|run| run.id));
    let newest = older_than.map(|_| address.clone());
    let main = html! {
        @if let Some(notice) = visit.done(done) { (notice) }
        @if prism.archived_at.is_some() {
            (notice(NoticeKind::Warning, &html! { "This prism is archived, so it answers no file." }))
        } @else if visit.visitor.role.may(Role::Editor) {
            (form(visit, &address, file_error))
        }
        @if listed.is_empty() {
            (empty_state("No file was run here yet. Each row of a file becomes a result like all others.", &html! {
                @if !visit.visitor.role.may(Role::Editor) { p.soft { "Ask an editor or an owner to upload one." } }
            }))
        } @else {
            (rows(&listed))
        }
        (neighbours("Pages of runs", newest, older))
    };
    let title = format!("Runs · {}", prism.name);
    Ok(visit.prism_page(prism, PrismTab::Runs, title, &main))
}

fn done(what: &str) -> Option<&'static str> {
    let words = "The file is deleted. The results of its rows stay.";
    (what == "deleted").then_some(words)
}

fn form(visit: &Visit, address: &str, error: &str) -> Markup {
    let read = || FORMATS.iter().filter(|(_, _, is_built)| *is_built);
    let names: Vec<_> = read().map(|(name, ..)| *name).collect();
    let endings: Vec<_> = read().map(|(_, endings, _)| *endings).collect();
    let hint = format!(
        "A table with a row for each text ({}), up to {} MiB. Nothing is asked before you say so.",
        names.join(", "),
        visit.site.upload_mib()
    );
    let field = FormField::new("file", "Upload a file")
        .hint(&hint)
        .error(error);
    let input = html! {
        input #file name="file" type="file" accept=(endings.join(",")) required
            aria-describedby="file-hint" aria-invalid=[(!error.is_empty()).then_some("true")];
    };
    html! {
        form.narrow method="post" action=(address) enctype="multipart/form-data" {
            (form_id())
            (field.around(&input))
            button.main type="submit" { "Upload" }
        }
    }
}

fn rows(runs: &[StoredRun]) -> Markup {
    let headings = [
        "File", "State", "Rows", "Answered", "Failed", "Version", "By", "When",
    ];
    let rows = html! { @for run in runs { (row(run)) } };
    stacked_table("File runs", &headings, &rows)
}

fn row(run: &StoredRun) -> Markup {
    let progress = &run.progress;
    html! {
        tr {
            th scope="row" { a href=(run_address(run.id)) { bdi { (run.file_name) } } }
            td data-label="State" { (state_tag(run.state, run.upload.is_some())) }
            td.number data-label="Rows" { (count(progress.rows)) }
            td.number data-label="Answered" { (count(progress.answered + progress.answered_before)) }
            td.number data-label="Failed" { (count(progress.failed)) }
            td.number data-label="Version" { (run.version) }
            td data-label="By" { @match &run.by { Some(name) => bdi { (name) }, None => span.soft { "terminal" } } }
            td data-label="When" { (moment(run.made_at)) }
        }
    }
}

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
    let id = id_of_run(visit, &file.form_id, upload).await?;
    let outline = match read_outline(visit, upload, &file_name, SheetChoice::default()).await? {
        Ok(outline) => outline,
        Err(error) => {
            // a file that cannot be read is not kept
            runs.delete_upload(&actor, upload).await?;
            return Err(NoRun::Refused(unreadable(&error)));
        }
    };
    let mappings = suggested(visit, prism, &outline).await?;
    let new = NewStoredRun {
        id,
        prism: prism.id,
        version: None,
        upload,
        mappings,
    };
    let run = runs.create_file_run(&actor, new).await?;
    if run.upload != Some(upload) {
        // the same form made this run of an equal file before
        runs.delete_upload(&actor, upload).await?;
    }
    Ok(run_address(run.id))
}

/// The id of the run that a form makes of its file.
async fn id_of_run(visit: &Visit, form_id: &str, upload: UploadId) -> Result<FileRunId, NoRun> {
    let runs = visit.refract.runs();
    let stored = runs.find_upload(visit.account(), upload).await?;
    let stored = stored.ok_or(CreateRunError::UploadNotFound)?;
    let content = Sha256::new().chain_update(stored.sha256);
    let content = content.chain_update(stored.file_name);
    Ok(FileRunId::new(id_of_made(form_id, content)))
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

/// The columns of a file that the prism's latest version would read.
pub(super) async fn suggested(
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
