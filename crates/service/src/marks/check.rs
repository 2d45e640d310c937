//! Checks all rows of a file of marks, and saves the marks all at once; marks one result, question
//! by question, and withdraws marks.

use std::collections::{HashMap, HashSet};

use chrono::Utc;
use refract_domain::ids::{PrismId, ResultId};
use refract_domain::key::QuestionKey;
use refract_domain::result::mark::Mark;
use refract_domain::result::whole_milliseconds;
use refract_persistence::{PersistenceError, Prism};

use super::errors::MarkErrors;
use super::stated_outcomes::{NamedResults, StatedOutcomes};
use super::{MarkCell, MarkOrigin, MarksRow, NamedResult};
use crate::InternalError;
use crate::marks::Marks;
use crate::people::accounts::AccountActor;
use crate::prisms::versions::find_saved_version;
use crate::results::readable_result::ReadableResult;

/// Number of marks that one query looks up.
const LOOKED_UP: usize = 1_000;

/// Marks of a file without faults, ready to be saved.
pub struct CheckedMarks {
    prism: PrismId,
    /// In the order of the results' ids; at most one for each result and question.
    marks: Vec<Mark>,
    results: usize,
}

/// Why marks cannot be saved. Nothing was saved.
#[derive(Debug, thiserror::Error)]
pub enum MarksError {
    /// Rows have faults.
    #[error("the file has faults: {}", .0.count())]
    InvalidRows(MarkErrors),
    /// A result was purged or erased after its marks were checked.
    #[error("a result was deleted meanwhile")]
    ResultGone,
    /// The service failed.
    #[error(transparent)]
    Internal(#[from] InternalError),
}

impl From<PersistenceError> for MarksError {
    fn from(error: PersistenceError) -> Self {
        if let PersistenceError::ReferenceGone(_) = error {
            return Self::ResultGone;
        }
        Self::Internal(InternalError::Persistence(error))
    }
}

impl Marks<'_> {
    /// Finds the results that the rows of a file name, and checks the marks of each result.
    /// `errors` are those that reading the file found. The marks are made now.
    ///
    /// # Errors
    /// [`MarksError::InvalidRows`] with every fault when there is any, or when the database fails.
    pub async fn check(
        self,
        prism: &Prism,
        rows: &[MarksRow],
        mut errors: MarkErrors,
        origin: &MarkOrigin,
    ) -> Result<CheckedMarks, MarksError> {
        let database = &self.refract.database;
        let named = NamedResults::find(database, prism, rows).await?;
        let mut versions = HashMap::new();
        for number in named.versions() {
            let version = find_saved_version(database, prism.id, number).await?;
            versions.insert(number, version);
        }
        let mut stated = StatedOutcomes::default();
        for row in rows {
            match named.of(&row.named) {
                Ok(results) => stated.add(row, &results, &versions, &mut errors),
                Err(error) => errors.add(row.line, error),
            }
        }
        if errors.count() > 0 {
            return Err(MarksError::InvalidRows(errors));
        }
        let marked_at = whole_milliseconds(Utc::now());
        Ok(CheckedMarks {
            prism: prism.id,
            results: stated.results(),
            marks: stated.into_marks(origin, marked_at),
        })
    }
}

impl CheckedMarks {
    /// Number of marks.
    pub fn count(&self) -> usize {
        self.marks.len()
    }

    /// Number of marked results.
    pub fn results(&self) -> usize {
        self.results
    }
}

impl Marks<'_> {
    /// How many of the marks are new or change the saved ones. Saves nothing.
    pub async fn count_changes(self, checked: &CheckedMarks) -> Result<usize, InternalError> {
        let mut changes = 0;
        for marks in checked.marks.chunks(LOOKED_UP) {
            let ids: HashSet<ResultId> = marks.iter().map(|mark| mark.result).collect();
            let database = &self.refract.database;
            let saved = database.list_marks_of(ids.into_iter().collect()).await?;
            let saved: HashMap<_, _> = saved
                .iter()
                .map(|mark| ((mark.result, &mark.question), mark))
                .collect();
            let is_change = |mark: &&Mark| {
                let saved = saved.get(&(mark.result, &mark.question));
                saved.is_none_or(|saved| mark.changes(saved))
            };
            changes += marks.iter().filter(is_change).count();
        }
        Ok(changes)
    }

    /// Saves the marks of an import, all or none, and returns how many are new or change the saved
    /// ones.
    ///
    /// # Errors
    /// When a result was deleted meanwhile, or the database fails.
    pub async fn save(
        self,
        checked: &CheckedMarks,
        actor: &AccountActor,
    ) -> Result<usize, MarksError> {
        let saving =
            self.refract
                .database
                .save_marks(checked.prism, &checked.marks, actor.event_stamp());
        Ok(saving.await?)
    }

    /// Saves marks of one result and withdraws the marks of other questions of that result, all or
    /// nothing.
    ///
    /// # Errors
    /// When the result was deleted meanwhile, or the database fails.
    pub(super) async fn change(
        self,
        checked: &CheckedMarks,
        result: ResultId,
        taken_back: &[QuestionKey],
    ) -> Result<(), MarksError> {
        let changing =
            self.refract
                .database
                .change_marks(checked.prism, result, &checked.marks, taken_back);
        Ok(changing.await?)
    }
}

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
