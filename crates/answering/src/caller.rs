//! Who makes a call or changes something: an account, with one of its API keys, as one of its people
//! or from the operator's terminal (spec 5).

use refract_domain::ids::{AccountId, ApiKeyId, PersonId};
pub use refract_domain::maker::Maker;

/// The account in which something is done, and who does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    account: AccountId,
    maker: Maker,
}

impl Caller {
    /// The operator, who works in an account from the terminal.
    pub fn operator(account: AccountId) -> Self {
        Self {
            account,
            maker: Maker::Terminal,
        }
    }

    /// A person of the account, in the app.
    pub fn person(account: AccountId, person: PersonId) -> Self {
        Self {
            account,
            maker: Maker::Person(person),
        }
    }

    /// A program that calls the API with a key of the account.
    pub(crate) fn key(account: AccountId, key: ApiKeyId) -> Self {
        Self {
            account,
            maker: Maker::Key(key),
        }
    }

    /// The account in which the caller works.
    pub fn account(&self) -> AccountId {
        self.account
    }

    /// The person who calls, when it is one.
    pub fn person_id(&self) -> Option<PersonId> {
        match self.maker {
            Maker::Person(person) => Some(person),
            Maker::Key(_) | Maker::Terminal => None,
        }
    }

    /// The API key that is called with, when it is one.
    pub fn api_key(&self) -> Option<ApiKeyId> {
        match self.maker {
            Maker::Key(key) => Some(key),
            Maker::Person(_) | Maker::Terminal => None,
        }
    }
}
