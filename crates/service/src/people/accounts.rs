//! Accounts, each with its own prisms, keys, people and results.

use refract_domain::event::Actor;
use refract_domain::ids::AccountId;
use refract_domain::prism::DisplayName;
pub use refract_persistence::DEFAULT_ACCOUNT;
use refract_persistence::{AccountRow, CreateOutcome, PersistenceError};
use uuid::Uuid;

use crate::Refract;
use crate::events::event_stamp;

/// The use cases of accounts, from [`Refract::accounts`](crate::Refract::accounts).
#[derive(Clone, Copy)]
pub struct Accounts<'a> {
    pub(crate) refract: &'a Refract,
}

impl Refract {
    /// Accounts, each with its own prisms, keys, people and results.
    pub fn accounts(&self) -> Accounts<'_> {
        Accounts { refract: self }
    }
}

/// An account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// `UUIDv7`.
    pub id: AccountId,
    /// Unique.
    pub name: String,
}

/// Why an account was not created or not found.
#[derive(Debug, thiserror::Error)]
pub enum AccountError {
    /// Another account has the name.
    #[error("there is an account '{0}' already")]
    NameTaken(String),
    /// No account has the name.
    #[error("there is no account '{0}': make it with `refract account create {0}`")]
    NotFound(String),
    /// The database failed.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
}

impl Accounts<'_> {
    /// Creates an account, by the operator.
    ///
    /// # Errors
    /// When another account has the name, or the database fails.
    pub async fn create(self, name: &DisplayName) -> Result<Account, AccountError> {
        let id = AccountId::new(Uuid::now_v7());
        let stamp = event_stamp(id, Actor::Operator, None);
        let row = AccountRow {
            id,
            name: name.as_str().to_owned(),
            created_at: stamp.at,
        };
        match self.refract.database.create_account(&row, stamp).await? {
            CreateOutcome::Created => Ok(row.into()),
            CreateOutcome::NameTaken => Err(AccountError::NameTaken(row.name)),
        }
    }

    /// The account with this name. Only the account [`DEFAULT_ACCOUNT`] is created when it is
    /// missing.
    ///
    /// # Errors
    /// When no account has the name, or the database fails.
    pub async fn find(self, name: &str) -> Result<Account, AccountError> {
        let database = &self.refract.database;
        if name == DEFAULT_ACCOUNT {
            let stamp = event_stamp(AccountId::new(Uuid::now_v7()), Actor::Operator, None);
            return Ok(database.find_or_create_default_account(stamp).await?.into());
        }
        let found = database.find_account(name).await?;
        let found = found.ok_or_else(|| AccountError::NotFound(name.to_owned()))?;
        Ok(found.into())
    }

    /// All accounts, by name.
    pub async fn list(self) -> Result<Vec<Account>, AccountError> {
        let found = self.refract.database.list_accounts().await?;
        Ok(found.into_iter().map(Account::from).collect())
    }
}

impl From<AccountRow> for Account {
    fn from(row: AccountRow) -> Self {
        Self {
            id: row.id,
            name: row.name,
        }
    }
}
