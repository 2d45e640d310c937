//! What an import of marks looks up: which results there are, and which versions answered them.

use diesel::prelude::*;
use refract_domain::ids::{AccountId, PrismId, ResultId};
use refract_domain::prism::VersionNumber;
use refract_domain::reference::Ref;

use crate::connections::on;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::schema::results;
use crate::schema::sql_types::Bind;

/// What decides whether a result can be marked, and with which outcomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkableResult {
    /// The result's id.
    pub id: ResultId,
    /// The caller's own reference.
    pub reference: Option<Ref>,
    /// Number of the version that was asked.
    pub version: VersionNumber,
    /// Whether the result's status is `ok`; a failed result has no answers to mark.
    pub is_ok: bool,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = results)]
struct MarkableColumns {
    id: ResultId,
    reference: Option<String>,
    version: i32,
    status: String,
}

impl TryFrom<MarkableColumns> for MarkableResult {
    type Error = PersistenceError;

    fn try_from(columns: MarkableColumns) -> Result<Self, PersistenceError> {
        let version = VersionNumber::new(columns.version);
        Ok(Self {
            id: columns.id,
            reference: columns.reference.map(Ref::saved),
            version: version.ok_or(PersistenceError::Unreadable {
                column: "results.version",
            })?,
            is_ok: columns.status == "ok",
        })
    }
}

impl Database {
    /// Those of these results that are the prism's, in no particular order. Some thousands of ids at
    /// most.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn find_markable_results(
        &self,
        account: AccountId,
        prism: PrismId,
        ids: Vec<ResultId>,
    ) -> Result<Vec<MarkableResult>, PersistenceError> {
        let ids: Vec<_> = ids.into_iter().map(Bind).collect();
        self.read(async move |mut connection| {
            let query = results::table
                .filter(results::account_id.eq(Bind(account)))
                .filter(results::prism_id.eq(Bind(prism)))
                .filter(results::id.eq_any(ids));
            let found: Vec<MarkableColumns> =
                on!(connection, load(query.select(MarkableColumns::as_select())))?;
            found.into_iter().map(MarkableResult::try_from).collect()
        })
        .await
    }

    /// Up to `limit` results of a prism that have a `ref`, after the one named, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list_results_with_ref(
        &self,
        account: AccountId,
        prism: PrismId,
        after: Option<ResultId>,
        limit: u32,
    ) -> Result<Vec<MarkableResult>, PersistenceError> {
        let after = after.unwrap_or(ResultId(uuid::Uuid::nil()));
        self.read(async move |mut connection| {
            let query = results::table
                .filter(results::account_id.eq(Bind(account)))
                .filter(results::prism_id.eq(Bind(prism)))
                .filter(results::id.gt(Bind(after)))
                .filter(results::reference.is_not_null())
                .order(results::id)
                .limit(i64::from(limit));
            let found: Vec<MarkableColumns> =
                on!(connection, load(query.select(MarkableColumns::as_select())))?;
            found.into_iter().map(MarkableResult::try_from).collect()
        })
        .await
    }
}
