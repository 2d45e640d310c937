//! The actors that create results, by name: keys, people and the terminal.

use std::collections::HashMap;

use maud::{Markup, html};
use refract_domain::ids::{ApiKeyId, PersonId};
use refract_domain::result::actor::ResultActor;
use refract_identity::people::ActorName;
use refract_service::results::FoundRow;

use crate::components::FormField;
use crate::replies::PageError;
use crate::requests::Visit;

/// The keys and people of an account, with their names.
pub(super) struct ResultActors {
    /// The form's value and the name of each actor, keys before people.
    listed: Vec<(String, String)>,
    keys: HashMap<ApiKeyId, String>,
    people: HashMap<PersonId, ActorName>,
}

impl ResultActors {
    /// Loads the actors of the visitor's account, and those that created these results.
    pub(super) async fn load(visit: &Visit, results: &[FoundRow]) -> Result<Self, PageError> {
        let account = visit.account();
        let keys = visit.refract.keys().labels(account).await?;
        let present = visit.refract.people().list(account).await?;
        let mut wanted: Vec<_> = present.iter().map(|person| person.id).collect();
        wanted.extend(results.iter().filter_map(|row| match row.actor {
            ResultActor::Person(person) => Some(person),
            ResultActor::Key(_) | ResultActor::Operator => None,
        }));
        let people = visit.refract.people().names(account, &wanted).await?;
        let listed_keys = keys
            .iter()
            .map(|(key, name)| (format!("key:{key}"), name.clone()));
        let listed_people = present.iter().filter_map(|person| {
            let name = people.get(&person.id)?;
            Some((format!("person:{}", person.id), name.to_string()))
        });
        Ok(Self {
            listed: listed_keys.chain(listed_people).collect(),
            keys: keys.into_iter().collect(),
            people,
        })
    }

    /// The select of all actors.
    pub(super) fn choice(&self, field: &FormField<'_>) -> Markup {
        field.select(&html! {
            option value="" { "anybody" }
            @for (sent, name) in &self.listed { (field.option(sent, name)) }
            (field.option("terminal", "terminal"))
        })
    }

    /// The name of an actor that the form sent.
    pub(super) fn chosen<'a>(&'a self, sent: &'a str) -> &'a str {
        let mut listed = self.listed.iter();
        let found = listed.find(|(value, _)| value == sent);
        found.map_or(sent, |(_, name)| name)
    }

    /// The name of the actor that created a result.
    pub(super) fn name(&self, actor: ResultActor) -> &str {
        match actor {
            ResultActor::Key(key) => self.keys.get(&key).map_or("key", String::as_str),
            ResultActor::Person(person) => {
                self.people.get(&person).map_or("person", ActorName::as_str)
            }
            ResultActor::Operator => "terminal",
        }
    }
}
