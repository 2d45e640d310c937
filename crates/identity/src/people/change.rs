//! Lists people and their names, changes their roles and removes them.

use refract_boxed_futures::boxed;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::Ordering;

use refract_domain::account::{Email, Role};
use refract_domain::ids::{AccountId, PersonId};
use refract_persistence::{PersistenceError, Person, PersonNameRow, PersonOutcome};

use crate::people::People;
use crate::people::accounts::AccountActor;
use crate::people::secrets::SecretError;

#[boxed]
impl People<'_> {
    /// The people of an account in the order in which they were invited, without removed ones.
    pub async fn list(self, account: AccountId) -> Result<Vec<Person>, PersistenceError> {
        self.identity.database.list_people(account).await
    }

    /// Whether nobody can sign in: no account has people, and no provider makes them. Once there are
    /// people the database is not asked again.
    pub async fn is_nobody_invited(self) -> Result<bool, PersistenceError> {
        let has_people = &self.identity.has_people;
        if self.provider_name().is_some() || has_people.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let found = self.identity.database.has_people().await?;
        has_people.store(found, Ordering::Relaxed);
        Ok(!found)
    }

    /// The names of the people of an account who may do what a role may, those with the lowest such
    /// role first, at most `most`. People who have not joined yet are left out.
    pub async fn names_of_role(
        self,
        account: AccountId,
        least: Role,
        most: usize,
    ) -> Result<Vec<String>, PersistenceError> {
        let mut people = self.list(account).await?;
        people.retain(|person| person.role.may(least));
        people.sort_by_key(|person| person.role);
        let names = people.into_iter().filter_map(|person| person.name);
        Ok(names.take(most).collect())
    }

    /// The person of the account with this address.
    ///
    /// # Errors
    /// When there is no such person, or the database fails.
    pub async fn find(self, account: AccountId, email: &Email) -> Result<Person, PersonError> {
        let people = self.list(account).await?;
        let mut found = people.into_iter().filter(|person| person.email == *email);
        found.next().ok_or(PersonError::NotFound)
    }

    /// The role for an invitation that names none: the first person of an account is its owner,
    /// others are reviewers.
    pub async fn default_role(self, account: AccountId) -> Result<Role, PersistenceError> {
        Ok(if self.list(account).await?.is_empty() {
            Role::Owner
        } else {
            Role::Reviewer
        })
    }

    /// Removes a person of the caller's account. Their sessions and their link end at once;
    /// everything they made keeps their name.
    ///
    /// # Errors
    /// When there is no such person, the person is the last owner, or the database fails.
    pub async fn remove(self, actor: &AccountActor, person: PersonId) -> Result<(), PersonError> {
        let database = &self.identity.database;
        let removing = database.remove_person(person, actor.event_stamp());
        done(removing.await?)
    }

    /// Gives a person of the caller's account another role, from their next request on.
    ///
    /// # Errors
    /// When there is no such person, the person is the last owner, or the database fails.
    pub async fn set_role(
        self,
        actor: &AccountActor,
        person: PersonId,
        role: Role,
    ) -> Result<(), PersonError> {
        let database = &self.identity.database;
        let setting = database.set_person_role(person, role, actor.event_stamp());
        done(setting.await?)
    }
}

fn done(writing: PersonOutcome) -> Result<(), PersonError> {
    match writing {
        PersonOutcome::Saved => Ok(()),
        PersonOutcome::NotFound => Err(PersonError::NotFound),
        PersonOutcome::LastOwner => Err(PersonError::LastOwner),
    }
}

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

/// The name of a person, or their address if they have not joined yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActorName(String);

impl ActorName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ActorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<PersonNameRow> for ActorName {
    fn from(row: PersonNameRow) -> Self {
        Self(row.name.unwrap_or(row.email))
    }
}

#[boxed]
impl People<'_> {
    /// The names of these people of the account, removed ones included. People of other accounts
    /// are left out. Makes no query when there are no people.
    pub async fn names(
        self,
        account: AccountId,
        people: &[PersonId],
    ) -> Result<HashMap<PersonId, ActorName>, PersistenceError> {
        let wanted: HashSet<PersonId> = people.iter().copied().collect();
        if wanted.is_empty() {
            return Ok(HashMap::new());
        }
        let wanted: Vec<PersonId> = wanted.into_iter().collect();
        let database = &self.identity.database;
        let rows = database.list_person_names(account, &wanted).await?;
        Ok(rows.into_iter().map(|row| (row.id, row.into())).collect())
    }
}
