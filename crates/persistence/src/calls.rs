//! What an API call needs to know before it is decided: one query each.

use diesel::prelude::*;
use refract_domain::api_key::ApiKeyHash;
use refract_domain::ids::{AccountId, ApiKeyId, ResultId};
use refract_domain::reference::IdempotencyKey;
use refract_domain::result::SavedResult;
use refract_domain::slug::PrismSelector;

use crate::database::Database;
use crate::error::PersistenceError;
use crate::prisms::{PrismColumns, PrismRow};
use crate::result_columns::ResultColumns;
use crate::results::{FoundResult, RETRIES};
use crate::schema::{api_keys, prisms, results};
use crate::sql_types::Bind;

/// The API key of a call, as it is looked up with what the call concerns.
#[derive(Clone, Copy, Debug, Queryable)]
pub struct KeyRow {
    /// The key's id.
    pub id: ApiKeyId,
    /// The account that the key opens.
    pub account: AccountId,
    /// Whether the key was revoked and no longer opens anything.
    pub is_revoked: bool,
}

/// What a create call concerns.
#[derive(Clone, Debug)]
pub struct CreateCallRow {
    /// The key that was sent.
    pub key: KeyRow,
    /// The prism of the account that was selected, archived or not.
    pub prism: Option<PrismRow>,
    /// The result of the account that holds the idempotency key.
    pub held: Option<SavedResult>,
}

/// What a read or a retry concerns.
#[derive(Clone, Debug)]
pub struct ResultCallRow {
    /// The key that was sent.
    pub key: KeyRow,
    /// The result of the account that the call names.
    pub result: Option<FoundResult>,
}

type ResultCallColumns = (
    KeyRow,
    Option<ResultColumns>,
    Option<PrismColumns>,
    Option<ResultId>,
);

/// The query of a create call, for one way of selecting a prism: with what holds the idempotency
/// key, or without looking for that where there is no key.
macro_rules! create_call {
    ($connection:expr, $hash:expr, $selected:expr, $idempotency_key:expr) => {{
        let of_account = prisms::account_id.eq(api_keys::account_id);
        let query = api_keys::table
            .left_join(prisms::table.on(of_account.and($selected)))
            .filter(api_keys::hash.eq($hash));
        let key = (
            api_keys::id,
            api_keys::account_id,
            api_keys::revoked_at.is_not_null(),
        );
        match $idempotency_key {
            None => {
                let found: QueryResult<(KeyRow, Option<PrismColumns>)> = on_hot!(
                    $connection,
                    get_result(query.select((key, Option::<PrismColumns>::as_select())))
                );
                found.map(|(key, prism)| (key, prism, None))
            }
            Some(idempotency_key) => {
                let holds_key = results::account_id
                    .eq(api_keys::account_id)
                    .and(results::idempotency_key.eq(idempotency_key));
                let query = query.left_join(results::table.on(holds_key.assume_not_null()));
                on_hot!(
                    $connection,
                    get_result(query.select((
                        key,
                        Option::<PrismColumns>::as_select(),
                        Option::<ResultColumns>::as_select(),
                    )))
                )
            }
        }
        .optional()
    }};
}

impl Database {
    /// Everything that a create call needs before the model is asked; `None` for an unknown key.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn find_create_call(
        &self,
        key: &ApiKeyHash,
        prism: &PrismSelector,
        idempotency_key: Option<&IdempotencyKey>,
    ) -> Result<Option<CreateCallRow>, PersistenceError> {
        let (database, hash, prism) = (self.clone(), key.0.to_vec(), prism.clone());
        let idempotency_key = idempotency_key.map(|key| key.as_str().to_owned());
        self.run_reading(async move {
            let mut connection = database.reader_of_thread().await?;
            let found: Option<(KeyRow, Option<PrismColumns>, Option<ResultColumns>)> = match prism {
                PrismSelector::Id(id) => {
                    create_call!(connection, hash, prisms::id.eq(Bind(id)), idempotency_key)?
                }
                PrismSelector::Slug(slug) => {
                    create_call!(connection, hash, prisms::slug.eq(slug), idempotency_key)?
                }
            };
            let Some((key, prism, held)) = found else {
                return Ok(None);
            };
            let prism = prism.map(PrismRow::try_from).transpose()?;
            let held = held.map(SavedResult::try_from).transpose()?;
            Ok(Some(CreateCallRow { key, prism, held }))
        })
        .await
    }

    /// Everything that a read or a retry needs; `None` for an unknown key.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn find_result_call(
        &self,
        key: &ApiKeyHash,
        result: ResultId,
    ) -> Result<Option<ResultCallRow>, PersistenceError> {
        let (database, hash) = (self.clone(), key.0.to_vec());
        self.run_reading(async move {
            let mut connection = database.reader_of_thread().await?;
            let of_account = results::account_id.eq(api_keys::account_id);
            let query = api_keys::table
                .left_join(results::table.on(of_account.and(results::id.eq(Bind(result)))))
                .left_join(prisms::table.on(prisms::id.nullable().eq(results::prism_id.nullable())))
                .left_join(RETRIES.on(RETRIES.field(results::retry_of).eq(results::id.nullable())))
                .filter(api_keys::hash.eq(hash));
            let found: Option<ResultCallColumns> = on_hot!(
                connection,
                get_result(query.select((
                    (
                        api_keys::id,
                        api_keys::account_id,
                        api_keys::revoked_at.is_not_null()
                    ),
                    Option::<ResultColumns>::as_select(),
                    Option::<PrismColumns>::as_select(),
                    RETRIES.field(results::id).nullable(),
                )))
            )
            .optional()?;
            let Some((key, result, prism, retried_as)) = found else {
                return Ok(None);
            };
            let result = match (result, prism) {
                (Some(result), Some(prism)) => Some(FoundResult {
                    result: result.try_into()?,
                    prism: prism.try_into()?,
                    retried_as,
                }),
                _ => None,
            };
            Ok(Some(ResultCallRow { key, result }))
        })
        .await
    }
}
