//! Reads uploaded files: their outline, and their rows with the results.

use std::path::PathBuf;
use std::sync::Arc;

use refract_domain::ids::UploadId;
use refract_file_runs::{
    ColumnMapping, FileRun, InputError, InputOutline, InputSource, KeptOutline, OpenRunError,
    RunOrder, Shard, SheetChoice, StoredInput, outline,
};
use refract_service::CallError;
use refract_service::runs::{StoredMapping, StoredRun};

use crate::replies::PageError;
use crate::requests::{Visit, off_event_loop};

/// Rows of a JSON Lines file whose keys are looked at.
const HEADER_ROWS: usize = 20;

/// An uploaded file as the reader of files takes it.
fn stored_input(visit: &Visit, upload: UploadId, file_name: &str) -> StoredInput {
    StoredInput {
        name: PathBuf::from(file_name),
        content: Arc::new(visit.refract.runs().upload_reader(upload)),
        workbooks: Some(visit.site.workbooks.clone()),
    }
}

/// Reads the format, the header and the first rows of an uploaded file, and keeps them for its pages;
/// of a workbook, those of this choice.
pub(crate) async fn read_outline(
    visit: &Visit,
    upload: UploadId,
    file_name: &str,
    choice: SheetChoice,
) -> Result<Result<InputOutline, InputError>, PageError> {
    let input = stored_input(visit, upload, file_name);
    // reading waits for the database, so it has a thread of its own
    let reading = off_event_loop(move || {
        let source = InputSource::Stored(input).with_choice(choice);
        outline(source, HEADER_ROWS)
    });
    let read = reading.await?;
    if let Ok(outline) = &read {
        let kept = KeptOutline::of(outline.clone()).to_text();
        visit.refract.runs().keep_outline(upload, kept).await?;
    }
    Ok(read)
}

/// The outline of an uploaded file. The file is read only if its outline was not kept when it was
/// uploaded.
pub(crate) async fn outline_of(
    visit: &Visit,
    upload: UploadId,
    file_name: &str,
) -> Result<Result<KeptOutline, InputError>, PageError> {
    let kept = visit.refract.runs().find_outline(upload).await?;
    if let Some(kept) = kept.as_deref().and_then(KeptOutline::parse) {
        return Ok(Ok(kept));
    }
    let read = read_outline(visit, upload, file_name, SheetChoice::default()).await?;
    Ok(read.map(KeptOutline::of))
}

/// Opens the file of a run to read its rows.
pub(crate) async fn open_file(visit: &Visit, run: &StoredRun) -> Result<Arc<FileRun>, PageError> {
    let upload = run.upload.ok_or(PageError::NotFound)?;
    let prism = visit.refract.runs().pin_to_read(run).await;
    let prism = prism.map_err(|error| match error {
        CallError::Internal(error) => PageError::Internal(error),
        CallError::InvalidApiKey
        | CallError::PrismNotFound
        | CallError::VersionNotFound
        | CallError::ResultNotFound
        | CallError::HeldByAnotherPrism(_)
        | CallError::Retry(_)
        | CallError::Fields(_)
        | CallError::OverBudget(_) => PageError::NotChanged(error.to_string()),
    })?;
    let input = stored_input(visit, upload, &run.file_name);
    let outline = visit.refract.runs().find_outline(upload).await?;
    let outline = outline.as_deref().and_then(KeptOutline::parse);
    let mappings: Vec<_> = run.mappings.iter().cloned().map(column_mapping).collect();
    let opening = off_event_loop(move || {
        let order = RunOrder {
            input: InputSource::Stored(input).with_choice(
                outline
                    .as_ref()
                    .map(KeptOutline::choice)
                    .unwrap_or_default(),
            ),
            mappings: &mappings,
            shard: Shard::WHOLE,
            name: String::new(),
        };
        FileRun::open(prism, order)
    });
    let opened = opening.await?;
    opened.map(Arc::new).map_err(|error| match error {
        OpenRunError::Input(error) => PageError::NotChanged(error.to_string()),
        OpenRunError::Mapping(error) => PageError::NotChanged(error.to_string()),
    })
}

/// A stored mapping as the reader of files takes it.
pub(crate) fn column_mapping(stored: StoredMapping) -> ColumnMapping {
    let StoredMapping { column, field } = stored;
    ColumnMapping { column, field }
}

/// Why a file cannot be read, as a sentence.
pub(crate) fn unreadable(error: &InputError) -> String {
    // what is no table, such as a letter, has lines with other numbers of commas
    let advice = if matches!(error, InputError::WrongCells { .. }) {
        " Is it a table? Its first line names the columns, and each further line has a cell for each."
    } else {
        ""
    };
    format!("The file cannot be used: {error}.{advice}")
}
