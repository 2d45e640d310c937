//! What an API call needs to know before it is decided: one query for each kind of call.

use diesel::prelude::*;
use refract_domain::api_key::ApiKeyHash;
use refract_domain::ids::{AccountId, ApiKeyId, ResultId};
use refract_domain::reference::IdempotencyKey;
use refract_domain::result::SavedResult;
use refract_domain::slug::PrismSelector;

use crate::connections::{StatementText, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::prism_row::{PrismColumns, PrismRow};
use crate::queries::result_row::ResultColumns;
use crate::queries::results::{FoundResult, RETRIES};
use crate::schema::sql_types::Bind;
use crate::schema::{api_keys, prisms, results};

/// The API key of a call, looked up together with what the call concerns.
#[derive(Clone, Copy, Debug, Queryable, Selectable)]
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

type CreateCallColumns = (KeyRow, Option<PrismColumns>, Option<ResultColumns>);

type ResultCallColumns = (
    KeyRow,
    Option<ResultColumns>,
    Option<PrismColumns>,
    Option<ResultId>,
);

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
        static BY_ID: StatementText = StatementText::new();
        static BY_SLUG: StatementText = StatementText::new();
        let (hash, prism) = (key.0.to_vec(), prism.clone());
        let idempotency_key = idempotency_key.map(|key| key.as_str().to_owned());
        self.read(async move |mut connection| {
            let of_account = prisms::account_id.eq(api_keys::account_id);
            // without an idempotency key it compares with NULL, which no result equals
            let is_held = results::account_id
                .eq(api_keys::account_id)
                .and(results::idempotency_key.eq(idempotency_key))
                .assume_not_null();
            let found: QueryResult<CreateCallColumns> = match prism {
                PrismSelector::Id(id) => {
                    let is_selected = of_account.and(prisms::id.eq(Bind(id)));
                    let query = api_keys::table
                        .left_join(prisms::table.on(is_selected))
                        .left_join(results::table.on(is_held))
                        .filter(api_keys::hash.eq(hash));
                    on!(connection, get_result(query.select(CreateCallColumns::as_select())), text: BY_ID)
                }
                PrismSelector::Slug(slug) => {
                    let is_selected = of_account.and(prisms::slug.eq(slug));
                    let query = api_keys::table
                        .left_join(prisms::table.on(is_selected))
                        .left_join(results::table.on(is_held))
                        .filter(api_keys::hash.eq(hash));
                    on!(connection, get_result(query.select(CreateCallColumns::as_select())), text: BY_SLUG)
                }
            };
            let Some((key, prism, held)) = found.optional()? else {
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
        static TEXT: StatementText = StatementText::new();
        let hash = key.0.to_vec();
        self.read(async move |mut connection| {
            let of_account = results::account_id.eq(api_keys::account_id);
            let query = api_keys::table
                .left_join(results::table.on(of_account.and(results::id.eq(Bind(result)))))
                .left_join(prisms::table.on(prisms::id.nullable().eq(results::prism_id.nullable())))
                .left_join(RETRIES.on(RETRIES.field(results::retry_of).eq(results::id.nullable())))
                .filter(api_keys::hash.eq(hash));
            let found: QueryResult<ResultCallColumns> = on!(connection, get_result(query.select((
                KeyRow::as_select(),
                Option::<ResultColumns>::as_select(),
                Option::<PrismColumns>::as_select(),
                RETRIES.field(results::id).nullable(),
            ))), text: TEXT);
            let Some((key, result, prism, retried_as)) = found.optional()? else {
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
