//! Signing on by a provider: finds or makes the person, and begins their session.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::account::{Email, PersonName, Role};
use refract_domain::event::{Actor, Event, EventAction, EventDetail, EventStamp, EventTarget};
use refract_domain::ids::{AccountId, PersonId};

use crate::connections::{Transaction, for_update, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::{add_event, commit_with};
use crate::queries::people::person::NO_PASSWORD;
use crate::queries::people::provider_sessions::NewProviderSession;
use crate::queries::people::sessions::{NewSession, insert_session};
use crate::schema::sql_types::Bind;
use crate::schema::{invitations, people, provider_sessions, provider_subjects};

/// The note of events of a sign-on.
const BY_PROVIDER: &str = "by the sign-in provider";

/// Who somebody is at a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderSubject {
    /// The provider.
    pub issuer: String,
    /// The person's id there.
    pub subject: String,
}

/// A person whom a provider vouches for.
#[derive(Clone, Debug)]
pub struct SignOnPerson {
    /// The id of the person, if there is none yet.
    pub id: PersonId,
    /// The person's address.
    pub email: Email,
    /// The name of a person who has none yet.
    pub name: PersonName,
    /// The role of a new person.
    pub role: Role,
    /// Whether the person may join without an invitation.
    pub may_join: bool,
    /// Whether the provider asked the person for a second factor.
    pub had_second_factor: bool,
}

/// The outcome of signing on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignOnOutcome {
    /// The person is signed in.
    SignedOn {
        /// The person.
        person: PersonId,
        /// The person's role.
        role: Role,
    },
    /// Nobody invited the person, and they may not join without. Nothing was saved.
    NotInvited,
    /// The person or the address is known in another account. Nothing was saved.
    OfOtherAccount,
    /// The person was removed from the account. An event of the refusal was saved.
    Removed,
    /// The address belongs to a person whom the provider knows by another id. An event of the refusal
    /// was saved.
    AddressOfAnother,
    /// Somebody else made the person at this moment. Nothing was saved; another try finds them.
    Raced,
}

/// A person who was found or made, before they are signed in.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = people)]
struct FoundPerson {
    id: PersonId,
    #[diesel(column_name = account_id)]
    account: AccountId,
    role: String,
    #[diesel(select_expression = people::password.is_not_null())]
    has_joined: bool,
    removed_at: Option<DateTime<Utc>>,
}

/// Who signs on: the person as the provider knows and names them.
struct Applicant {
    subject: ProviderSubject,
    person: SignOnPerson,
    email: String,
}

/// Why somebody cannot sign on, and the person of the account whom it is about.
struct RefusedApplicant {
    outcome: SignOnOutcome,
    person: Option<PersonId>,
}

impl RefusedApplicant {
    fn of_person(outcome: SignOnOutcome, person: PersonId) -> Self {
        let person = Some(person);
        Self { outcome, person }
    }

    /// Saves the event of the refusal.
    async fn save(
        self,
        tx: Transaction,
        stamp: EventStamp,
    ) -> Result<SignOnOutcome, PersistenceError> {
        if let Some(person) = self.person {
            commit_with(tx, refused(person, stamp)).await?;
        }
        Ok(self.outcome)
    }
}

/// The event of a refused sign-in by the provider.
fn refused(person: PersonId, stamp: EventStamp) -> Event {
    let stamp = EventStamp {
        actor: Actor::Node,
        ..stamp
    };
    let refused = stamp.noted(BY_PROVIDER);
    refused.event(EventAction::SignInRefused, EventTarget::Person(person))
}

impl From<SignOnOutcome> for RefusedApplicant {
    fn from(outcome: SignOnOutcome) -> Self {
        let person = None;
        Self { outcome, person }
    }
}

/// Finds the person in a transaction, or adds one who has not joined. Returns them with whether they
/// were linked with the subject before, or why they cannot sign on.
async fn find_person(
    tx: &mut Transaction,
    applicant: &Applicant,
    stamp: &EventStamp,
) -> QueryResult<Result<(FoundPerson, bool), RefusedApplicant>> {
    let Applicant {
        subject,
        person,
        email,
    } = applicant;
    let link = || {
        let ProviderSubject { issuer, subject } = subject.clone();
        provider_subjects::table.find((issuer, subject))
    };
    let linked = link().inner_join(people::table.on(people::id.eq(provider_subjects::person_id)));
    let known = on!(tx, first(linked) as FoundPerson).optional()?;
    let of_email = || people::table.filter(people::email.eq(email.clone()));
    let present = of_email().filter(people::removed_at.is_null());
    let present = on!(
        tx,
        get_result(for_update(present.select(FoundPerson::as_select())))
    );
    Ok(match (known, present.optional()?) {
        (Some(other), _) | (_, Some(other))
            if other.account != stamp.account && other.removed_at.is_none() =>
        {
            Err(SignOnOutcome::OfOtherAccount.into())
        }
        (Some(known), _) if known.removed_at.is_none() => Ok((known, true)),
        (Some(known), None) => Err(RefusedApplicant::of_person(
            SignOnOutcome::Removed,
            known.id,
        )),
        (Some(_), Some(invited)) => {
            // who was removed and is invited again is another person from then on
            on!(tx, execute(diesel::delete(link())))?;
            Ok((invited, false))
        }
        (None, Some(invited)) => Ok((invited, false)),
        (None, None) => {
            let removed = of_email()
                .filter(people::account_id.eq(Bind(stamp.account)))
                // another sign-on may have made the person since the query before
                .filter(people::removed_at.is_not_null())
                .select(people::id);
            let removed: Option<PersonId> = on!(tx, first(removed)).optional()?;
            if let Some(removed) = removed {
                return Ok(Err(RefusedApplicant::of_person(
                    SignOnOutcome::Removed,
                    removed,
                )));
            }
            if !person.may_join {
                return Ok(Err(SignOnOutcome::NotInvited.into()));
            }
            let values = (
                people::id.eq(Bind(person.id)),
                people::account_id.eq(Bind(stamp.account)),
                people::email.eq(email.clone()),
                people::role.eq(person.role.name()),
                people::created_at.eq(Bind(stamp.at)),
            );
            let insert = diesel::insert_into(people::table).values(values);
            if on!(tx, execute(insert.on_conflict_do_nothing()))? == 0 {
                return Ok(Err(SignOnOutcome::Raced.into()));
            }
            let added = people::table.filter(people::id.eq(Bind(person.id)));
            let added = on!(tx, first(added) as FoundPerson)?;
            Ok((added, false))
        }
    })
}

/// Links a person with the subject in a transaction, and lets them join if they have not. Returns
/// the stamp of the next event; `None` if somebody else linked them at this moment.
async fn link_person(
    tx: &mut Transaction,
    applicant: &Applicant,
    found: &FoundPerson,
    stamp: &EventStamp,
) -> QueryResult<Option<EventStamp>> {
    let Applicant {
        subject, person, ..
    } = applicant;
    let target = EventTarget::Person(found.id);
    let values = (
        provider_subjects::issuer.eq(subject.issuer.clone()),
        provider_subjects::subject.eq(subject.subject.clone()),
        provider_subjects::person_id.eq(Bind(found.id)),
        provider_subjects::created_at.eq(Bind(stamp.at)),
    );
    let insert = diesel::insert_into(provider_subjects::table).values(values);
    if on!(tx, execute(insert.on_conflict_do_nothing()))? == 0 {
        return Ok(None);
    }
    let next = stamp.further();
    if found.has_joined {
        let linked = next.clone().event(EventAction::ProviderLinked, target);
        add_event(tx, linked).await?;
        let unseen = people::table
            .filter(people::id.eq(Bind(found.id)))
            .filter(people::first_unseen_event.is_null());
        let announced = people::first_unseen_event.eq(Some(next.id));
        on!(tx, execute(diesel::update(unseen).set(announced)))?;
    } else {
        let one = people::table.filter(people::id.eq(Bind(found.id)));
        let joined = (
            people::name.eq(Some(person.name.as_str().to_owned())),
            people::password.eq(Some(NO_PASSWORD)),
        );
        on!(tx, execute(diesel::update(one).set(joined)))?;
        let links = invitations::table.filter(invitations::person_id.eq(Bind(found.id)));
        on!(tx, execute(diesel::delete(links)))?;
        let joined = next.clone().noted(BY_PROVIDER);
        let joined = joined.event(EventAction::PersonJoined, target);
        let to = Role::named(&found.role).map(EventDetail::from);
        add_event(tx, Event { to, ..joined }).await?;
    }
    Ok(Some(next.further()))
}

#[boxed]
impl Database {
    /// Saves the event of a sign-in that the provider's claims do not allow, if its subject is a person
    /// of the stamp's account.
    pub async fn refuse_sign_on(
        &self,
        subject: ProviderSubject,
        stamp: EventStamp,
    ) -> Result<(), PersistenceError> {
        self.begin(async move |mut tx| {
            let ProviderSubject { issuer, subject } = subject;
            let linked = provider_subjects::table
                .inner_join(people::table.on(people::id.eq(provider_subjects::person_id)))
                .filter(provider_subjects::issuer.eq(issuer))
                .filter(provider_subjects::subject.eq(subject))
                .filter(people::account_id.eq(Bind(stamp.account)))
                .filter(people::removed_at.is_null())
                .select(people::id);
            let person: Option<PersonId> = on!(tx, first(linked)).optional()?;
            match person {
                Some(person) => Ok(commit_with(tx, refused(person, stamp)).await?),
                None => Ok(()),
            }
        })
        .await
    }

    /// Signs on a person of the stamp's account whom a provider vouches for: the person with this
    /// subject; else the one with this address, who is linked with the subject from now on and joins
    /// if they were only invited; else a new person, if they may join. Nobody is found who was
    /// removed, unless they were invited again, and nobody of another account.
    ///
    /// One transaction, with an event for each change and for the sign-in, all by the person. The
    /// link of a person who had joined is announced to them.
    pub async fn sign_on(
        &self,
        subject: ProviderSubject,
        person: SignOnPerson,
        session: NewSession,
        provider: NewProviderSession,
        stamp: EventStamp,
    ) -> Result<SignOnOutcome, PersistenceError> {
        let email = person.email.as_str().to_owned();
        let applicant = Applicant {
            subject,
            person,
            email,
        };
        self.begin(async move |mut tx| {
            let (found, is_linked) = match find_person(&mut tx, &applicant, &stamp).await? {
                Ok(found) => found,
                Err(refusal) => return refusal.save(tx, stamp).await,
            };
            let ProviderSubject { issuer, subject } = applicant.subject.clone();
            let of_person = provider_subjects::table
                .filter(provider_subjects::issuer.eq(issuer.clone()))
                .filter(provider_subjects::person_id.eq(Bind(found.id)))
                .select(provider_subjects::subject);
            let linked: Option<String> = on!(tx, first(of_person)).optional()?;
            if linked.is_some_and(|linked| linked != subject) {
                let refusal =
                    RefusedApplicant::of_person(SignOnOutcome::AddressOfAnother, found.id);
                return refusal.save(tx, stamp).await;
            }
            let mut stamp = EventStamp {
                actor: Actor::Person(found.id),
                ..stamp
            };
            if !is_linked {
                match link_person(&mut tx, &applicant, &found, &stamp).await? {
                    Some(next) => stamp = next,
                    None => return Ok(SignOnOutcome::Raced),
                }
            }
            insert_session(&mut tx, session, found.id).await?;
            let second_factor_at = applicant.person.had_second_factor.then_some(session.now);
            let insert = diesel::insert_into(provider_sessions::table).values((
                provider_sessions::hash.eq(session.hash.bytes().to_vec()),
                provider_sessions::issuer.eq(issuer),
                provider_sessions::subject.eq(subject),
                provider_sessions::sealed_grant.eq(provider.sealed_grant),
                provider_sessions::checked_at.eq(Bind(session.now)),
                provider_sessions::next_check_at.eq(provider.next_check_at),
                provider_sessions::second_factor_at.eq(second_factor_at),
            ));
            on!(tx, execute(insert))?;
            let target = EventTarget::Person(found.id);
            let stamp = stamp.noted(BY_PROVIDER);
            commit_with(tx, stamp.event(EventAction::SignedIn, target)).await?;
            Ok(SignOnOutcome::SignedOn {
                person: found.id,
                role: Role::named(&found.role).unwrap_or(Role::Reviewer),
            })
        })
        .await
    }
}
