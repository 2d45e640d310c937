//! Marks: one for each result and question, saved all or none.

mod abstentions;
mod changes;
mod insert;
mod markable_results;
mod marked_pages;
mod row;
mod sittings;

use std::collections::HashMap;

use diesel::prelude::*;
use refract_domain::event::EventStamp;
use refract_domain::ids::{PrismId, ResultId};
use refract_domain::key::QuestionKey;
use refract_domain::result::mark::Mark;

pub use self::markable_results::MarkableResult;
pub use self::marked_pages::{MarkedPages, MarkedResult};
pub use self::sittings::SittingRow;
use crate::connections::{Pools, load_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::marks::row::{MarkRow, SavedMarkColumns};
use crate::queries::results::{ResultFilter, ResultOrder};
use crate::schema::sql_types::Bind;
use crate::schema::{marks, results};

impl Database {
    /// Saves marks of a prism's results, all or none, in one transaction, and returns how many are
    /// new or [change](Mark::changes) the saved ones. If anything changes, an event of the import is saved too.
    ///
    /// No two of the marks may be of one result and question.
    ///
    /// # Errors
    /// When a result no longer exists, or the database fails.
    pub async fn save_marks(
        &self,
        prism: PrismId,
        marks: &[Mark],
        stamp: EventStamp,
    ) -> Result<usize, PersistenceError> {
        let mut rows: Vec<_> = marks.iter().map(|mark| MarkRow::new(prism, mark)).collect();
        // concurrent saves lock the rows of marks in one order
        rows.sort_unstable_by(|a, b| (a.result_id, &a.question).cmp(&(b.result_id, &b.question)));
        self.begin(async move |mut tx| {
            let changed = insert::insert(&mut tx, prism, rows, stamp).await?;
            tx.commit().await?;
            Ok(changed)
        })
        .await
    }

    /// The marks of one result, in the order of the question keys.
    pub async fn list_marks(&self, result: ResultId) -> Result<Vec<Mark>, PersistenceError> {
        let query = marks::table
            .filter(marks::result_id.eq(Bind(result)))
            .order(marks::question);
        load_as!(self, query, SavedMarkColumns).await
    }

    /// The marks of several results, by result and then in the order of the question keys. A few
    /// thousand results at most.
    pub async fn list_marks_of(
        &self,
        results: Vec<ResultId>,
    ) -> Result<Vec<Mark>, PersistenceError> {
        let results: Vec<_> = results.into_iter().map(Bind).collect();
        let query = marks::table
            .filter(marks::result_id.eq_any(results))
            .order((marks::result_id, marks::question));
        load_as!(self, query, SavedMarkColumns).await
    }

    /// Up to `limit` marked results of a prism whose ids are within the filter's period, in this
    /// order after `last`.
    pub async fn list_marked_ids(
        &self,
        prism: PrismId,
        filter: &ResultFilter,
        order: ResultOrder,
        last: Option<ResultId>,
        limit: u32,
    ) -> Result<Vec<ResultId>, PersistenceError> {
        let (after, before) = order.after(filter.ids(), last);
        self.read(async move |mut connection| {
            let query = marks::table
                .filter(marks::prism_id.eq(Bind(prism)))
                .filter(marks::result_id.gt(Bind(after)))
                .filter(marks::result_id.lt(Bind(before)))
                .select(marks::result_id)
                .distinct()
                .limit(i64::from(limit));
            let found: Vec<ResultId> = match order {
                ResultOrder::OldestFirst => on!(connection, load(query.order(marks::result_id)))?,
                ResultOrder::NewestFirst => {
                    on!(connection, load(query.order(marks::result_id.desc())))?
                }
            };
            Ok(found)
        })
        .await
    }

    /// A watermark of the marks of a prism: how many there are, and a sum of their moments. Any
    /// change of a mark gives it a new moment.
    pub async fn find_marks_watermark(
        &self,
        prism: PrismId,
    ) -> Result<(i64, i64), PersistenceError> {
        // the remainder keeps the sum of any number of moments small
        let moments = match self.connections.pools() {
            Pools::Sqlite(_) => "coalesce(sum(marked_at % 1000000007), 0)",
            Pools::Postgres(_) => {
                "coalesce(sum((extract(epoch FROM marked_at) * 1000)::bigint % 1000000007), 0)::bigint"
            }
        };
        self.read(async move |mut connection| {
            let query = marks::table
                .filter(marks::prism_id.eq(Bind(prism)))
                .select((
                    diesel::dsl::count_star(),
                    diesel::dsl::sql::<diesel::sql_types::BigInt>(moments),
                ));
            Ok(on!(connection, get_result(query))?)
        })
        .await
    }

    /// The newest result of a prism; `None` when it has none.
    pub async fn find_newest_result(
        &self,
        prism: PrismId,
    ) -> Result<Option<ResultId>, PersistenceError> {
        self.read(async move |mut connection| {
            let query = results::table
                .filter(results::prism_id.eq(Bind(prism)))
                .order(results::id.desc())
                .select(results::id);
            Ok(on!(connection, first(query)).optional()?)
        })
        .await
    }

    /// How many results of a prism have a mark, for each question with marks.
    pub async fn count_marks(
        &self,
        prism: PrismId,
    ) -> Result<HashMap<QuestionKey, u64>, PersistenceError> {
        self.read(async move |mut connection| {
            let query = marks::table
                .filter(marks::prism_id.eq(Bind(prism)))
                .group_by(marks::question)
                .select((marks::question, diesel::dsl::count_star()));
            let counted: Vec<(String, i64)> = on!(connection, load(query))?;
            let counted = counted.into_iter().map(|(question, count)| {
                let column = "marks.question";
                let question = QuestionKey::parse(&question);
                let question = question.map_err(|_| PersistenceError::Unreadable { column })?;
                Ok((question, u64::try_from(count).unwrap_or_default()))
            });
            counted.collect()
        })
        .await
    }
}
