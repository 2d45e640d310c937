//! Finds actors by the name that an operator types.

use refract_domain::account::person::Email;
use refract_domain::event::ActorKind;
use refract_domain::ids::{AccountId, ApiKeyId, PersonId, parse_uuid};
use refract_persistence::{EventActors, PersistenceError};

use crate::events::Events;

/// Why no actors were found.
#[derive(Debug, thiserror::Error)]
pub enum ActorError {
    /// No actor of the account has this name.
    #[error(
        "nobody of the account is called '{0}': expected the address of a person, the label or the id \
         of a key, operator or node (see `refract person list` and `refract key list`)"
    )]
    Unknown(String),
    /// The database failed.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
}

impl Events<'_> {
    /// The actors of an account with this name: `operator`, `node`, the address of a person
    /// (removed people included), or the label or the id of a key.
    ///
    /// # Errors
    /// When no actor has this name, or the database fails.
    pub async fn find_actors(
        self,
        account: AccountId,
        who: &str,
    ) -> Result<EventActors, ActorError> {
        let database = &self.refract.database;
        let who = who.trim();
        let all_of = |kind| EventActors {
            kind,
            ids: Vec::new(),
        };
        match who {
            "operator" => return Ok(all_of(ActorKind::Operator)),
            "node" => return Ok(all_of(ActorKind::Node)),
            _ => {}
        }
        if let Ok(email) = Email::parse(who) {
            let people = database.list_people_of_email(account, email.as_str());
            let people = people.await?;
            if !people.is_empty() {
                return Ok(EventActors {
                    kind: ActorKind::Person,
                    ids: people.into_iter().map(PersonId::uuid).collect(),
                });
            }
        }
        let keys = match parse_uuid(who) {
            Some(id) => {
                let found = database
                    .list_key_names(account, &[ApiKeyId::new(id)])
                    .await?;
                found.into_iter().map(|(key, _)| key).collect()
            }
            None => database.list_keys_of_name(account, who).await?,
        };
        if keys.is_empty() {
            return Err(ActorError::Unknown(who.to_owned()));
        }
        Ok(EventActors {
            kind: ActorKind::Key,
            ids: keys.into_iter().map(ApiKeyId::uuid).collect(),
        })
    }
}
