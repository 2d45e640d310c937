//! Names of the actors and targets of events, and look-ups by name. Events hold only ids.

use diesel::prelude::*;
use refract_domain::ids::{AccountId, ApiKeyId, PersonId, PrismId};

use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::schema::sql_types::Bind;
use crate::schema::{accounts, api_keys, people, prisms};

/// The names of a prism.
#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
pub struct PrismNameRow {
    /// The prism's id.
    pub id: PrismId,
    /// Unique in the account.
    pub slug: String,
    /// Display name.
    pub name: String,
}

impl Database {
    /// The names of these prisms of the account, in no particular order. A few hundred ids at most.
    pub async fn list_prism_names(
        &self,
        account: AccountId,
        wanted: &[PrismId],
    ) -> Result<Vec<PrismNameRow>, PersistenceError> {
        let ids: Vec<_> = wanted.iter().copied().map(Bind).collect();
        let query = prisms::table
            .filter(prisms::account_id.eq(Bind(account)))
            .filter(prisms::id.eq_any(ids))
            .select((prisms::id, prisms::slug, prisms::name));
        self.load(query).await
    }

    /// The labels of these keys of the account, revoked ones included, in no particular order. A
    /// few hundred ids at most.
    pub async fn list_key_names(
        &self,
        account: AccountId,
        wanted: &[ApiKeyId],
    ) -> Result<Vec<(ApiKeyId, String)>, PersistenceError> {
        let ids: Vec<_> = wanted.iter().copied().map(Bind).collect();
        let query = api_keys::table
            .filter(api_keys::account_id.eq(Bind(account)))
            .filter(api_keys::id.eq_any(ids))
            .select((api_keys::id, api_keys::name));
        self.load(query).await
    }

    /// The name of an account.
    pub async fn find_account_name(
        &self,
        account: AccountId,
    ) -> Result<Option<String>, PersistenceError> {
        let query = accounts::table.find(Bind(account)).select(accounts::name);
        self.find(query).await
    }

    /// The people of the account who have or had this address, removed ones included.
    pub async fn list_people_of_email(
        &self,
        account: AccountId,
        email: &str,
    ) -> Result<Vec<PersonId>, PersistenceError> {
        let email = email.to_owned();
        let query = people::table
            .filter(people::account_id.eq(Bind(account)))
            .filter(people::email.eq(email))
            .order(people::id)
            .select(people::id);
        self.load(query).await
    }

    /// The keys of the account that have this label, revoked ones included.
    pub async fn list_keys_of_name(
        &self,
        account: AccountId,
        name: &str,
    ) -> Result<Vec<ApiKeyId>, PersistenceError> {
        let name = name.to_owned();
        let query = api_keys::table
            .filter(api_keys::account_id.eq(Bind(account)))
            .filter(api_keys::name.eq(name))
            .order(api_keys::id)
            .select(api_keys::id);
        self.load(query).await
    }
}
