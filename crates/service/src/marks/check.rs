//! Checks all rows of a file of marks, and saves the marks all at once; marks one result, question
//! by question, and withdraws marks.

use refract_boxed_futures::boxed;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chrono::Utc;
use refract_domain::ids::{PrismId, ResultId};
use refract_domain::key::QuestionKey;
use refract_domain::result::mark::{Mark, QuestionMarks};
use refract_domain::result::whole_milliseconds;
use refract_identity::people::AccountActor;
use refract_persistence::{PersistenceError, Prism, WithdrawnMark};

use super::annotators::KnownPeople;
use super::stated_outcomes::{NamedResults, StatedOutcomes};
use super::{MarkCell, MarkError, MarkErrors, MarkOrigin, MarksRow, NamedResult};
use crate::InternalError;
use crate::marks::Marks;
use crate::prisms::find_saved_version;
use crate::results::read::ReadableResult;

/// Number of marks that one query looks up.
const LOOKED_UP: usize = 1_000;

/// Marks of a file without faults, ready to be saved.
pub struct CheckedMarks {
    prism: PrismId,
    /// In the order of the results' ids; at most one of each person for each result and question.
    marks: Arc<[Mark]>,
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

/// A change of the mark of one question: another outcome's key, or `None` to withdraw the mark.
pub type MarkChange = (QuestionKey, Option<String>);

#[boxed]
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
        let people = KnownPeople::find(database, prism.account).await?;
        let importer = people.known(&origin.marked_by);
        let mut stated = StatedOutcomes::default();
        for row in rows {
            let by = row.person.as_deref().map(|cell| people.named(cell));
            let by = by.unwrap_or_else(|| Ok(importer.clone()));
            let by = by.map_err(|errors| MarkError::person(&errors));
            match (named.of(&row.named), by) {
                (Ok(results), Ok(by)) => stated.add(row, &by, &results, &versions, &mut errors),
                (Err(error), _) | (Ok(_), Err(error)) => errors.add(row.line, error),
            }
        }
        if errors.count() > 0 {
            return Err(MarksError::InvalidRows(errors));
        }
        let marked_at = whole_milliseconds(Utc::now());
        Ok(CheckedMarks {
            prism: prism.id,
            results: stated.results(),
            marks: stated.into_marks(origin, marked_at).into(),
        })
    }

    /// How many of the marks are new or change the saved ones. Saves nothing.
    pub async fn count_changes(self, checked: &CheckedMarks) -> Result<usize, InternalError> {
        let mut changes = 0;
        for marks in checked.marks.chunks(LOOKED_UP) {
            let ids: HashSet<ResultId> = marks.iter().map(|mark| mark.result).collect();
            let ids: Vec<ResultId> = ids.into_iter().collect();
            let mut saved = self.question_marks(ids).await?;
            for mark in marks {
                let key = (mark.result, mark.question.clone());
                changes += usize::from(saved.entry(key).or_default().add(mark.clone()));
            }
        }
        Ok(changes)
    }

    /// All people's marks of several results, in no particular order; a few thousand results at most.
    pub async fn of_results(self, results: Vec<ResultId>) -> Result<Vec<Mark>, InternalError> {
        let database = &self.refract.database;
        let mut marks = database.list_marks_of(results.clone()).await?;
        marks.extend(database.list_other_marks_of(results).await?);
        Ok(marks)
    }

    /// All people's marks of several results, by result and question; a few thousand results at most.
    pub(super) async fn question_marks(
        self,
        results: Vec<ResultId>,
    ) -> Result<HashMap<(ResultId, QuestionKey), QuestionMarks>, InternalError> {
        let database = &self.refract.database;
        let mut beside: HashMap<_, Vec<Mark>> = HashMap::new();
        for mark in database.list_other_marks_of(results.clone()).await? {
            let key = (mark.result, mark.question.clone());
            beside.entry(key).or_default().push(mark);
        }
        let mut marks = HashMap::new();
        for mark in database.list_marks_of(results).await? {
            let key = (mark.result, mark.question.clone());
            let others = beside.remove(&key).unwrap_or_default();
            marks.insert(key, QuestionMarks::new(Some(mark), others));
        }
        let alone = beside.into_iter();
        marks.extend(alone.map(|(key, others)| (key, QuestionMarks::new(None, others))));
        Ok(marks)
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
        let saving = self.refract.database.save_marks(
            checked.prism,
            Arc::clone(&checked.marks),
            actor.event_stamp(),
        );
        Ok(saving.await?)
    }

    /// Saves marks of one result and withdraws a person's marks of other questions of that result, all
    /// or nothing.
    ///
    /// # Errors
    /// When the result was deleted meanwhile, or the database fails.
    pub(super) async fn change(
        self,
        checked: &CheckedMarks,
        result: ResultId,
        taken_back: &[WithdrawnMark],
    ) -> Result<(), MarksError> {
        let changing =
            self.refract
                .database
                .change_marks(checked.prism, result, &checked.marks, taken_back);
        Ok(changing.await?)
    }

    /// Changes a person's marks of a result, all or none. Other questions keep their marks, and so do
    /// other people.
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
                None => taken_back.push(WithdrawnMark {
                    question,
                    by: origin.marked_by.clone(),
                    is_adjudicated: origin.is_adjudicated,
                }),
            }
        }
        let rows = [MarksRow {
            line: 1,
            named: NamedResult::Id(id),
            person: None,
            is_adjudicated: origin.is_adjudicated,
            cells,
        }];
        let errors = MarkErrors::default();
        let checked = self.check(result.prism(), &rows, errors, origin).await?;
        self.change(&checked, id, &taken_back).await
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
