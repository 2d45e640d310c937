//! Why a change to the people of an account is refused.

use refract_persistence::PersistenceError;

use crate::people::secrets::SecretError;

/// A change to the people of an account was refused; nothing was saved.
#[derive(Debug, thiserror::Error)]
pub enum PersonError {
    /// The account has no such person.
    #[error("the account has no person with this address")]
    NotFound,
    /// The address to invite belongs to a person of the account who has joined.
    #[error(
        "this address is already a person of the account: \
         make a new link for them if they need another password (`refract person reset`)"
    )]
    HasJoined,
    /// The address to invite is in use elsewhere.
    #[error("this address cannot be invited: it is in use already, so choose another one")]
    AddressInUse,
    /// The account would be left without an owner who has joined.
    #[error("an account needs an owner: make somebody else an owner first")]
    LastOwner,
    /// A secret could not be made or checked.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The database failed.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
}
