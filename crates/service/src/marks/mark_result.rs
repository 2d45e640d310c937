//! Marks one result, question by question, and withdraws marks.

use refract_domain::ids::ResultId;
use refract_domain::key::QuestionKey;

use super::check::MarksError;
use super::errors::MarkErrors;
use super::origin::MarkOrigin;
use super::rows::{MarkCell, MarksRow, NamedResult};
use crate::marks::Marks;
use crate::results::readable_result::ReadableResult;

/// A change of the mark of one question: another outcome's key, or `None` to withdraw the mark.
pub type MarkChange = (QuestionKey, Option<String>);

impl Marks<'_> {
    /// Changes the marks of a result, all or none. Other questions keep their marks.
    ///
    /// # Errors
    /// When the version that answered has no such question or outcome, the result is failed or was
    /// deleted meanwhile, or the database fails. Nothing was changed then.
    pub async fn mark(
        self,
        result: &ReadableResult,
        changes: Vec<MarkChange>,
        origin: &MarkOrigin,
    ) -> Result<(), MarksError> {
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
        let errors = MarkErrors::default();
        let checked = self.check(result.prism(), &rows, errors, origin).await?;
        self.change(&checked, id, &taken_back).await
    }
}
