//! Writes the rows of a run in the order of the file, and counts what is in them.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use refract_domain::prism::PrismVersion;
use refract_domain::reference::Ref;
use refract_domain::result::SavedResult;
use refract_domain::view::{ResultView, RowColumns};
use refract_lens_rendering::{RowFormat, RowWriter};
use tokio::sync::mpsc;

use super::dispatch::{Pending, State};
use super::distribution::Counting;
use super::run::Summary;
use super::stop::{Halt, Stop};
use super::{FileRun, Tally};
use crate::Refusal;
use crate::refusal::InternalError;

/// What has been written.
struct Output<'a, W> {
    rows: RowWriter<'a, W>,
    counting: Counting<'a>,
    failures: HashMap<String, u64>,
    written: u64,
    /// No more is written after a row that is missing.
    is_whole: bool,
}

impl FileRun {
    /// Waits for row after row and writes it, until there are no more. After a reason to stop it
    /// still waits for all, and writes up to the first row that is missing.
    pub(crate) async fn write(
        &self,
        format: RowFormat,
        out: &mut impl Write,
        mut pending: mpsc::Receiver<Pending>,
        tally: &Tally,
        halt: &Halt,
    ) -> Summary {
        let columns = RowColumns {
            fields: self.latest.fields(),
            lens: self.latest.columns(&self.lens),
        };
        let mut output = Output {
            rows: RowWriter::new(format, columns, out),
            counting: Counting::over(columns.lens),
            failures: HashMap::new(),
            written: 0,
            is_whole: true,
        };
        if let Err(error) = output.rows.write_header() {
            output.is_whole = false;
            halt.stop(Stop::Output { line: 1, error });
        }
        while let Some(row) = pending.recv().await {
            let line = row.line;
            let ended = match row.state {
                State::Refused => {
                    tally.row_refused();
                    continue;
                }
                State::Answered(result) => {
                    tally.row_was_answered();
                    Ok(*result)
                }
                State::Asked(answer) => {
                    let answer = answer.await.map_err(|_| Stop::Lost { line });
                    answer.and_then(|asked| asked.map_err(|refusal| Stop::Row { line, refusal }))
                }
            };
            let written = match ended {
                Ok(result) if output.is_whole => self.write_row(&mut output, &result, line).await,
                Ok(_) => Ok(()),
                Err(stop) => Err(stop),
            };
            if let Err(stop) = written {
                output.is_whole = false;
                halt.stop(stop);
            }
        }
        output.end()
    }

    async fn write_row<W: Write>(
        &self,
        output: &mut Output<'_, W>,
        result: &SavedResult,
        line: u64,
    ) -> Result<(), Stop> {
        let version = self.version_of(result).await;
        let version = version.map_err(|error| Stop::Row {
            line,
            refusal: Refusal::Internal(error),
        })?;
        let view = ResultView {
            id: result.id,
            reference: result.reference.as_ref().map(Ref::as_str),
            prism: self.prism.slug.as_str(),
            version: result.version,
            questions: version.questions(),
            status: &result.status,
            took_ms: result.took_ms,
            created_at: result.created_at,
            fields: result.submission.field_values(),
        };
        output
            .write(&view)
            .map_err(|error| Stop::Output { line, error })
    }

    /// The version that answered: the run's, unless a key was used before by somebody else.
    async fn version_of(&self, result: &SavedResult) -> Result<Arc<PrismVersion>, InternalError> {
        if result.version == self.number {
            return Ok(Arc::clone(&self.version));
        }
        let found = self.database.find_version(result.prism, result.version);
        found.await?.ok_or(InternalError::VersionMissing)
    }
}

impl<W: Write> Output<'_, W> {
    fn write(&mut self, result: &ResultView<'_>) -> io::Result<()> {
        self.rows.write_row(result)?;
        self.written += 1;
        match result.status.error() {
            None => self.counting.add(result),
            Some(error) => match self.failures.get_mut(error) {
                Some(count) => *count += 1,
                None => {
                    self.failures.insert(error.to_owned(), 1);
                }
            },
        }
        Ok(())
    }

    fn end(self) -> Summary {
        let mut failures: Vec<_> = self.failures.into_iter().collect();
        failures
            .sort_by(|(words, count), (other, others)| others.cmp(count).then(words.cmp(other)));
        Summary {
            stop: None,
            written: self.written,
            failures,
            distributions: self.counting.end(),
        }
    }
}
