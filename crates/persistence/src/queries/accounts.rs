//! Accounts: each prism, key, person and result belongs to one account.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::event::{EventAction, EventStamp, EventTarget};
use refract_domain::ids::AccountId;

use crate::connections::{find_as, load_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::commit_with;
use crate::schema::accounts;
use crate::schema::sql_types::Bind;

/// The account that commands use when none is named. Only this account is created when it is
/// missing.
pub const DEFAULT_ACCOUNT: &str = "default";

/// An account.
#[derive(Clone, Debug, PartialEq, Eq, Insertable, Queryable, Selectable)]
#[diesel(table_name = accounts)]
pub struct AccountRow {
    /// `UUIDv7`.
    #[diesel(serialize_as = Bind<AccountId>)]
    pub id: AccountId,
    /// Unique.
    pub name: String,
    /// When the account was made.
    #[diesel(serialize_as = Bind<DateTime<Utc>>)]
    pub created_at: DateTime<Utc>,
}

/// The outcome of inserting a row whose name must be unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreateOutcome {
    /// The row was inserted.
    Created,
    /// Another row has that name, so nothing was inserted.
    NameTaken,
}

#[boxed]
impl Database {
    /// Creates an account and its event, in one transaction.
    pub async fn create_account(
        &self,
        account: &AccountRow,
        stamp: EventStamp,
    ) -> Result<CreateOutcome, PersistenceError> {
        let account = account.clone();
        let event = stamp.event(
            EventAction::AccountCreated,
            EventTarget::Account(account.id),
        );
        self.begin(async move |mut tx| {
            let insert = diesel::insert_into(accounts::table).values(account);
            let insert = insert.on_conflict(accounts::name).do_nothing();
            if on!(tx, execute(insert))? == 0 {
                return Ok(CreateOutcome::NameTaken);
            }
            commit_with(tx, event).await?;
            Ok(CreateOutcome::Created)
        })
        .await
    }

    /// Finds the account with this name.
    pub async fn find_account(&self, name: &str) -> Result<Option<AccountRow>, PersistenceError> {
        let name = name.to_owned();
        let query = accounts::table.filter(accounts::name.eq(name));
        find_as!(self, query, AccountRow).await
    }

    /// Every account, ordered by name.
    pub async fn list_accounts(&self) -> Result<Vec<AccountRow>, PersistenceError> {
        let query = accounts::table.order(accounts::name);
        load_as!(self, query, AccountRow).await
    }

    /// Finds the account named [`DEFAULT_ACCOUNT`], or creates it with the stamp's id and moment.
    ///
    /// One query when the account exists, else up to three.
    pub async fn find_or_create_default_account(
        &self,
        stamp: EventStamp,
    ) -> Result<AccountRow, PersistenceError> {
        if let Some(found) = self.find_account(DEFAULT_ACCOUNT).await? {
            return Ok(found);
        }
        let account = AccountRow {
            id: stamp.account,
            name: DEFAULT_ACCOUNT.to_owned(),
            created_at: stamp.at,
        };
        match self.create_account(&account, stamp).await? {
            CreateOutcome::Created => Ok(account),
            CreateOutcome::NameTaken => {
                let found = self.find_account(DEFAULT_ACCOUNT).await?;
                found.ok_or(PersistenceError::Unreadable {
                    column: "accounts.name",
                })
            }
        }
    }
}
