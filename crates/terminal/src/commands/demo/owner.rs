//! The demo's owner, a person who signs in by a link.

use anyhow::Context as _;
use refract_domain::account::person::{Email, PersonName};
use refract_domain::account::role::Role;
use refract_domain::ids::{AccountId, PersonId};
use refract_service::Refract;
use refract_service::people::AccountActor;
use refract_service::people::token::Token;

/// The owner's address, which receives no mail.
const EMAIL: &str = "owner@demo.invalid";
/// The owner's name.
const NAME: &str = "Demo owner";

/// The token of a link that signs in as the demo's owner, who is created if missing.
pub(super) async fn sign_in_link(refract: &Refract, account: AccountId) -> anyhow::Result<Token> {
    let actor = AccountActor::operator(account);
    let owner = find_or_make(refract, &actor).await?;
    let token = refract.people().sign_in_link(&actor, owner).await?;
    token.context("the demo's owner was removed at this moment: start the demo again")
}

async fn find_or_make(refract: &Refract, actor: &AccountActor) -> anyhow::Result<PersonId> {
    let people = refract.people().list(actor.account()).await?;
    let owner = people.iter().find(|person| person.email.as_str() == EMAIL);
    if let Some(joined) = owner.filter(|owner| owner.name.is_some()) {
        return Ok(joined.id);
    }
    let refused = || anyhow::anyhow!("the demo's owner cannot be made");
    let email = Email::parse(EMAIL).map_err(|_| refused())?;
    let name = PersonName::parse(NAME).map_err(|_| refused())?;
    let invitation = refract.people().invite(actor, &email, Role::Owner).await?;
    let people = refract.people();
    people.accept_by_link(&invitation.token, &name).await?;
    Ok(invitation.person)
}
