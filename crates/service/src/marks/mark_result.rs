//! Marks one result, question by question, and takes marks back.

use refract_domain::ids::ResultId;
use refract_domain::key::QuestionKey;
use refract_domain::mark::Marker;
use refract_persistence::Database;

use super::check::{MarksRefusal, check_rows};
use super::faults::MarkFaults;
use super::rows::{MarkCell, MarksRow, NamedResult};
use crate::readable_result::ReadableResult;

/// A change of the mark of one question: another outcome's key, or `None` to take the mark back.
pub type MarkChange = (QuestionKey, Option<String>);

/// Changes the marks of a result, all of them or none. Questions that are not named keep theirs.
///
/// # Errors
/// When the version that answered has no such question or outcome, the result is failed or was
/// deleted meanwhile, or the database fails. Nothing was changed then.
pub async fn mark_result(
    database: &Database,
    result: &ReadableResult,
    changes: Vec<MarkChange>,
    marked_by: Option<&Marker>,
) -> Result<(), MarksRefusal> {
    let id: ResultId = result.id();
    let mut cells = Vec::new();
    let mut taken_back = Vec::new();
    for (question, outcome) in changes {
        match outcome {
            Some(outcome) => cells.push(MarkCell { question, outcome }),
            None => taken_back.push(question),
        }
    }
    let rows = [MarksRow {
        line: 1,
        named: NamedResult::Id(id),
        cells,
    }];
    let faults = MarkFaults::default();
    let checked = check_rows(database, result.prism(), &rows, faults, marked_by).await?;
    checked.change(database, id, &taken_back).await
}
