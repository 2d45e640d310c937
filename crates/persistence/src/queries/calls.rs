//! The rows that an API call needs for its checks: one query for each kind of call.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::account::{ApiKeyHash, KeyNetworks};
use refract_domain::ids::{AccountId, ApiKeyId, ResultId};
use refract_domain::prism::PrismSelector;
use refract_domain::result::SavedResult;
use refract_domain::submission::IdempotencyKey;
use refract_traces::StatementName;

use crate::connections::{StatementText, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::prisms::row::Prism;
use crate::queries::results::ResultColumns;
use crate::queries::results::find::FoundResult;
use crate::schema::sql_types::Bind;
use crate::schema::stored::Stored;
use crate::schema::{api_keys, prisms, results};

const OF_CREATE: StatementName = StatementName {
    operation: "SELECT",
    summary: "SELECT api_keys prisms",
};
const OF_CREATE_WITH_KEY: StatementName = StatementName {
    operation: "SELECT",
    summary: "SELECT api_keys prisms results",
};
const OF_RESULT: StatementName = StatementName {
    operation: "SELECT",
    summary: "SELECT api_keys results prisms",
};

/// The API key of a call, as looked up together with the other rows of the call.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = api_keys)]
pub struct KeyRow {
    /// The key's id.
    pub id: ApiKeyId,
    /// The account that the key opens.
    #[diesel(column_name = account_id)]
    pub account: AccountId,
    /// Whether the key was revoked and no longer opens anything.
    #[diesel(select_expression = api_keys::revoked_at.is_not_null())]
    pub is_revoked: bool,
    /// The networks from which the key is accepted; `None` for any.
    #[diesel(deserialize_as = Stored<api_keys::networks>)]
    pub networks: Option<KeyNetworks>,
}

/// The rows that a create call needs.
#[derive(Clone, Debug)]
pub struct CreateCallRow {
    /// The key that was sent.
    pub key: KeyRow,
    /// The selected prism of the account, archived or not.
    pub prism: Option<Prism>,
    /// The result of the account that holds the idempotency key. Boxed, because few calls find one.
    pub held: Option<Box<SavedResult>>,
}

/// The rows that a read or a retry needs.
#[derive(Clone, Debug)]
pub struct ResultCallRow {
    /// The key that was sent.
    pub key: KeyRow,
    /// The result that the call names, if it is in the account.
    pub result: Option<FoundResult>,
}

type CreateCallColumns = (KeyRow, Option<Prism>, Option<ResultColumns>);

/// The columns of a create call that has no idempotency key.
type WithoutHeld = (KeyRow, Option<Prism>);

type ResultCallColumns = (KeyRow, Option<ResultColumns>, Option<Prism>);

#[boxed]
impl Database {
    /// Finds everything that a create call needs before the model is asked; `None` for an unknown
    /// or expired key. A call without an idempotency key skips the look-up of the key's holder.
    pub async fn find_create_call(
        &self,
        key: &ApiKeyHash,
        prism: &PrismSelector,
        idempotency_key: Option<&IdempotencyKey>,
        now: DateTime<Utc>,
    ) -> Result<Option<CreateCallRow>, PersistenceError> {
        static BY_ID: StatementText = StatementText::new();
        static BY_ID_WITH_KEY: StatementText = StatementText::new();
        static BY_SLUG: StatementText = StatementText::new();
        static BY_SLUG_WITH_KEY: StatementText = StatementText::new();
        let (hash, prism) = (key.bytes().to_vec(), prism.clone());
        let idempotency_key = idempotency_key.map(|key| key.as_str().to_owned());
        let name = match idempotency_key {
            None => &OF_CREATE,
            Some(_) => &OF_CREATE_WITH_KEY,
        };
        let reading = self.read(async move |mut connection| {
            let callers = api_keys::table
                .filter(api_keys::hash.eq(hash))
                .filter(has_not_ended(now));
            let of_account = prisms::account_id.eq(api_keys::account_id);
            let by_id = |id| prisms::table.on(of_account.and(prisms::id.eq(Bind(id))));
            let by_slug = |slug| prisms::table.on(of_account.and(prisms::slug.eq(slug)));
            let held = |key: String| {
                let of_account = results::account_id.eq(api_keys::account_id);
                let holds = of_account.and(results::idempotency_key.eq(Some(key)));
                results::table.on(holds.assume_not_null())
            };
            let unheld = |(key, prism): WithoutHeld| (key, prism, None);
            let found: QueryResult<CreateCallColumns> = match (prism, idempotency_key) {
                (PrismSelector::Id(id), None) => {
                    let query = callers.left_join(by_id(id));
                    let found = on!(connection, BY_ID, get_result(query) as WithoutHeld);
                    found.map(unheld)
                }
                (PrismSelector::Id(id), Some(key)) => {
                    let query = callers.left_join(by_id(id)).left_join(held(key));
                    on!(
                        connection,
                        BY_ID_WITH_KEY,
                        get_result(query) as CreateCallColumns
                    )
                }
                (PrismSelector::Slug(slug), None) => {
                    let query = callers.left_join(by_slug(slug));
                    let found = on!(connection, BY_SLUG, get_result(query) as WithoutHeld);
                    found.map(unheld)
                }
                (PrismSelector::Slug(slug), Some(key)) => {
                    let query = callers.left_join(by_slug(slug)).left_join(held(key));
                    on!(
                        connection,
                        BY_SLUG_WITH_KEY,
                        get_result(query) as CreateCallColumns
                    )
                }
            };
            let Some((key, prism, held)) = found.optional()? else {
                return Ok(None);
            };
            let held = held.map(SavedResult::try_from).transpose()?;
            let held = held.map(Box::new);
            Ok(Some(CreateCallRow { key, prism, held }))
        });
        self.named(name, reading).await
    }

    /// Finds everything that a read or a retry needs; `None` for an unknown or expired key.
    pub async fn find_result_call(
        &self,
        key: &ApiKeyHash,
        result: ResultId,
        now: DateTime<Utc>,
    ) -> Result<Option<ResultCallRow>, PersistenceError> {
        static TEXT: StatementText = StatementText::new();
        let hash = key.bytes().to_vec();
        let reading = self.read(async move |mut connection| {
            let of_account = results::account_id.eq(api_keys::account_id);
            let query = api_keys::table
                .left_join(results::table.on(of_account.and(results::id.eq(Bind(result)))))
                .left_join(prisms::table.on(prisms::id.nullable().eq(results::prism_id.nullable())))
                .filter(api_keys::hash.eq(hash))
                .filter(has_not_ended(now));
            let found: QueryResult<ResultCallColumns> =
                on!(connection, TEXT, get_result(query) as ResultCallColumns);
            let Some((key, result, prism)) = found.optional()? else {
                return Ok(None);
            };
            let found = result.zip(prism).map(FoundResult::try_from);
            let result = found.transpose()?;
            Ok(Some(ResultCallRow { key, result }))
        });
        self.named(&OF_RESULT, reading).await
    }
}

/// Whether a key has not expired. A key without an end never expires.
#[diesel::dsl::auto_type(no_type_alias)]
fn has_not_ended(now: DateTime<Utc>) -> _ {
    let now: Option<DateTime<Utc>> = Some(now);
    api_keys::expires_at
        .is_null()
        .or(api_keys::expires_at.gt(now))
}
