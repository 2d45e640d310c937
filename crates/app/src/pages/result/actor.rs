//! The actor that created a result, by name.

use maud::{Markup, html};
use refract_domain::account::role::Role;
use refract_service::people::ResultActor;

use crate::pages::keys::address_of_key;
use crate::replies::page_error::PageError;
use crate::requests::visit::Visit;

/// The name of the actor that created a result. For owners, the name of a key is a link to the key.
pub(super) async fn actor(visit: &Visit, actor: ResultActor) -> Result<Markup, PageError> {
    let account = visit.account();
    Ok(match actor {
        ResultActor::Person(person) => {
            let names = visit.refract.people().names(account, &[person]).await?;
            html! {
                @if let Some(name) = names.get(&person) { bdi { (name) } }
                @else { "a person who is gone" }
            }
        }
        ResultActor::Key(key) => {
            let keys = visit.refract.keys().labels(account).await?;
            let label = keys.into_iter().find(|(id, _)| *id == key);
            match label {
                Some((_, name)) if visit.visitor.role.may(Role::Owner) => {
                    html! { "API key " a href=(address_of_key(key)) { bdi { (name) } } }
                }
                Some((_, name)) => html! { "API key " bdi { (name) } },
                None => html! { "an API key that is gone" },
            }
        }
        ResultActor::Operator => html! { "the terminal" },
    })
}
