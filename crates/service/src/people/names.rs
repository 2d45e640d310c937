//! The display names of people, shown with what they made.

use std::collections::{HashMap, HashSet};
use std::fmt;

use refract_domain::ids::{AccountId, PersonId};
use refract_persistence::{PersistenceError, PersonNameRow};

use crate::people::People;

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
        let database = &self.refract.database;
        let rows = database.list_person_names(account, &wanted).await?;
        Ok(rows.into_iter().map(|row| (row.id, row.into())).collect())
    }
}
