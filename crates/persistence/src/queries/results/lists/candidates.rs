//! Candidates: results that an index finds for a search, with the columns that decide whether they
//! match, and without their texts.
//!
//! A random sample of a prism's results, in a random order.
//!
//! The last 32 bits of a result's id are random and independent of everything else, so that their
//! order is a random order of the results, however these are spread over time. An index holds the
//! first sixteenth of it.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use diesel::backend::Backend;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Bool};
use diesel::sqlite::Sqlite;
use refract_boxed_futures::boxed;
use refract_domain::answer::Answers;
use refract_domain::ids::{AccountId, FileRunId, PrismId, ResultId};
use refract_domain::prism::VersionNumber;
use refract_domain::result::ResultActor;
use refract_domain::submission::Ref;

use crate::connections::{CUSTOM_PLAN, load_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::results::lists::candidate_range::CandidateRange;
use crate::queries::results::lists::query::{ResultFilter, ResultOrder, ResultQuery};
use crate::queries::results::{ResultActorRow, saved_answers};
use crate::schema::results;
use crate::schema::sql_types::Bind;
use crate::schema::stored::Stored;

/// A result that an index found for a search.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = results)]
pub struct SearchCandidate {
    /// The result's id.
    pub id: ResultId,
    /// Number of the version that was asked.
    #[diesel(deserialize_as = Stored<results::version>)]
    pub version: VersionNumber,
    /// When the result was saved.
    pub created_at: DateTime<Utc>,
    /// Who made the result.
    #[diesel(select_expression = (results::api_key_id, results::made_by))]
    #[diesel(deserialize_as = ResultActorRow)]
    pub actor: ResultActor,
    reference: Option<String>,
    #[diesel(column_name = model_name)]
    model: Option<String>,
    #[diesel(column_name = file_run_id)]
    run: Option<FileRunId>,
    /// The answers as unparsed JSON, since most searches need none of them; `None` for a failed
    /// result.
    answers: Option<String>,
}

impl SearchCandidate {
    /// Whether the result's status is `ok`.
    pub fn is_ok(&self) -> bool {
        self.answers.is_some()
    }

    /// Whether the result matches a filter, apart from two conditions: the period, which candidates
    /// of the filter meet already, and whether the result was retried, which another row shows
    /// ([`Database::list_retries`]).
    pub fn meets(&self, filter: &ResultFilter) -> bool {
        let is_ok = self.is_ok();
        let reference = filter.reference.as_ref().map(Ref::as_str);
        filter.is_ok.is_none_or(|wanted| wanted == is_ok)
            && (filter.is_retried.is_none() || !is_ok)
            && filter.version.is_none_or(|wanted| wanted == self.version)
            && (filter.model.is_none() || filter.model == self.model)
            && (reference.is_none() || reference == self.reference.as_deref())
            && filter.actor.is_none_or(|wanted| wanted == self.actor)
            && (filter.run.is_none() || filter.run == self.run)
            && filter
                .is_of_run
                .is_none_or(|wanted| wanted == self.run.is_some())
    }

    /// The answers; `None` for a failed result.
    ///
    /// # Errors
    /// When the saved answers cannot be read.
    pub fn answers(&self) -> Result<Option<Answers>, PersistenceError> {
        let answers = self.answers.as_deref();
        answers.map(|json| saved_answers(Some(json))).transpose()
    }
}

#[boxed]
impl Database {
    /// Up to `limit` results that [one index](ResultFilter::by_index) finds for a filter, in this
    /// order after `last`. [`SearchCandidate::meets`] checks the rest of the filter.
    pub async fn list_candidates(
        &self,
        account: AccountId,
        prism: PrismId,
        filter: &ResultFilter,
        order: ResultOrder,
        last: Option<ResultId>,
        limit: u32,
    ) -> Result<Vec<SearchCandidate>, PersistenceError> {
        let range = CandidateRange::new(account, prism, filter, order, last);
        let limit = i64::from(limit);
        self.read(async move |mut connection| {
            let found = on!(
                connection,
                CUSTOM_PLAN,
                load(range.query().limit(limit)) as SearchCandidate
            );
            Ok(found?)
        })
        .await
    }

    /// Finds the candidates among these results of an account that match a filter, in this order. A
    /// few thousand ids at most.
    pub async fn find_candidates(
        &self,
        account: AccountId,
        ids: Vec<ResultId>,
        filter: ResultFilter,
        order: ResultOrder,
    ) -> Result<Vec<SearchCandidate>, PersistenceError> {
        let query = ResultQuery {
            filter,
            ..ResultQuery::of_account(account)
        };
        let query = query.with_ids(ids).ordered(order);
        load_as!(self, query.statement(), SearchCandidate).await
    }

    /// Up to `limit` ids that [one index](ResultFilter::by_index) finds for a filter, newest first.
    pub async fn list_candidate_ids(
        &self,
        account: AccountId,
        prism: PrismId,
        filter: &ResultFilter,
        limit: u32,
    ) -> Result<Vec<ResultId>, PersistenceError> {
        let newest_first = ResultOrder::NewestFirst;
        let range = CandidateRange::new(account, prism, filter, newest_first, None);
        let limit = i64::from(limit);
        self.read(async move |mut connection| {
            let found = on!(
                connection,
                CUSTOM_PLAN,
                load(range.query().limit(limit).select(results::id))
            );
            Ok(found?)
        })
        .await
    }

    /// Finds which of these results have field values that match each of these patterns of `LIKE`.
    /// The patterns are compared with the fields as JSON, keys included, in lower case: a match
    /// may be none for the texts themselves. A few thousand ids at most.
    pub async fn find_like(
        &self,
        ids: Vec<ResultId>,
        patterns: Vec<String>,
    ) -> Result<HashSet<ResultId>, PersistenceError> {
        let query = ResultQuery {
            patterns,
            ids: Some(ids),
            ..ResultQuery::default()
        };
        self.read(async move |mut connection| {
            let found: Vec<ResultId> =
                on!(connection, load(query.statement().select(results::id)))?;
            Ok(found.into_iter().collect())
        })
        .await
    }

    /// Finds which of these results were retried, each with its retry. A few thousand ids at most.
    pub async fn list_retries(
        &self,
        ids: Vec<ResultId>,
    ) -> Result<HashMap<ResultId, ResultId>, PersistenceError> {
        let ids: Vec<_> = ids.into_iter().map(Some).collect();
        let query = results::table
            .filter(results::retry_of.eq_any(ids))
            .select((results::retry_of.assume_not_null(), results::id));
        let found: Vec<(ResultId, ResultId)> = self.load(query).await?;
        Ok(found.into_iter().collect())
    }
}

/// A part of the sample of a prism's results.
struct SampleRange {
    account: AccountId,
    prism: PrismId,
    /// Random bits above these.
    after: Option<Vec<u8>>,
    limit: u32,
}

/// A database that has the index of the sample.
trait SampleBackend: Backend {
    /// The statement, without columns. It orders by the random bits of the ids as the index of the
    /// database has them.
    fn query(range: SampleRange) -> results::BoxedQuery<'static, Self>;
}

#[cfg(feature = "postgres")]
impl SampleBackend for diesel::pg::Pg {
    fn query(range: SampleRange) -> results::BoxedQuery<'static, Self> {
        let bits = "substring(uuid_send(results.id) FROM 13)";
        // compared as an element, since the planner drops a constant from the order, and then other
        // indexes would fit too
        let query = ResultQuery::of_account(range.account).statement::<Self>();
        let query = query
            .filter(results::prism_id.eq_any(vec![Bind(range.prism)]))
            .filter(sql::<Bool>(&format!("{bits} < '\\x10'::bytea")));
        let query = match range.after {
            None => query,
            Some(after) => {
                query.filter(sql::<Bool>(&format!("{bits} > ")).bind::<Binary, _>(after))
            }
        };
        let order = format!("results.prism_id, {bits}");
        query.order(sql::<Bool>(&order)).limit(range.limit.into())
    }
}

impl SampleBackend for Sqlite {
    fn query(range: SampleRange) -> results::BoxedQuery<'static, Self> {
        let bits = "substr(results.id, 13)";
        let query = ResultQuery::of_account(range.account).statement::<Self>();
        let query = query
            .filter(results::prism_id.eq(Bind(range.prism)))
            .filter(sql::<Bool>(&format!("{bits} < x'10'")));
        let query = match range.after {
            None => query,
            Some(after) => {
                query.filter(sql::<Bool>(&format!("{bits} > ")).bind::<Binary, _>(after))
            }
        };
        query.order(sql::<Bool>(bits)).limit(range.limit.into())
    }
}

#[boxed]
impl Database {
    /// Up to `limit` results of the sample after the given one, in the sample's order: by the
    /// [random bits](ResultId::random_bits) of the ids.
    pub async fn list_sample(
        &self,
        account: AccountId,
        prism: PrismId,
        after: Option<ResultId>,
        limit: u32,
    ) -> Result<Vec<SearchCandidate>, PersistenceError> {
        let range = SampleRange {
            account,
            prism,
            after: after.map(|id| id.random_bits().to_be_bytes().to_vec()),
            limit,
        };
        self.read(async move |mut connection| {
            let found = on!(
                connection,
                CUSTOM_PLAN,
                load(SampleBackend::query(range)) as SearchCandidate
            );
            Ok(found?)
        })
        .await
    }
}
