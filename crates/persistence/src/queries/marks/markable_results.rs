//! What an import of marks looks up: existing results and the versions that answered them.

use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::ids::{AccountId, PrismId, ResultId};
use refract_domain::prism::VersionNumber;
use refract_domain::submission::Ref;

use crate::connections::load_as;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::results::lists::filter::ResultFilter;
use crate::queries::results::lists::query::{ResultOrder, ResultQuery};
use crate::schema::results;
use crate::schema::stored::Stored;

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
