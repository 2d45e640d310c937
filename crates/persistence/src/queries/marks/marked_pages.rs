//! The marked results of a prism page by page (keyset pagination), without their texts. And what an
//! import of marks looks up: existing results and the versions that answered them.

use std::collections::HashMap;

use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::answer::Answers;
use refract_domain::ids::{AccountId, PrismId, ResultId};
use refract_domain::prism::VersionNumber;
use refract_domain::result::mark::Mark;
use refract_domain::submission::Ref;

use crate::connections::load_as;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::marks::row::SavedMarkColumns;
use crate::queries::results::lists::query::{ResultFilter, ResultOrder, ResultQuery};
use crate::queries::results::{saved_answers, saved_version};
use crate::schema::sql_types::Bind;
use crate::schema::stored::Stored;
use crate::schema::{marks, other_marks, results};

/// Marks of one page. A result has at most one for each of its 100 questions, so a page holds
/// whole results.
const PAGE: i64 = 2048;

/// A result with its marks, without its texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedResult {
    /// The result's id.
    pub id: ResultId,
    /// The caller's own reference.
    pub reference: Option<Ref>,
    /// Number of the version that answered.
    pub version: VersionNumber,
    /// The model that the server reported, if it reported one.
    pub model: Option<String>,
    /// The answers to all questions.
    pub answers: Answers,
    /// The marks that count, at least one, in the order of the question keys.
    pub marks: Vec<Mark>,
    /// The marks beside them, if these were asked for.
    pub other_marks: Vec<Mark>,
}

/// The marked results of a prism, page by page in the order of their ids.
pub struct MarkedPages {
    database: Database,
    prism: PrismId,
    filter: ResultFilter,
    /// The last result of the previous page; `None` after the last page.
    last: Option<ResultId>,
    people: PeopleRead,
}

/// Whether the marks beside those that count are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PeopleRead {
    CountingAlone,
    All,
    /// All, of the results that several people marked.
    OfSeveral,
}

/// Results of one page that several people marked.
const RESULTS: i64 = 500;

#[derive(Queryable, Selectable)]
#[diesel(table_name = results)]
struct AnsweredColumns {
    id: ResultId,
    reference: Option<String>,
    version: i32,
    model_name: Option<String>,
    answers: Option<String>,
}

impl Database {
    /// The marked results of a prism that match a filter, before the first page is read.
    pub fn marked_pages(&self, prism: PrismId, filter: ResultFilter) -> MarkedPages {
        MarkedPages {
            database: self.clone(),
            prism,
            filter,
            last: Some(ResultId::new(uuid::Uuid::nil())),
            people: PeopleRead::CountingAlone,
        }
    }
}

#[boxed]
impl MarkedPages {
    /// Also the marks beside those that count.
    #[must_use]
    pub fn with_other_marks(self) -> Self {
        Self {
            people: PeopleRead::All,
            ..self
        }
    }

    /// Only results that several people marked, with all their marks.
    #[must_use]
    pub fn of_several_people(self) -> Self {
        Self {
            people: PeopleRead::OfSeveral,
            ..self
        }
    }

    /// The next page; `None` at the end. A page may be empty, when none of its results matches the
    /// filter.
    pub async fn next(&mut self) -> Result<Option<Vec<MarkedResult>>, PersistenceError> {
        let Some(after) = self.last else {
            return Ok(None);
        };
        let mut of_results = if self.people == PeopleRead::OfSeveral {
            self.marked_by_several_after(after).await?
        } else {
            self.marked_after(after).await?
        };
        let ids: Vec<ResultId> = of_results.keys().copied().collect();
        let mut page = self.results(ids.clone()).await?;
        for marked in &mut page {
            marked.marks = of_results.remove(&marked.id).unwrap_or_default();
        }
        if self.people != PeopleRead::CountingAlone {
            let others = self.database.list_other_marks_of(ids).await?;
            let mut others = by_result(others);
            for marked in &mut page {
                marked.other_marks = others.remove(&marked.id).unwrap_or_default();
            }
        }
        Ok(Some(page))
    }

    /// The marks of the results of the next page, and sets its end.
    async fn marked_after(
        &mut self,
        after: ResultId,
    ) -> Result<HashMap<ResultId, Vec<Mark>>, PersistenceError> {
        let mut marks = self.marks_after(after).await?;
        let is_full = i64::try_from(marks.len()).is_ok_and(|marks| marks == PAGE);
        self.last = None;
        if is_full {
            // the last result of a full page may have more marks: the next page begins with it
            let last = marks.last().map(|mark| mark.result);
            marks.retain(|mark| Some(mark.result) != last);
            self.last = marks.last().map(|mark| mark.result);
        }
        Ok(by_result(marks))
    }

    /// As [`Self::marked_after`], of the results that several people marked.
    async fn marked_by_several_after(
        &mut self,
        after: ResultId,
    ) -> Result<HashMap<ResultId, Vec<Mark>>, PersistenceError> {
        let (first, end) = self.filter.ids();
        let prism = self.prism;
        let query = other_marks::table
            .filter(other_marks::prism_id.eq(Bind(prism)))
            .filter(other_marks::result_id.gt(Bind(after.max(first))))
            .filter(other_marks::result_id.lt(Bind(end)))
            .order(other_marks::result_id)
            .select(other_marks::result_id)
            .distinct()
            .limit(RESULTS);
        let ids: Vec<ResultId> = self.database.load(query).await?;
        let is_full = i64::try_from(ids.len()).is_ok_and(|ids| ids == RESULTS);
        self.last = ids.last().copied().filter(|_| is_full);
        Ok(by_result(self.database.list_marks_of(ids).await?))
    }

    async fn marks_after(&self, after: ResultId) -> Result<Vec<Mark>, PersistenceError> {
        let prism = self.prism;
        let (first, end) = self.filter.ids();
        let after = after.max(first);
        let query = marks::table
            .filter(marks::prism_id.eq(Bind(prism)))
            .filter(marks::result_id.gt(Bind(after)))
            .filter(marks::result_id.lt(Bind(end)))
            .order((marks::result_id, marks::question))
            .limit(PAGE);
        load_as!(self.database, query, SavedMarkColumns).await
    }

    /// Finds which of these results match the filter, in the order of their ids, without their
    /// marks.
    async fn results(&self, ids: Vec<ResultId>) -> Result<Vec<MarkedResult>, PersistenceError> {
        let query = ResultQuery {
            filter: self.filter.clone(),
            ids: Some(ids),
            order: Some(ResultOrder::OldestFirst),
            ..ResultQuery::default()
        };
        load_as!(self.database, query.statement(), AnsweredColumns).await
    }
}

impl TryFrom<AnsweredColumns> for MarkedResult {
    type Error = PersistenceError;

    fn try_from(columns: AnsweredColumns) -> Result<Self, PersistenceError> {
        Ok(Self {
            id: columns.id,
            reference: columns.reference.map(Ref::saved),
            version: saved_version(columns.version)?,
            model: columns.model_name,
            answers: saved_answers(columns.answers.as_deref())?,
            marks: Vec::new(),
            other_marks: Vec::new(),
        })
    }
}

fn by_result(marks: Vec<Mark>) -> HashMap<ResultId, Vec<Mark>> {
    let mut of_results: HashMap<ResultId, Vec<Mark>> = HashMap::new();
    for mark in marks {
        of_results.entry(mark.result).or_default().push(mark);
    }
    of_results
}

/// What decides whether a result can be marked, and with which outcomes.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = results)]
pub struct MarkableResult {
    /// The result's id.
    pub id: ResultId,
    /// The caller's own reference.
    #[diesel(deserialize_as = Stored<results::reference>)]
    pub reference: Option<Ref>,
    /// Number of the version that was asked.
    #[diesel(deserialize_as = Stored<results::version>)]
    pub version: VersionNumber,
    /// Whether the result's status is `ok`; a failed result has no answers to mark.
    #[diesel(column_name = status, deserialize_as = Stored<results::status>)]
    pub is_ok: bool,
}

impl From<Stored<results::status>> for bool {
    fn from(Stored(status): Stored<results::status>) -> Self {
        status == "ok"
    }
}

#[boxed]
impl Database {
    /// Finds which of these results belong to the prism, in no particular order. A few thousand ids
    /// at most.
    pub async fn find_markable_results(
        &self,
        account: AccountId,
        prism: PrismId,
        ids: Vec<ResultId>,
    ) -> Result<Vec<MarkableResult>, PersistenceError> {
        let query = ResultQuery {
            prism: Some(prism),
            ..ResultQuery::of_account(account).with_ids(ids)
        };
        load_as!(self, query.statement(), MarkableResult).await
    }

    /// Up to `limit` results of a prism that have a `ref`, after the given one, oldest first.
    pub async fn list_results_with_ref(
        &self,
        account: AccountId,
        prism: PrismId,
        after: Option<ResultId>,
        limit: u32,
    ) -> Result<Vec<MarkableResult>, PersistenceError> {
        let query = ResultQuery {
            has_reference: true,
            ..ResultQuery::of_prism(account, prism, ResultFilter::default())
        };
        let query = query.page(ResultOrder::OldestFirst, after, limit);
        load_as!(self, query.statement(), MarkableResult).await
    }
}
