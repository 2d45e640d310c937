//! Marks of results: the one that counts for each question, and those of other people beside it.

mod changes;
mod insert;
mod marked_answers;
mod marked_pages;
mod row;
mod sittings;

use refract_boxed_futures::boxed;
use std::collections::HashMap;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_domain::ids::{PersonId, PrismId, ResultId};
use refract_domain::key::QuestionKey;
use refract_domain::result::mark::{Annotator, Mark, MarkSource, Marker};

pub use self::changes::WithdrawnMark;
pub use self::marked_answers::{MarkedAnswerPages, SavedMarkedAnswer};
pub use self::marked_pages::{MarkableResult, MarkedPages, MarkedResult};
pub use self::sittings::SittingRow;
use crate::connections::{Pools, load_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::marks::row::{SavedMarkColumns, other_mark};
use crate::queries::results::{ResultFilter, ResultOrder};
use crate::schema::sql_types::Bind;
use crate::schema::{marks, other_marks, people, results};

#[boxed]
impl Database {
    /// The marks of one result that count, in the order of the question keys.
    pub async fn list_marks(&self, result: ResultId) -> Result<Vec<Mark>, PersistenceError> {
        let query = marks::table
            .filter(marks::result_id.eq(Bind(result)))
            .order(marks::question);
        load_as!(self, query, SavedMarkColumns).await
    }

    /// The marks of several results that count, by result and then in the order of the question keys.
    /// A few thousand results at most.
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

    /// The marks of several results beside those that count, by result, question and moment. A few
    /// thousand results at most.
    pub async fn list_other_marks_of(
        &self,
        results: Vec<ResultId>,
    ) -> Result<Vec<Mark>, PersistenceError> {
        let results: Vec<_> = results.into_iter().map(Bind).collect();
        let query = other_marks::table
            .filter(other_marks::result_id.eq_any(results))
            .order((
                other_marks::result_id,
                other_marks::question,
                other_marks::marked_at,
                other_marks::marker,
            ))
            .select(other_mark());
        let found: Vec<SavedMarkColumns> = self.load(query).await?;
        found.into_iter().map(Mark::try_from).collect()
    }

    /// Up to `limit` results of a prism with a question, or this one, about which people differ and
    /// which nobody has settled, newest first.
    pub async fn list_disputed(
        &self,
        prism: PrismId,
        question: Option<&QuestionKey>,
        limit: u32,
    ) -> Result<Vec<ResultId>, PersistenceError> {
        let question = question.map(ToString::to_string);
        self.read(async move |mut connection| {
            let disputed = marks::table.on(marks::result_id
                .eq(other_marks::result_id)
                .and(marks::question.eq(other_marks::question)));
            let query = other_marks::table
                .inner_join(disputed)
                .filter(other_marks::prism_id.eq(Bind(prism)))
                .filter(other_marks::outcome.ne(marks::outcome))
                // where anybody settled it, the mark that counts did
                .filter(marks::marked_as.is_null())
                .order(other_marks::result_id.desc())
                .select(other_marks::result_id)
                .distinct()
                .limit(i64::from(limit));
            let found: Vec<ResultId> = match question {
                None => on!(connection, load(query))?,
                Some(question) => {
                    let query = query.filter(other_marks::question.eq(question));
                    on!(connection, load(query))?
                }
            };
            Ok(found)
        })
        .await
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
                // a double has these milliseconds exactly, and is faster than a numeric
                "coalesce(sum((date_part('epoch', marked_at) * 1000)::bigint % 1000000007), 0)::bigint"
            }
        };
        let watermark = || {
            (
                diesel::dsl::count_star(),
                diesel::dsl::sql::<diesel::sql_types::BigInt>(moments),
            )
        };
        self.read(async move |mut connection| {
            let query = marks::table.filter(marks::prism_id.eq(Bind(prism)));
            let counting: (i64, i64) = on!(connection, get_result(query.select(watermark())))?;
            let query = other_marks::table.filter(other_marks::prism_id.eq(Bind(prism)));
            let beside: (i64, i64) = on!(connection, get_result(query.select(watermark())))?;
            Ok((
                counting.0.saturating_add(beside.0),
                counting.1.saturating_add(beside.1),
            ))
        })
        .await
    }

    /// The keys of a prism's questions that have marks, in no order.
    pub async fn list_marked_questions(
        &self,
        prism: PrismId,
    ) -> Result<Vec<String>, PersistenceError> {
        let query = marks::table
            .filter(marks::prism_id.eq(Bind(prism)))
            .select(marks::question)
            .distinct();
        self.load(query).await
    }

    /// The newest result of a prism; `None` when it has none.
    pub async fn find_newest_result(
        &self,
        prism: PrismId,
    ) -> Result<Option<ResultId>, PersistenceError> {
        let query = results::table
            .filter(results::prism_id.eq(Bind(prism)))
            .order(results::id.desc())
            .select(results::id);
        self.find(query.limit(1)).await
    }

    /// How many results of a prism have a mark, for each question with marks.
    pub async fn count_marks(
        &self,
        prism: PrismId,
    ) -> Result<HashMap<QuestionKey, u64>, PersistenceError> {
        let query = marks::table
            .filter(marks::prism_id.eq(Bind(prism)))
            .group_by(marks::question)
            .select((marks::question, diesel::dsl::count_star()));
        let counted: Vec<(String, i64)> = self.load(query).await?;
        let counted = counted.into_iter().map(|(question, count)| {
            let column = "marks.question";
            let question = QuestionKey::parse(&question);
            let question = question.map_err(|_| PersistenceError::Unreadable { column })?;
            Ok((question, u64::try_from(count).unwrap_or_default()))
        });
        counted.collect()
    }

    /// How many results of a prism have a mark of a question that is a fair sample's. Reads all marks
    /// of the prism: 200,000 take some 0.1 s.
    pub async fn count_fair_marks(
        &self,
        prism: PrismId,
        question: &QuestionKey,
    ) -> Result<u64, PersistenceError> {
        let question = question.to_string();
        let sources = MarkSource::ALL
            .into_iter()
            .filter(|source| source.is_fair());
        let sources: Vec<_> = sources.map(MarkSource::name).collect();
        self.read(async move |mut connection| {
            let query = marks::table
                .filter(marks::prism_id.eq(Bind(prism)))
                .filter(marks::question.eq(question))
                .filter(marks::source.eq_any(sources))
                .count();
            let count: i64 = on!(connection, get_result(query))?;
            Ok(u64::try_from(count).unwrap_or_default())
        })
        .await
    }

    /// When each of these people marked last, among the marks that count and among the others, and
    /// results of which prism, the latest last. Two queries.
    pub async fn list_last_marks(
        &self,
        people: &[PersonId],
    ) -> Result<Vec<(PersonId, LastMark)>, PersistenceError> {
        type Last = (PersonId, Option<PrismId>, Option<DateTime<Utc>>);
        let of = people.iter().copied().map(Bind).collect::<Vec<_>>();
        let of = people::table.filter(people::id.eq_any(of));
        let newest = marks::table
            .filter(marks::person_id.eq(people::id.nullable()))
            .order(marks::marked_at.desc())
            .limit(1);
        let of_marks = of.clone().select((
            people::id,
            newest.select(marks::prism_id).single_value(),
            newest.select(marks::marked_at).single_value(),
        ));
        let newest = other_marks::table
            .filter(other_marks::person_id.eq(people::id.nullable()))
            .order(other_marks::marked_at.desc())
            .limit(1);
        let of_other_marks = of.select((
            people::id,
            newest.select(other_marks::prism_id).single_value(),
            newest.select(other_marks::marked_at).single_value(),
        ));
        self.read(async move |mut connection| {
            let mut last: Vec<Last> = on!(connection, load(of_marks))?;
            let beside: Vec<Last> = on!(connection, load(of_other_marks))?;
            last.extend(beside);
            last.sort_by_key(|(_, _, at)| *at);
            let last = last.into_iter();
            let last = last.filter_map(|(person, prism, at)| {
                let (prism, at) = prism.zip(at)?;
                Some((person, LastMark { prism, at }))
            });
            Ok(last.collect())
        })
        .await
    }

    /// How many marks of a prism each person made, those that settle disagreements apart, in no
    /// particular order. A person who was named otherwise before comes several times.
    pub async fn count_marks_of_people(
        &self,
        prism: PrismId,
    ) -> Result<Vec<MarksOfPerson>, PersistenceError> {
        self.read(async move |mut connection| {
            type Counted = (Option<PersonId>, Option<String>, Option<String>, i64);
            let of_marks = marks::table
                .filter(marks::prism_id.eq(Bind(prism)))
                .group_by((marks::person_id, marks::marked_by, marks::marked_as))
                .select((
                    marks::person_id,
                    marks::marked_by,
                    marks::marked_as,
                    diesel::dsl::count_star(),
                ));
            let of_other_marks = other_marks::table
                .filter(other_marks::prism_id.eq(Bind(prism)))
                .group_by((
                    other_marks::person_id,
                    other_marks::marked_by,
                    other_marks::marked_as,
                ))
                .select((
                    other_marks::person_id,
                    other_marks::marked_by,
                    other_marks::marked_as,
                    diesel::dsl::count_star(),
                ));
            let mut counted: Vec<Counted> = on!(connection, load(of_marks))?;
            let beside: Vec<Counted> = on!(connection, load(of_other_marks))?;
            counted.extend(beside);
            let counted = counted.into_iter();
            let people = counted.map(|(person, name, marked_as, count)| MarksOfPerson {
                by: Annotator {
                    person,
                    name: name.map(Marker::saved),
                },
                is_adjudicated: marked_as.is_some(),
                count: u64::try_from(count).unwrap_or_default(),
            });
            Ok(people.collect())
        })
        .await
    }
}

/// When somebody marked results of a prism last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastMark {
    /// The prism.
    pub prism: PrismId,
    /// When.
    pub at: DateTime<Utc>,
}

/// How many marks of one kind a person made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarksOfPerson {
    /// The person.
    pub by: Annotator,
    /// Whether the marks settle disagreements.
    pub is_adjudicated: bool,
    /// Number of marks.
    pub count: u64,
}
