//! The marked answers to one question, page by page (keyset pagination): one statement reads a page
//! of answers with their marks, and the next page is read while the caller counts this one.

use diesel::backend::Backend;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::HasSqlType;
use diesel::sqlite::Sqlite;
use refract_boxed_futures::boxed;
use refract_domain::answer::{Answer, AnswerTo};
use refract_domain::ids::{PrismId, ResultId};
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::prism::VersionNumber;
use refract_domain::result::mark::MarkSource;
use serde::de::DeserializeSeed as _;

use crate::connections::{CUSTOM_PLAN, StartedWork, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::results::lists::pages::{PageLimits, Paging};
use crate::queries::results::lists::query::{ResultFilter, ResultOrder, ResultQuery};
use crate::queries::results::saved_version;
use crate::schema::results;
use crate::schema::sql_types::{BigInt, Id, Integer, Nullable, Text};

const LIMITS: PageLimits = PageLimits {
    first: 256,
    most: 4096,
    growth: 16,
    bytes: 2 * 1024 * 1024,
};

/// A result with the mark of one question that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedMarkedAnswer {
    /// The result's id.
    pub id: ResultId,
    /// Number of the version that answered.
    pub version: VersionNumber,
    /// The model that the server reported, if it reported one.
    pub model: Option<String>,
    /// The answer to the question; `None` if the version lacks the question.
    pub answer: Option<Answer>,
    /// The marked outcome.
    pub mark: OutcomeKey,
    /// How the result came to be marked.
    pub source: Option<MarkSource>,
}

/// The marked answers to one question, page by page in the order of the results' ids.
pub struct MarkedAnswerPages {
    /// Without lanes: a read begins at once, and holds up no call.
    database: Database,
    question: QuestionKey,
    prism: PrismId,
    paging: Paging,
    /// The next page; `None` after the last one.
    ahead: Option<StartedWork<Vec<AnswerRow>>>,
}

#[derive(Queryable)]
struct AnswerRow {
    id: ResultId,
    version: i32,
    model: Option<String>,
    answers: Option<String>,
    mark: String,
    source: Option<String>,
}

impl Database {
    /// The marked answers to a question of the results of a prism that match a filter.
    pub fn marked_answers(
        &self,
        prism: PrismId,
        filter: ResultFilter,
        question: &QuestionKey,
    ) -> MarkedAnswerPages {
        let query = ResultQuery {
            prism: Some(prism),
            between: Some(filter.ids()),
            filter,
            ..ResultQuery::default()
        };
        let mut pages = MarkedAnswerPages {
            database: self.without_lanes(),
            question: question.clone(),
            prism,
            paging: Paging::new(query, ResultOrder::OldestFirst, LIMITS),
            ahead: None,
        };
        pages.read_ahead();
        pages
    }
}

#[boxed]
impl MarkedAnswerPages {
    /// The next page; `None` at the end.
    ///
    /// # Errors
    /// When the database fails, or a row cannot be read.
    pub async fn next(&mut self) -> Result<Option<Vec<SavedMarkedAnswer>>, PersistenceError> {
        let Some(reading) = self.ahead.take() else {
            return Ok(None);
        };
        let page = reading.end().await?;
        if page.is_empty() {
            return Ok(None);
        }
        let bytes = |row: &AnswerRow| row.answers.as_ref().map_or(0, String::len);
        let sizes = page.iter().map(|row| (row.id, bytes(row)));
        self.paging.go_on_after(sizes);
        self.read_ahead();
        let page = page.into_iter().map(|row| row.read(&self.question));
        page.collect::<Result<_, _>>().map(Some)
    }

    fn read_ahead(&mut self) {
        let page = self.paging.next_page(LIMITS.most);
        let key = PageKey {
            prism: self.prism,
            question: self.question.to_string(),
            between: page.between.unwrap_or(ResultFilter::ALL_IDS),
            limit: page.limit.unwrap_or_default(),
        };
        let results = ResultQuery {
            between: None,
            order: None,
            limit: None,
            ..page
        };
        let columns = (
            results::id,
            results::version,
            results::model_name,
            results::answers,
        );
        let database = self.database.clone();
        let reading = self.database.connections.start(Box::pin(async move {
            let reading = database.read(async move |mut connection| {
                let found: Vec<AnswerRow> = on!(
                    connection,
                    CUSTOM_PLAN,
                    load(PageStatement {
                        key,
                        results: results.statement().select(columns),
                    })
                )?;
                Ok(found)
            });
            reading.await
        }));
        self.ahead = Some(reading);
    }
}

impl AnswerRow {
    fn read(self, question: &QuestionKey) -> Result<SavedMarkedAnswer, PersistenceError> {
        let unreadable = |column| PersistenceError::Unreadable { column };
        let of_question = |json: &str| {
            AnswerTo(question).deserialize(&mut serde_json::Deserializer::from_str(json))
        };
        let answer = self.answers.as_deref().map(of_question).transpose();
        let mark = OutcomeKey::parse(&self.mark);
        Ok(SavedMarkedAnswer {
            id: self.id,
            version: saved_version(self.version)?,
            model: self.model,
            answer: answer.map_err(|_| unreadable("results.answers"))?.flatten(),
            mark: mark.map_err(|_| unreadable("marks.outcome"))?,
            source: self.source.as_deref().and_then(MarkSource::named),
        })
    }
}

/// What a page is of, beside the results that it may hold.
#[derive(Clone)]
struct PageKey {
    prism: PrismId,
    question: String,
    between: (ResultId, ResultId),
    limit: i64,
}

/// The columns that are read of a result.
type ResultTypes = (Id, Integer, Nullable<Text>, Nullable<Text>);

/// The statement of a page. It selects from the results as if each of them were marked; both
/// databases take that subquery apart.
struct PageStatement<DB: Backend> {
    key: PageKey,
    results: results::BoxedQuery<'static, DB, ResultTypes>,
}

impl<DB: Backend> Query for PageStatement<DB> {
    type SqlType = (
        Id,
        Integer,
        Nullable<Text>,
        Nullable<Text>,
        Text,
        Nullable<Text>,
    );
}

// the text depends on the filter
impl<DB: Backend> QueryId for PageStatement<DB> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl RunQueryDsl<SqliteConnection> for PageStatement<Sqlite> {}

impl<DB> QueryFragment<DB> for PageStatement<DB>
where
    DB: Backend + HasSqlType<Id>,
    results::BoxedQuery<'static, DB, ResultTypes>: QueryFragment<DB>,
    PrismId: ToSql<Id, DB>,
    ResultId: ToSql<Id, DB>,
    String: ToSql<Text, DB>,
    i64: ToSql<BigInt, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        let (after, before) = &self.key.between;
        // a cross join, since SQLite then begins with the marks, which have the order
        out.push_sql(
            "SELECT answered.id, answered.version, answered.model_name, answered.answers, \
             marks.outcome, marks.source FROM marks CROSS JOIN (",
        );
        self.results.walk_ast(out.reborrow())?;
        // PostgreSQL multiplies the shares of two known bounds, although both are of one id. It then
        // expects fewer rows than a page has, long before the last page, and sorts all that are left
        // for each page. The share of a bound that it does not know is a third
        out.push_sql(
            ") AS answered WHERE answered.id = marks.result_id AND answered.id > (SELECT ",
        );
        out.push_bind_param::<Id, _>(after)?;
        out.push_sql(") AND marks.prism_id = ");
        out.push_bind_param::<Id, _>(&self.key.prism)?;
        out.push_sql(" AND marks.question = ");
        out.push_bind_param::<Text, _>(&self.key.question)?;
        out.push_sql(" AND marks.result_id > ");
        out.push_bind_param::<Id, _>(after)?;
        out.push_sql(" AND marks.result_id < ");
        out.push_bind_param::<Id, _>(before)?;
        out.push_sql(" ORDER BY marks.result_id LIMIT ");
        out.push_bind_param::<BigInt, _>(&self.key.limit)
    }
}
