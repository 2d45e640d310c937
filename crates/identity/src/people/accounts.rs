//! Accounts, each with its own prisms, keys, people and results; and the actor of a call or a
//! change in an account: one of its API keys, one of its people, the operator at the terminal, or a
//! node by itself (spec 5).

use refract_boxed_futures::boxed;
use refract_domain::event::{Actor, EventDetail, EventRequest, EventStamp};
use refract_domain::ids::{AccountId, ApiKeyId, FileRunId, PersonId};
use refract_domain::prism::DisplayName;
pub use refract_persistence::DEFAULT_ACCOUNT;
use refract_persistence::{AccountRow, CreateOutcome, PersistenceError};
use uuid::Uuid;

use crate::Identity;
use crate::events::event_stamp;

/// The use cases of accounts, from [`Identity::accounts`](crate::Identity::accounts).
#[derive(Clone, Copy)]
pub struct Accounts<'a> {
    pub(crate) identity: &'a Identity,
}

impl Identity {
    /// Accounts, each with its own prisms, keys, people and results.
    pub fn accounts(&self) -> Accounts<'_> {
        Accounts { identity: self }
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

#[boxed]
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
        match self.identity.database.create_account(&row, stamp).await? {
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
        let database = &self.identity.database;
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
        let found = self.identity.database.list_accounts().await?;
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

/// The account of a call or a change, its actor and its request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountActor {
    account: AccountId,
    actor: Actor,
    /// Facts for the events of changes; boxed, since every waiting call has a caller.
    about: Option<Box<ChangeFacts>>,
}

/// Facts of a call or of a change's event besides the actor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ChangeFacts {
    request: Option<EventRequest>,
    note: Option<EventDetail>,
    file_run: Option<FileRunId>,
}

impl AccountActor {
    /// The operator, who works in an account from the terminal.
    pub fn operator(account: AccountId) -> Self {
        Self::new(account, Actor::Operator)
    }

    /// A person of the account, in the app.
    pub fn person(account: AccountId, person: PersonId) -> Self {
        Self::new(account, Actor::Person(person))
    }

    /// A node that acts by itself.
    pub fn node(account: AccountId) -> Self {
        Self::new(account, Actor::Node)
    }

    /// A program that calls the API with a key of the account.
    pub fn key(account: AccountId, key: ApiKeyId) -> Self {
        Self::new(account, Actor::Key(key))
    }

    fn new(account: AccountId, actor: Actor) -> Self {
        Self {
            account,
            actor,
            about: None,
        }
    }

    /// The caller with a request, which the events of their changes name.
    #[must_use]
    pub fn in_request(self, request: EventRequest) -> Self {
        self.saying(|about| about.request = Some(request))
    }

    /// The caller with a note about the reason of a change, which the events of the change have.
    #[must_use]
    pub fn with_note(self, note: EventDetail) -> Self {
        self.saying(|about| about.note = Some(note))
    }

    /// The caller in a stored file run, which the results of their calls name.
    #[must_use]
    pub fn in_file_run(self, run: FileRunId) -> Self {
        self.saying(|about| about.file_run = Some(run))
    }

    fn saying(mut self, say: impl FnOnce(&mut ChangeFacts)) -> Self {
        say(self.about.get_or_insert_default());
        self
    }

    /// The account in which the caller works.
    pub fn account(&self) -> AccountId {
        self.account
    }

    /// The person who calls; `None` if the caller is not a person.
    pub fn person_id(&self) -> Option<PersonId> {
        self.actor.person()
    }

    /// The API key of the call; `None` if the caller is not a key.
    pub fn api_key(&self) -> Option<ApiKeyId> {
        self.actor.key()
    }

    /// The stored file run that the call is part of.
    pub fn file_run(&self) -> Option<FileRunId> {
        self.about.as_deref().and_then(|about| about.file_run)
    }

    /// The stamp for the event of a change that the caller makes now.
    pub fn event_stamp(&self) -> EventStamp {
        let ChangeFacts { request, note, .. } = self.about.as_deref().cloned().unwrap_or_default();
        EventStamp {
            note,
            ..event_stamp(self.account, self.actor, request)
        }
    }
}
