//! Who made a result: an API key or a person, stored with each result and shown in the app.
//!
//! The queries of API calls never select the person.

use diesel::prelude::*;
use refract_domain::ids::{ApiKeyId, PersonId};
use refract_domain::result::actor::ResultActor;

/// Who made a result. Both are `None` for a result of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Queryable)]
pub struct ResultActorRow {
    /// The key that made the result.
    pub api_key: Option<ApiKeyId>,
    /// The person who made the result in the app.
    pub person: Option<PersonId>,
}

impl From<ResultActorRow> for ResultActor {
    fn from(actor: ResultActorRow) -> Self {
        match (actor.person, actor.api_key) {
            (Some(person), _) => Self::Person(person),
            (None, Some(key)) => Self::Key(key),
            (None, None) => Self::Operator,
        }
    }
}
