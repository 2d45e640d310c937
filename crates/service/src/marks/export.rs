//! Exports marks as the rows of a file that can be imported again.

use std::io::{self, Write};

use refract_domain::event::EventAction;
use refract_domain::ids::PrismId;
use refract_domain::key::QuestionKey;
use refract_domain::result::mark::Mark;
use refract_domain::submission::Ref;
use refract_identity::people::AccountActor;
use refract_lens_rendering::{
    AnnotatorRow, MarkRowWriter, RowFormat, adjudicated_column, person_column,
};
use refract_persistence::{MarkedPages, MarkedResult, ResultFilter};

use crate::InternalError;
use crate::marks::{Annotators, Marks};
use crate::results::export::ExportError;
use crate::results::export_event;

impl Marks<'_> {
    /// Writes every marked result of a prism under one header, in the order of the results' ids, a row
    /// for each person who marked it, and returns the number of results. There is a column for each
    /// question of any version. One page of results is in memory at a time. An event of the export is
    /// saved before the first byte is written.
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
        let pages = self.begin_export(actor, prism, format.name()).await?;
        let questions = self.questions(prism).await?;
        let people = self.annotators(actor.account(), prism).await?;
        let mut rows = MarkRowWriter::new(format, &questions, people.have_settled(), out);
        rows.write_header()?;
        let written = each_row(pages, &people, |row, marks| {
            rows.write_row(row, |question| {
                let mark = marks.iter().find(|mark| mark.question == *question);
                mark.map(|mark| &mark.outcome)
            })
        });
        let written = written.await?;
        rows.finish()?;
        Ok(written)
    }

    /// Passes the texts of the cells of the same rows to `write`, the header first, for a format of the
    /// caller's own, and returns the number of results. An event of the export is saved first.
    ///
    /// # Errors
    /// When the event cannot be saved, the marks cannot be read or `write` fails.
    pub async fn export_each(
        self,
        actor: &AccountActor,
        prism: PrismId,
        format: &'static str,
        mut write: impl FnMut(&[&str]) -> io::Result<()>,
    ) -> Result<u64, ExportError> {
        let pages = self.begin_export(actor, prism, format).await?;
        let questions = self.questions(prism).await?;
        let people = self.annotators(actor.account(), prism).await?;
        let has_settled = people.have_settled();
        let mut header = vec!["result_id", "ref", person_column(&questions)];
        header.extend(has_settled.then(|| adjudicated_column(&questions)));
        header.extend(questions.iter().map(QuestionKey::as_str));
        write(&header)?;
        let written = each_row(pages, &people, |row, marks| {
            let id = row.id.to_string();
            let mut cells = vec![&*id, row.reference.unwrap_or_default(), row.person];
            if has_settled {
                cells.push(if row.is_adjudicated { "true" } else { "false" });
            }
            cells.extend(questions.iter().map(|question| {
                let mark = marks.iter().find(|mark| mark.question == *question);
                mark.map_or("", |mark| mark.outcome.as_str())
            }));
            write(&cells)
        });
        written.await
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
        let pages = database.marked_pages(prism, ResultFilter::default());
        Ok(pages.with_other_marks())
    }
}

/// Passes each row of the marked results to `write`, and returns the number of results.
async fn each_row(
    mut pages: MarkedPages,
    people: &Annotators,
    mut write: impl FnMut(AnnotatorRow<'_>, &[&Mark]) -> io::Result<()>,
) -> Result<u64, ExportError> {
    let mut written = 0;
    while let Some(page) = pages.next().await.map_err(InternalError::from)? {
        for result in page {
            let reference = result.reference.as_ref().map(Ref::as_str);
            for (by, is_adjudicated, marks) in by_annotator(&result, people) {
                let row = AnnotatorRow {
                    id: result.id,
                    reference,
                    person: &by,
                    is_adjudicated,
                };
                write(row, &marks)?;
            }
            written += 1;
        }
    }
    Ok(written)
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
