//! Looks up which rows of a file run already have a result.

use std::collections::HashSet;

use diesel::prelude::*;
use refract_domain::ids::{AccountId, PrismId};
use refract_domain::result::SavedResult;
use refract_domain::submission::reference::IdempotencyKey;

use crate::connections::on;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::results::lists::filter::ResultFilter;
use crate::queries::results::lists::query::ResultQuery;
use crate::queries::results::row::ResultColumns;
use crate::schema::sql_types::Bind;
use crate::schema::{prisms, results};

/// The saved results of some rows of a file run.
#[derive(Clone, Debug)]
pub struct HeldRows {
    /// Whether the prism exists and is not archived.
    pub prism_answers: bool,
    /// The results that hold one of the keys, in no particular order.
    pub held: Vec<SavedResult>,
}

impl Database {
    /// Finds the results of the account that hold one of these keys, and whether the prism still
    /// answers. Two queries for any number of keys; pass a few hundred at most.
    pub async fn find_held_rows(
        &self,
        account: AccountId,
        prism: PrismId,
        keys: &[IdempotencyKey],
    ) -> Result<HeldRows, PersistenceError> {
        let of_keys = ResultQuery::of_account(account).with_keys(keys);
        self.read(async move |mut connection| {
            let query = prisms::table
                .find(Bind(prism))
                .select(prisms::archived_at.is_null());
            let answers: Option<bool> = on!(connection, get_result(query)).optional()?;
            let found: Vec<ResultColumns> =
                on!(connection, load(of_keys.statement()) as ResultColumns)?;
            let held = found.into_iter().map(SavedResult::try_from);
            Ok(HeldRows {
                prism_answers: answers.unwrap_or(false),
                held: held.collect::<Result<_, _>>()?,
            })
        })
        .await
    }

    /// Finds which of these keys hold an answered result of the account. One query for any number
    /// of keys, without loading a result; pass a few hundred keys at most.
    pub async fn find_answered_keys(
        &self,
        account: AccountId,
        keys: &[IdempotencyKey],
    ) -> Result<HashSet<IdempotencyKey>, PersistenceError> {
        let query = ResultQuery {
            filter: ResultFilter {
                is_ok: Some(true),
                ..ResultFilter::default()
            },
            ..ResultQuery::of_account(account).with_keys(keys)
        };
        self.read(async move |mut connection| {
            let found: Vec<Option<String>> = on!(
                connection,
                load(query.statement().select(results::idempotency_key))
            )?;
            let keys = found.into_iter().flatten();
            Ok(keys.map(IdempotencyKey::saved).collect())
        })
        .await
    }
}
