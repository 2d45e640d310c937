//! Exports marks as the rows of a file that can be imported again.

use std::io::Write;

use refract_domain::event::EventAction;
use refract_domain::ids::PrismId;
use refract_domain::result::mark::Mark;
use refract_domain::submission::reference::Ref;
use refract_lens_rendering::{AnnotatorRow, MarkRowWriter, RowFormat};
use refract_persistence::{MarkedResult, ResultFilter};

use crate::InternalError;
use crate::events::export_event;
use crate::marks::{Annotators, Marks};
use crate::people::accounts::AccountActor;
use crate::results::export::ExportError;

impl Marks<'_> {
    /// Writes every marked result of a prism under one header, in the order of the results' ids, a row
    /// for each person who marked it, and returns the number of results. There is a column for each question of any
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
        let database = &self.refract.database;
        let action = EventAction::MarksExported;
        let exporting = export_event::save(database, actor, action, prism, format.name().into());
        exporting.await.map_err(InternalError::from)?;
        let questions = self.questions(prism).await?;
        let people = self.annotators(actor.account(), prism).await?;
        let has_settled = people.iter().any(|annotator| annotator.settled > 0);
        let mut rows = MarkRowWriter::new(format, &questions, has_settled, out);
        rows.write_header()?;
        let pages = database.marked_pages(prism, ResultFilter::default());
        let mut pages = pages.with_other_marks();
        let mut written = 0;
        while let Some(page) = pages.next().await.map_err(InternalError::from)? {
            for result in page {
                let reference = result.reference.as_ref().map(Ref::as_str);
                for (by, is_adjudicated, marks) in by_annotator(&result, &people) {
                    let row = AnnotatorRow {
                        id: result.id,
                        reference,
                        person: &by,
                        is_adjudicated,
                    };
                    rows.write_row(row, |question| {
                        let mut marks = marks.iter();
                        let mark = marks.find(|mark| mark.question == *question);
                        mark.map(|mark| &mark.outcome)
                    })?;
                }
                written += 1;
            }
        }
        rows.finish()?;
        Ok(written)
    }
}

/// The marks of a result by who made them, as a file names them, and whether these settle
/// disagreements. Where two people differ, the later comes later, and the mark that counts last: an
/// import takes a later row for the later mark.
fn by_annotator<'a>(
    result: &'a MarkedResult,
    people: &Annotators,
) -> Vec<(String, bool, Vec<&'a Mark>)> {
    let mut marks: Vec<&Mark> = result.other_marks.iter().chain(&result.marks).collect();
    marks.sort_by_key(|mark| (mark.is_adjudicated, mark.marked_at));
    let mut rows: Vec<(String, bool, Vec<&Mark>)> = Vec::new();
    // a person's row is where their last mark is
    for mark in marks.into_iter().rev() {
        let by = people.written(&mark.marked_by);
        let is_same =
            |row: &&mut (String, bool, Vec<&Mark>)| row.0 == by && row.1 == mark.is_adjudicated;
        match rows.iter_mut().find(is_same) {
            Some(row) => row.2.push(mark),
            None => rows.push((by, mark.is_adjudicated, vec![mark])),
        }
    }
    rows.reverse();
    rows
}
