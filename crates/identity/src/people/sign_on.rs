//! Signs people on by the company's provider.

use chrono::{DateTime, Utc};
use refract_boxed_futures::boxed;
use refract_domain::account::{Email, PersonName, Role};
use refract_domain::event::{Actor, EventRequest};
use refract_domain::ids::{AccountId, PersonId};
use refract_persistence::{
    NewProviderSession, PersistenceError, PersonOutcome, ProviderSubject, SignOnOutcome,
    SignOnPerson,
};
use refract_sign_on::{
    DiscoveryTrial, Flow, Grant, ProviderAnswer, ProviderIdentity, SignOn, SignOnError, SignedOn,
};
use uuid::Uuid;

use super::secret_try::SignOnPermit;
use super::session::{RECHECK, Session, alive, new_session};
use super::sign_in_client::{SignInClient, known_since};
use super::sign_in_error::SignOnFailure;
use crate::events::event_stamp;
use crate::people::People;
use crate::people::secrets::{SecretError, Token, random_bytes};

/// The most characters of a name that is made from an address.
const NAME_CHARACTERS: usize = 200;

/// A sign-on that has begun.
pub struct SignOnStart {
    /// The provider's address, to which the browser is sent.
    pub address: String,
    /// The token of the cookie that the browser brings back with the provider's answer.
    pub flow: Token,
}

/// What the provider gave for a person who signed on by it. It has no `Debug`, so that no log shows
/// one by accident.
pub struct ProviderGrant(Option<Grant>);

#[boxed]
impl<'a> People<'a> {
    /// The name of the sign-in provider; `None` where there is none.
    pub fn provider_name(self) -> Option<&'a str> {
        self.identity
            .sign_in_ways
            .provider
            .as_ref()
            .map(SignOn::name)
    }

    /// Who joins by the sign-in provider, in one line; `None` where there is none.
    pub fn admission(self) -> Option<String> {
        let provider = self.identity.sign_in_ways.provider.as_ref();
        provider.map(|provider| provider.rules().to_string())
    }

    /// Whether passwords sign in.
    pub fn has_passwords(self) -> bool {
        self.identity.sign_in_ways.passwords
    }

    pub(super) fn provider(self) -> Result<&'a SignOn, SignOnFailure> {
        let provider = self.identity.sign_in_ways.provider.as_ref();
        provider.ok_or(SignOnFailure::NoProvider)
    }

    /// Requests the provider's discovery document once, to say where and with what status it is;
    /// `None` where there is no provider.
    pub async fn try_discovery(self) -> Option<DiscoveryTrial> {
        let provider = self.identity.sign_in_ways.provider.as_ref()?;
        Some(provider.try_discovery().await)
    }

    /// Begins a sign-on. Nothing is stored: strangers may begin any number.
    ///
    /// # Errors
    /// When there is no provider, or it was never reached.
    pub async fn begin_sign_on(self) -> Result<SignOnStart, SignOnFailure> {
        let provider = self.provider()?;
        let flow = Token::from_random(random_bytes()?);
        let secrets = Flow::of(flow.reveal());
        let address = provider.authorization_address(&secrets).await?;
        Ok(SignOnStart { address, flow })
    }

    /// Signs in the person of the provider's account whom the answer is about, in a browser that has
    /// these tokens of begun sign-ons. Somebody whom nobody invited joins, if the rules let them.
    ///
    /// # Errors
    /// When the answer belongs to none of the sign-ons, too many people sign on at this moment, too
    /// many codes from the network were refused, the provider refuses or does not answer,
    /// its answer cannot be trusted, the person may not come in, or the database fails.
    pub async fn finish_sign_on(
        self,
        client: &SignInClient,
        flows: &[Token],
        answer: &ProviderAnswer<'_>,
        request: Option<EventRequest>,
    ) -> Result<Session, SignOnFailure> {
        let provider = self.provider()?;
        let mut flows = flows.iter().map(|token| Flow::of(token.reveal()));
        let flow = flows.find(|flow| flow.is_answered_by(answer));
        let flow = flow.ok_or(SignOnError::OtherFlow)?;
        let redeeming = self.redeem(provider, client, &flow, answer);
        let redeemed = redeeming.await;
        if let Err(SignOnFailure::Provider(SignOnError::NotLetIn { subject, .. })) = &redeemed {
            let subject = ProviderSubject {
                issuer: provider.issuer().to_owned(),
                subject: subject.clone(),
            };
            let account = self.identity.accounts().find(provider.account()).await?;
            let stamp = event_stamp(account.id, Actor::Node, request.clone());
            let database = &self.identity.database;
            database.refuse_sign_on(subject, stamp).await?;
        }
        let SignedOn { identity, grant } = redeemed?;
        let account = self.identity.accounts().find(provider.account()).await?;
        let mut outcome = SignOnOutcome::Raced;
        // somebody else may make the person at this moment; then the second try finds them
        for _ in 0..3 {
            let (session, new) = new_session(client.browser_before())?;
            let provider_session = provider_session(&session.token, &grant, new.now)?;
            let person = SignOnPerson {
                id: PersonId::new(Uuid::now_v7()),
                name: shown_name(&identity),
                email: identity.email.clone(),
                role: identity.role.unwrap_or(Role::Reviewer),
                may_join: identity.may_join,
                had_second_factor: identity.had_second_factor,
            };
            let subject = ProviderSubject {
                issuer: identity.issuer.clone(),
                subject: identity.subject.clone(),
            };
            // the person is the actor, once they are found
            let stamp = event_stamp(account.id, Actor::Person(person.id), request.clone());
            let database = &self.identity.database;
            let signing_on = database.sign_on(subject, person, new, provider_session, stamp);
            outcome = signing_on.await?;
            if let SignOnOutcome::SignedOn { person, role } = outcome {
                if let Some(now) = identity.role
                    && now != role
                {
                    self.follow_role(account.id, person, now, &identity).await?;
                }
                let now = new.now;
                database
                    .delete_expired_sessions(alive(now), known_since(now), now)
                    .await?;
                return Ok(session);
            }
            if outcome != SignOnOutcome::Raced {
                break;
            }
        }
        Err(match outcome {
            SignOnOutcome::AddressOfAnother => SignOnFailure::AddressOfAnother,
            SignOnOutcome::Removed => SignOnFailure::Removed,
            SignOnOutcome::NotInvited => SignOnFailure::NotInvited,
            SignOnOutcome::OfOtherAccount => SignOnFailure::OfOtherAccount,
            SignOnOutcome::Raced | SignOnOutcome::SignedOn { .. } => SignOnError::Busy.into(),
        })
    }

    /// Asks the provider about the code of an answer, in the client's turn.
    async fn redeem(
        self,
        provider: &SignOn,
        client: &SignInClient,
        flow: &Flow,
        answer: &ProviderAnswer<'_>,
    ) -> Result<SignedOn, SignOnFailure> {
        if !answer.error.is_empty() {
            // nothing is asked
            return Ok(provider.redeem(flow, answer).await?);
        }
        let database = &self.identity.database;
        let permit = SignOnPermit::take(database, client).await?;
        let redeemed = provider.redeem(flow, answer).await;
        permit.end(database, &redeemed).await?;
        Ok(redeemed?)
    }

    /// The provider's grant for the person whom one of these cookies signs in, to be read before the
    /// session ends; `None` if the provider did not sign them in.
    pub async fn provider_grant(
        self,
        cookies: &[Token],
    ) -> Result<Option<ProviderGrant>, PersistenceError> {
        for token in cookies {
            let found = self.identity.database.find_grant(token.hash()).await?;
            if let Some(found) = found {
                let grant = Grant::unseal(&token.sealing_key(), &found.sealed);
                return Ok(Some(ProviderGrant(grant)));
            }
        }
        Ok(None)
    }

    /// The provider's address that ends its own session of a person with this grant; `None` if it
    /// has no such address, or is away.
    pub async fn provider_sign_out(self, grant: &ProviderGrant) -> Option<String> {
        let provider = self.provider().ok()?;
        provider.sign_out_address(grant.0.as_ref()).await
    }

    /// Gives a person the role that the provider says, unless the account would be left without an
    /// owner.
    pub(super) async fn follow_role(
        self,
        account: AccountId,
        person: PersonId,
        role: Role,
        identity: &ProviderIdentity,
    ) -> Result<(), PersistenceError> {
        let stamp = event_stamp(account, Actor::Node, None);
        let stamp = if let Some(claim) = &identity.missing_role_claim {
            tracing::warn!(
                %person, claim, %role,
                "the sign-in provider left out the claim with the role, so the role for * counts"
            );
            stamp.noted("as the sign-in provider names no role for them any more")
        } else {
            stamp.noted("as the sign-in provider says")
        };
        let setting = self.identity.database.set_person_role(person, role, stamp);
        if setting.await? == PersonOutcome::LastOwner {
            tracing::warn!(
                %person,
                "the sign-in provider makes the last owner of an account a {role}: they stay its owner"
            );
        }
        Ok(())
    }
}

/// The provider's part of a session whose cookie has this token.
pub(super) fn provider_session(
    cookie: &Token,
    grant: &Grant,
    now: DateTime<Utc>,
) -> Result<NewProviderSession, SecretError> {
    let sealed_grant = grant.seal(&cookie.sealing_key());
    Ok(NewProviderSession {
        sealed_grant: sealed_grant.ok_or(SecretError::NoRandomness)?,
        next_check_at: grant.can_be_refreshed().then(|| now + RECHECK),
    })
}

/// The name that the provider says, or the first part of the address.
fn shown_name(identity: &ProviderIdentity) -> PersonName {
    let of_address = |email: &Email| {
        let name = email.as_str().split('@').next().unwrap_or_default();
        PersonName::saved(name.chars().take(NAME_CHARACTERS).collect())
    };
    let name = identity.name.clone();
    name.unwrap_or_else(|| of_address(&identity.email))
}
