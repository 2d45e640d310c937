//! People of the app: kept for good, since changes name who made them.

use diesel::prelude::*;
use refract_domain::ids::{AccountId, PersonId};

use crate::connections::on;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::schema::people;
use crate::schema::sql_types::Bind;

/// What a person is called.
#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
pub struct PersonNameRow {
    /// The person's id.
    pub id: PersonId,
    /// The address that the person was invited by, in lower case.
    pub email: String,
    /// The name that the person chose; `None` until then.
    pub name: Option<String>,
}

impl Database {
    /// What these people of the account are called, removed ones too, in no particular order. Some
    /// thousands of people at most.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list_person_names(
        &self,
        account: AccountId,
        people: &[PersonId],
    ) -> Result<Vec<PersonNameRow>, PersistenceError> {
        let ids: Vec<_> = people.iter().copied().map(Bind).collect();
        self.read(async move |mut connection| {
            let query = people::table
                .filter(people::account_id.eq(Bind(account)))
                .filter(people::id.eq_any(ids))
                .select((people::id, people::email, people::name));
            Ok(on!(connection, load(query))?)
        })
        .await
    }
}
