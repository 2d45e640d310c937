//! Exports marks as the rows of a file that can be imported again.

use std::io::{self, Write};

use refract_domain::event::EventAction;
use refract_domain::ids::PrismId;
use refract_domain::key::QuestionKey;
use refract_domain::submission::reference::Ref;
use refract_lens_rendering::{MarkRowWriter, RowFormat};
use refract_persistence::{MarkedPages, ResultFilter};

use crate::InternalError;
use crate::events::export_event;
use crate::marks::Marks;
use crate::people::accounts::AccountActor;
use crate::results::export::ExportError;

impl Marks<'_> {
    /// Writes every marked result of a prism as a row under one header, in the order of the
    /// results' ids, and returns the number of rows. There is a column for each question of any
    /// version. One page of results is in memory at a time. An event of the export is saved before
    /// the first byte is written.
    ///
    /// # Errors
    /// When the event cannot be saved, the marks cannot be read or `out` cannot be written to. Rows
    /// already written stay written.
    pub async fn export(
        self,
        actor: &AccountActor,
        prism: PrismId,
        format: RowFormat,
        out: impl Write,
    ) -> Result<u64, ExportError> {
        let pages = self.begin_export(actor, prism, format.name());
        let mut pages = pages.await?;
        let questions = self.questions(prism).await?;
        let mut rows = MarkRowWriter::new(format, &questions, out);
        rows.write_header()?;
        let mut written = 0;
        while let Some(page) = pages.next().await.map_err(InternalError::from)? {
            for result in page {
                let reference = result.reference.as_ref().map(Ref::as_str);
                rows.write_row(result.id, reference, |question| {
                    let marks = result.marks.iter();
                    let mut of_question = marks.filter(|mark| mark.question == *question);
                    of_question.next().map(|mark| &mark.outcome)
                })?;
                written += 1;
            }
        }
        rows.finish()?;
        Ok(written)
    }

    /// Passes the texts of the cells of every marked result to `write`, for a format of the caller's
    /// own: the result's id, its `ref`, and the key of the marked outcome of each of these questions.
    /// Returns the number of results. An event of the export is saved first.
    ///
    /// # Errors
    /// When the event cannot be saved, the marks cannot be read or `write` fails.
    pub async fn export_each(
        self,
        actor: &AccountActor,
        prism: PrismId,
        questions: &[QuestionKey],
        format: &'static str,
        mut write: impl FnMut(&[&str]) -> io::Result<()>,
    ) -> Result<u64, ExportError> {
        let mut pages = self.begin_export(actor, prism, format).await?;
        let mut written = 0;
        while let Some(page) = pages.next().await.map_err(InternalError::from)? {
            for result in page {
                let id = result.id.to_string();
                let mut cells = vec![
                    id.as_str(),
                    result.reference.as_ref().map_or("", Ref::as_str),
                ];
                cells.extend(questions.iter().map(|question| {
                    let mut marks = result.marks.iter();
                    let found = marks.find(|mark| mark.question == *question);
                    found.map_or("", |mark| mark.outcome.as_str())
                }));
                write(&cells)?;
                written += 1;
            }
        }
        Ok(written)
    }

    async fn begin_export(
        self,
        actor: &AccountActor,
        prism: PrismId,
        format: &'static str,
    ) -> Result<MarkedPages, InternalError> {
        let database = &self.refract.database;
        let action = EventAction::MarksExported;
        export_event::save(database, actor, action, prism, format.into()).await?;
        Ok(database.marked_pages(prism, ResultFilter::default()))
    }
}
