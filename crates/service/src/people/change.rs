//! Lists people, changes their roles and removes them.

use refract_domain::account::person::Email;
use refract_domain::account::role::Role;
use refract_domain::ids::{AccountId, PersonId};
use refract_persistence::{PersistenceError, Person, PersonOutcome};

use super::error::PersonError;
use crate::people::People;
use crate::people::account_actor::AccountActor;

impl People<'_> {
    /// The people of an account in the order in which they were invited, without removed ones.
    pub async fn list(self, account: AccountId) -> Result<Vec<Person>, PersistenceError> {
        self.refract.database.list_people(account).await
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
        let database = &self.refract.database;
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
        let database = &self.refract.database;
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
