//! The rows of a run, written again from the results that its rows have now, in any format.
//!
//! A download of an unfinished or finished run has the bytes that the run itself writes, and asks
//! the model nothing. A chunk of rows is in memory at a time.

use refract_boxed_futures::boxed;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use refract_domain::submission::IdempotencyKey;
use refract_lens_rendering::{RefusedRowView, RowFormat};
use refract_service::CallError;
use refract_service::results::ReadableResult;

use crate::check::{ListedRow, RefusedRows};
use crate::file_run::FileRun;
use crate::input::{InputError, KeptCells};
use crate::output::laid_out_rows::{LaidOutRows, TypedRows};
use crate::output::{OutputFormat, RowLayout, kept_cells};
use crate::run::{FilePart, RowChunk, RowChunks, cause};

/// The rows of a run that have a result, `ok` or `failed`, in the order of the file; also the refused
/// ones if these are wanted.
pub struct HeldOutput {
    run: Arc<FileRun>,
    layout: RowLayout,
    has_refused: bool,
    places: RefusedPlaces,
    state: HeldState,
}

/// How far the output is written.
enum HeldState {
    Begin,
    /// Rows of text, beside these columns of the file.
    Text(RowFormat, Option<Arc<[String]>>, RowChunks),
    /// Rows of cells with types, whose file is valid only with its last chunk.
    Typed(TypedRows, RowChunks),
    End,
}

/// The refused rows of a run in the order of the file, as CSV: `line`, `reason`, then the row's
/// cells.
pub struct RefusedList {
    run: Arc<FileRun>,
    reading: Option<(Arc<[String]>, RowChunks)>,
}

/// Why rows cannot be written again.
#[derive(Debug, thiserror::Error)]
pub enum HeldOutputError {
    /// The file cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The lookup of the results failed.
    #[error("{refusal}{}", cause(.refusal))]
    Lookup {
        /// The reason.
        refusal: CallError,
    },
    /// A chunk cannot be written into memory.
    #[error("the rows cannot be written: {0}")]
    Write(#[from] io::Error),
    /// The thread that read the file has ended, which is a bug.
    #[error("the reading of the file broke off")]
    Lost,
}

impl FileRun {
    /// Writes the rows that have a result now: chunks of an output with the bytes that
    /// [`run`](Self::run) writes in this layout. Reads nothing yet.
    pub fn held_rows(self: &Arc<Self>, layout: RowLayout) -> HeldOutput {
        HeldOutput {
            run: Arc::clone(self),
            layout,
            has_refused: false,
            places: RefusedPlaces::default(),
            state: HeldState::Begin,
        }
    }

    /// Lists the rows that a limit refuses: chunks of the list that [`run`](Self::run) writes. Reads
    /// nothing yet.
    pub fn refused_list(self: &Arc<Self>) -> RefusedList {
        RefusedList {
            run: Arc::clone(self),
            reading: None,
        }
    }
}

/// The names of all columns of the file, as its check finds them; none if they are not needed. The
/// keys of JSON Lines are known only at the end of the file.
async fn file_columns(
    run: &Arc<FileRun>,
    are_needed: bool,
) -> Result<Arc<[String]>, HeldOutputError> {
    if !are_needed {
        return Ok(Arc::new([]));
    }
    let run = Arc::clone(run);
    let reading = tokio::task::spawn_blocking(move || {
        let mut rows = run.input.rows(run.columns.wanted())?;
        if rows.has_columns().is_none() {
            while rows.next()?.is_some() {}
        }
        Ok::<_, InputError>(rows.columns().into())
    });
    Ok(reading.await.map_err(|_| HeldOutputError::Lost)??)
}

/// The results that the rows of a chunk have now.
async fn results_of(
    run: &FileRun,
    chunk: &RowChunk,
) -> Result<HashMap<IdempotencyKey, ReadableResult>, HeldOutputError> {
    let found = run.prism.find_results_of_rows(&chunk.keys).await;
    found.map_err(|refusal| HeldOutputError::Lookup { refusal })
}

impl HeldOutput {
    /// Writes the refused rows too, where they stand in the file.
    #[must_use]
    pub fn with_refused(self) -> Self {
        Self {
            has_refused: true,
            ..self
        }
    }
}

#[boxed]
impl HeldOutput {
    /// The next chunk; `None` after the last. The first one is the header, which is empty in some
    /// formats. Chunks may be empty.
    ///
    /// # Errors
    /// When the file cannot be read, the database fails, or there are more rows than the format
    /// holds. Chunks of text before stay valid.
    pub async fn next_chunk(&mut self) -> Result<Option<Vec<u8>>, HeldOutputError> {
        match std::mem::replace(&mut self.state, HeldState::End) {
            HeldState::End => Ok(None),
            HeldState::Begin => self.begin().await.map(Some),
            HeldState::Text(format, own, mut chunks) => {
                let Some(chunk) = chunks.next().await? else {
                    return Ok(None);
                };
                let found = results_of(&self.run, &chunk).await?;
                let mut out = Vec::new();
                let columns = self.run.prism.columns();
                let layout = self.layout;
                let mut rows = layout.text_writer(format, columns, own.as_deref(), &mut out);
                for (cells, content) in held(chunk, found, self.has_refused) {
                    match content {
                        Ok(result) => rows.write_row_beside(&cells, &result.view())?,
                        Err(reason) => {
                            let fields = self.places.fields(&cells);
                            let row = self.refused_row(&reason, &cells, &fields);
                            rows.write_refused_row(&cells, &row)?;
                        }
                    }
                }
                self.state = HeldState::Text(format, own, chunks);
                Ok(Some(out))
            }
            HeldState::Typed(mut rows, mut chunks) => {
                let Some(chunk) = chunks.next().await? else {
                    return Ok(Some(rows.finish()?));
                };
                let found = results_of(&self.run, &chunk).await?;
                let mut out = Vec::new();
                for (cells, content) in held(chunk, found, self.has_refused) {
                    out.extend(match content {
                        Ok(result) => rows.write(&cells, &result.view(), [])?,
                        Err(reason) => {
                            let fields = self.places.fields(&cells);
                            let row = self.refused_row(&reason, &cells, &fields);
                            rows.write_refused(&cells, &row)?
                        }
                    });
                }
                self.state = HeldState::Typed(rows, chunks);
                Ok(Some(out))
            }
        }
    }

    async fn begin(&mut self) -> Result<Vec<u8>, HeldOutputError> {
        let are_needed = self.layout.keep_columns || self.has_refused;
        let columns = file_columns(&self.run, are_needed).await?;
        self.places = RefusedPlaces::of(&self.run, &columns);
        let answers = self.run.prism.columns();
        let own = self.layout.own_columns(&columns, answers);
        let kept = kept_cells(self.layout.keep_columns, self.has_refused, &columns);
        let chunks = RowChunks::read(&self.run, FilePart::WHOLE, None, kept);
        let mut out = Vec::new();
        let mut rows = self.layout.writer(answers, own.as_deref(), &mut out)?;
        rows.write_header()?;
        self.state = match (rows, self.layout.format) {
            (LaidOutRows::Typed(rows, _), _) => HeldState::Typed(rows, chunks),
            (LaidOutRows::Text(_), OutputFormat::Rows(format)) => {
                HeldState::Text(format, own, chunks)
            }
            (LaidOutRows::Text(_), OutputFormat::Parquet | OutputFormat::Workbook) => {
                HeldState::End
            }
        };
        Ok(out)
    }

    fn refused_row<'r>(
        &self,
        reason: &'r str,
        cells: &'r [String],
        fields: &'r [(&'r str, &'r str)],
    ) -> RefusedRowView<'r> {
        let reference = self.places.reference.and_then(|place| cells.get(place));
        RefusedRowView {
            reference: reference
                .map(String::as_str)
                .filter(|text| !text.is_empty()),
            version: self.run.version_number(),
            reason,
            fields,
        }
    }
}

/// Where the cells of a refused row stand among the columns of the file.
#[derive(Default)]
struct RefusedPlaces {
    /// The key and the place of each field that the file has.
    fields: Vec<(String, usize)>,
    reference: Option<usize>,
}

impl RefusedPlaces {
    fn of(run: &FileRun, columns: &[String]) -> Self {
        // the first ones are those of the fields, then `ref`
        let mut wanted = run.columns.wanted().0.iter();
        let mut place = || {
            let name = &wanted.next()?.name;
            columns.iter().position(|column| column == name)
        };
        let keys = run.version().fields().iter();
        let fields = keys.map(|field| Some((field.key.as_str().to_owned(), place()?)));
        Self {
            fields: fields.collect::<Vec<_>>().into_iter().flatten().collect(),
            reference: place(),
        }
    }

    fn fields<'r>(&'r self, cells: &'r [String]) -> Vec<(&'r str, &'r str)> {
        let cell = |place: usize| cells.get(place).map_or("", String::as_str);
        let fields = self.fields.iter();
        fields
            .map(|(key, place)| (key.as_str(), cell(*place)))
            .collect()
    }
}

/// The rows of a chunk that have a result, with their kept cells; also the refused ones, with the
/// reasons, if these are wanted.
fn held(
    chunk: RowChunk,
    mut found: HashMap<IdempotencyKey, ReadableResult>,
    has_refused: bool,
) -> impl Iterator<Item = (Vec<String>, Result<ReadableResult, String>)> {
    // the chunk has a key for each accepted row
    let mut keys = chunk.keys.into_iter();
    chunk.rows.into_iter().filter_map(move |row| {
        let content = match row.content {
            Ok(_) => Ok(found.remove(&keys.next()?)?),
            Err(reason) if has_refused => Err(reason),
            Err(_) => return None,
        };
        Some((row.cells, content))
    })
}

#[boxed]
impl RefusedList {
    /// The next chunk; `None` after the last. Chunks may be empty.
    ///
    /// # Errors
    /// When the file cannot be read. Chunks before stay valid.
    pub async fn next_chunk(&mut self) -> Result<Option<Vec<u8>>, HeldOutputError> {
        let mut out = Vec::new();
        let Some((columns, chunks)) = &mut self.reading else {
            let columns = file_columns(&self.run, true).await?;
            RefusedRows::new(Some(&mut out), &columns).write_header()?;
            let kept = KeptCells::OfRefused(Arc::clone(&columns));
            let chunks = RowChunks::read(&self.run, FilePart::WHOLE, None, kept);
            self.reading = Some((columns, chunks));
            return Ok(Some(out));
        };
        let Some(chunk) = chunks.next().await? else {
            return Ok(None);
        };
        let mut list = RefusedRows::new(Some(&mut out), columns);
        for row in chunk.rows {
            if let Err(reason) = row.content {
                list.write(&ListedRow {
                    line: row.line,
                    reason,
                    cells: row.cells,
                })?;
            }
        }
        Ok(Some(out))
    }
}
