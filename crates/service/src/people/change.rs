//! Lists people, changes their roles and removes them.

use refract_domain::ids::{AccountId, PersonId};
use refract_domain::person::Email;
use refract_domain::role::Role;
use refract_persistence::{Database, PersistenceError, PersonRow, PersonWriting};

use super::refusal::PersonRefusal;
use crate::caller::Caller;

/// The people of an account in the order in which they were invited, without removed ones.
///
/// # Errors
/// When the database fails.
pub async fn list(
    database: &Database,
    account: AccountId,
) -> Result<Vec<PersonRow>, PersistenceError> {
    database.list_people(account).await
}

/// The person of the account who has this address.
///
/// # Errors
/// When there is no such person, or the database fails.
pub async fn find(
    database: &Database,
    account: AccountId,
    email: &Email,
) -> Result<PersonRow, PersonRefusal> {
    let people = list(database, account).await?;
    let mut found = people.into_iter().filter(|person| person.email == *email);
    found.next().ok_or(PersonRefusal::NotFound)
}

/// The role that somebody is invited with when none is named: the first person of an account is its
/// owner, others review.
///
/// # Errors
/// When the database fails.
pub async fn default_role(
    database: &Database,
    account: AccountId,
) -> Result<Role, PersistenceError> {
    Ok(if list(database, account).await?.is_empty() {
        Role::Owner
    } else {
        Role::Reviewer
    })
}

/// Removes a person of the caller's account. Their sessions and their link end at once; what they
/// made keeps their name.
///
/// # Errors
/// When there is no such person, the person is the last owner, or the database fails.
pub async fn remove(
    database: &Database,
    caller: &Caller,
    person: PersonId,
) -> Result<(), PersonRefusal> {
    let removing = database.remove_person(person, caller.event_stamp());
    done(removing.await?)
}

/// Gives a person of the caller's account another role, from their next request on.
///
/// # Errors
/// When there is no such person, the person is the last owner, or the database fails.
pub async fn set_role(
    database: &Database,
    caller: &Caller,
    person: PersonId,
    role: Role,
) -> Result<(), PersonRefusal> {
    let setting = database.set_person_role(person, role, caller.event_stamp());
    done(setting.await?)
}

fn done(writing: PersonWriting) -> Result<(), PersonRefusal> {
    match writing {
        PersonWriting::Saved => Ok(()),
        PersonWriting::NotFound => Err(PersonRefusal::NotFound),
        PersonWriting::LastOwner => Err(PersonRefusal::LastOwner),
    }
}
