//! The choices of a form that filters the events of an account: actors and targets.

use refract_domain::event::{Actor, EventTarget};
use refract_domain::ids::AccountId;
use refract_persistence::PersistenceError;

use crate::events::Events;

/// The actors and targets of an account with their names. Removed people are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventChoices {
    /// People in the order in which they were invited, then operators and nodes.
    pub actors: Vec<(Actor, String)>,
    /// Prisms, keys and people, each in the order of creation.
    pub targets: Vec<(EventTarget, String)>,
}

impl Events<'_> {
    /// The actors and targets that a form offers to filter the events of an account by. Three
    /// queries.
    pub async fn choices(self, account: AccountId) -> Result<EventChoices, PersistenceError> {
        let database = &self.refract.database;
        let people = database.list_people(account).await?.into_iter();
        let people: Vec<_> = people
            .map(|row| (row.id, row.name.unwrap_or_else(|| row.email.to_string())))
            .collect();
        let prisms = database.list_prisms(account).await?;
        let keys = database.list_uncounted_api_keys(account).await?;
        let actors = people
            .iter()
            .map(|(id, name)| (Actor::Person(*id), name.clone()));
        let others = [Actor::Operator, Actor::Node].map(|it| (it, it.kind().name().to_owned()));
        let prisms = prisms
            .into_iter()
            .map(|row| (EventTarget::Prism(row.id), row.name));
        let keys = keys
            .into_iter()
            .map(|row| (EventTarget::Key(row.id), row.name));
        let of_people = people
            .iter()
            .map(|(id, name)| (EventTarget::Person(*id), name.clone()));
        Ok(EventChoices {
            actors: actors.chain(others).collect(),
            targets: prisms.chain(keys).chain(of_people).collect(),
        })
    }
}
