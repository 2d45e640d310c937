//! A random sample of a prism's results, in a random order.
//!
//! The last 32 bits of a result's id are random and independent of everything else, so that their
//! order is a random order of the results, however these are spread over time. An index holds the
//! first sixteenth of it.

use diesel::backend::Backend;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Bool};
use diesel::sqlite::Sqlite;
use refract_boxed_futures::boxed;
use refract_domain::ids::{AccountId, PrismId, ResultId};

use crate::connections::{CUSTOM_PLAN, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::results::lists::candidates::SearchCandidate;
use crate::queries::results::lists::query::ResultQuery;
use crate::schema::results;
use crate::schema::sql_types::Bind;

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
