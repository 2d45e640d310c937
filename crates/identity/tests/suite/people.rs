//! People: invited, joined, signed in, given new links and roles, and removed.

use futures_util::future::join_all;
use refract_domain::account::{Email, PersonName, Role};
use refract_identity::people::{
    AccountActor, Invitation, JoinError, PersonError, Session, SessionEnd, SignInClient,
    SignInError, SignInOutcome, SignedIn, TypedPassword,
};
use refract_test_support::on_both;

use crate::fixture::{Fixture, account};

on_both!(
    a_link_joins_once_and_the_session_names_the_person,
    of_many_who_take_up_one_link_at_once_one_joins,
    a_password_that_is_refused_leaves_the_link_good,
    a_new_password_ends_every_session_and_the_old_password,
    tries_at_once_are_counted_together,
    who_signs_in_is_known_until_signing_out_or_removal,
    a_link_that_signs_in_does_so_once,
    an_address_that_is_in_use_is_not_invited_again,
    an_account_keeps_an_owner_and_its_people_to_itself,
);

pub(crate) const PASSWORD: &str = "zy!3kQ9 dab.x";
pub(crate) const ADA: &str = "ada@example.com";

pub(crate) async fn invite(
    it: &Fixture,
    email: &str,
    role: Role,
) -> Result<Invitation, PersonError> {
    let email = Email::parse(email).unwrap();
    it.identity
        .people()
        .invite(&AccountActor::operator(it.account), &email, role)
        .await
}

pub(crate) async fn accept(
    it: &Fixture,
    invitation: &Invitation,
    password: &str,
) -> Result<Session, JoinError> {
    let name = PersonName::parse("Ada").unwrap();
    let password = TypedPassword::new(password);
    let token = &invitation.token;
    it.identity
        .people()
        .accept(&office(), token, &name, password, None)
        .await
}

/// An owner who joined by a link, with that link and the session.
pub(crate) async fn joined(it: &Fixture, email: &str) -> (Invitation, Session) {
    let invitation = invite(it, email, Role::Owner).await.unwrap();
    let session = accept(it, &invitation, PASSWORD).await.unwrap();
    (invitation, session)
}

/// An unknown browser, in the office's network.
fn office() -> SignInClient {
    SignInClient::new("203.0.113.0/24".to_owned(), Vec::new())
}

/// The session of a person without one-time codes.
pub(crate) fn without_code(outcome: SignInOutcome) -> Session {
    match outcome {
        SignInOutcome::SignedIn(session) => session,
        SignInOutcome::NeedsCode(_) => panic!("a code is needed"),
    }
}

async fn sign_in(it: &Fixture, email: &str, password: &str) -> Result<Session, SignInError> {
    let password = TypedPassword::new(password);
    it.identity
        .people()
        .sign_in(&office(), email, password, None)
        .await
        .map(without_code)
}

pub(crate) async fn signed_in(it: &Fixture, session: &Session) -> Option<SignedIn> {
    let found = it.identity.people().session(&session.token).await;
    found.unwrap().signed_in()
}

async fn link_is_good(it: &Fixture, invitation: &Invitation) -> bool {
    let found = it
        .identity
        .people()
        .find_invitation(&invitation.token)
        .await;
    found.unwrap().is_some()
}

async fn a_link_joins_once_and_the_session_names_the_person(it: Fixture) {
    let (invitation, session) = joined(&it, "Ada@Example.com").await;
    let expected = SignedIn {
        session: session.token.hash(),
        account: it.account,
        person: invitation.person,
        email: Email::parse(ADA).unwrap(),
        name: "Ada".to_owned(),
        role: Role::Owner,
        first_unseen_event: None,
        is_by_provider: false,
        has_password: true,
        is_by_link: false,
        codes_due: None,
    };
    assert_eq!(signed_in(&it, &session).await, Some(expected));
    assert!(!link_is_good(&it, &invitation).await);
    let again = accept(&it, &invitation, PASSWORD).await;
    assert!(matches!(again, Err(JoinError::Void)));
}

async fn of_many_who_take_up_one_link_at_once_one_joins(it: Fixture) {
    let invitation = invite(&it, ADA, Role::Owner).await.unwrap();
    let passwords: Vec<_> = (0..6).map(|n| format!("{PASSWORD} {n}")).collect();
    let accepting = passwords
        .iter()
        .map(|password| accept(&it, &invitation, password));
    let mut winners = Vec::new();
    for (password, accepted) in passwords.iter().zip(join_all(accepting).await) {
        match accepted {
            Ok(session) => winners.push((password, session)),
            Err(JoinError::Void) => {}
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(winners.len(), 1);
    let (password, session) = &winners[0];
    assert!(signed_in(&it, session).await.is_some());
    assert!(sign_in(&it, ADA, password).await.is_ok());
}

async fn a_password_that_is_refused_leaves_the_link_good(it: Fixture) {
    let invitation = invite(&it, ADA, Role::Owner).await.unwrap();
    for weak in [
        "too short",
        "password1234",
        "ada@example.com",
        "refract2026!",
    ] {
        let refused = accept(&it, &invitation, weak).await;
        assert!(matches!(refused, Err(JoinError::Password(_))), "{weak}");
    }
    assert!(link_is_good(&it, &invitation).await);
    assert!(accept(&it, &invitation, PASSWORD).await.is_ok());
}

async fn a_new_password_ends_every_session_and_the_old_password(it: Fixture) {
    let (invitation, office) = joined(&it, ADA).await;
    let home = sign_in(&it, ADA, PASSWORD).await.unwrap();
    let actor = AccountActor::operator(it.account);
    let link = it.identity.people().reset(&actor, invitation.person).await;
    let link = link.unwrap();
    assert!(signed_in(&it, &office).await.is_some(), "nothing ends yet");
    let new = accept(&it, &link, "another 9kQ3 one").await.unwrap();
    assert!(signed_in(&it, &new).await.is_some());
    for before in [&office, &home] {
        assert_eq!(signed_in(&it, before).await, None);
    }
    let old = sign_in(&it, ADA, PASSWORD).await;
    assert!(matches!(old, Err(SignInError::Wrong)));
    assert!(sign_in(&it, ADA, "another 9kQ3 one").await.is_ok());
}

async fn tries_at_once_are_counted_together(it: Fixture) {
    joined(&it, ADA).await;
    let wrong = async |outcomes: Vec<Result<Session, SignInError>>| {
        let kinds = outcomes.into_iter().map(|outcome| match outcome {
            Err(SignInError::Wrong) => 1,
            Err(SignInError::TooManyTries { .. }) => 0,
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("signed in by a wrong password"),
        });
        kinds.sum::<usize>()
    };
    let at_once = join_all((0..16).map(|_| sign_in(&it, ADA, "wrong"))).await;
    let mut tried = wrong(at_once).await;
    assert!(tried <= 10, "{tried} were let through");
    // some of the concurrent tries may have blocked each other, which does not count
    while tried < 10 {
        tried += wrong(vec![sign_in(&it, ADA, "wrong").await]).await;
    }
    let stopped = sign_in(&it, ADA, PASSWORD).await;
    assert!(matches!(stopped, Err(SignInError::TooManyTries { .. })));
}

async fn who_signs_in_is_known_until_signing_out_or_removal(it: Fixture) {
    let (ada, session) = joined(&it, ADA).await;
    let person = signed_in(&it, &session).await.unwrap();
    it.identity
        .people()
        .end_session(&person, SessionEnd::SignedOut, None)
        .await
        .unwrap();
    assert_eq!(signed_in(&it, &session).await, None);
    let (grace, session) = joined(&it, "grace@example.com").await;
    let actor = AccountActor::person(it.account, ada.person);
    it.identity
        .people()
        .set_role(&actor, grace.person, Role::Reviewer)
        .await
        .unwrap();
    let role = signed_in(&it, &session).await.map(|person| person.role);
    assert_eq!(role, Some(Role::Reviewer), "from the next request on");
    it.identity
        .people()
        .remove(&actor, grace.person)
        .await
        .unwrap();
    assert_eq!(signed_in(&it, &session).await, None);
    let gone = sign_in(&it, "grace@example.com", PASSWORD).await;
    assert!(matches!(gone, Err(SignInError::Wrong)));
}

async fn a_link_that_signs_in_does_so_once(it: Fixture) {
    let (ada, _) = joined(&it, ADA).await;
    let link = it
        .identity
        .people()
        .sign_in_link(&AccountActor::operator(it.account), ada.person)
        .await;
    let token = link.unwrap().unwrap();
    let client = office();
    for _ in 0..2 {
        let is_good = it.identity.people().is_sign_in_link(&token).await;
        assert!(is_good.unwrap(), "looking uses nothing up");
    }
    let opening = (0..6).map(|_| it.identity.people().sign_in_by_link(&client, &token, None));
    let sessions: Vec<_> = join_all(opening)
        .await
        .into_iter()
        .filter_map(Result::unwrap)
        .collect();
    assert_eq!(sessions.len(), 1);
    assert!(signed_in(&it, &sessions[0]).await.is_some());
    let is_good = it.identity.people().is_sign_in_link(&token).await;
    assert!(!is_good.unwrap());
    // a sign-in link cannot be used to choose a password
    let found = it.identity.people().find_invitation(&token).await;
    assert_eq!(found.unwrap(), None);
}

async fn an_address_that_is_in_use_is_not_invited_again(it: Fixture) {
    let first = invite(&it, ADA, Role::Reviewer).await.unwrap();
    let second = invite(&it, ADA, Role::Editor).await.unwrap();
    assert_eq!((first.person, second.role), (second.person, Role::Editor));
    assert!(
        !link_is_good(&it, &first).await,
        "the newer link replaces it"
    );
    accept(&it, &second, PASSWORD).await.unwrap();
    let refused = invite(&it, ADA, Role::Owner).await;
    assert!(matches!(refused, Err(PersonError::HasJoined)));
    let elsewhere = AccountActor::operator(account(&it.database).await);
    let email = Email::parse(ADA).unwrap();
    let refused = it
        .identity
        .people()
        .invite(&elsewhere, &email, Role::Owner)
        .await;
    assert!(matches!(refused, Err(PersonError::AddressInUse)));
}

async fn an_account_keeps_an_owner_and_its_people_to_itself(it: Fixture) {
    let (ada, session) = joined(&it, ADA).await;
    let actor = AccountActor::person(it.account, ada.person);
    let demoted = it
        .identity
        .people()
        .set_role(&actor, ada.person, Role::Editor)
        .await;
    assert!(matches!(demoted, Err(PersonError::LastOwner)));
    let removed = it.identity.people().remove(&actor, ada.person).await;
    assert!(matches!(removed, Err(PersonError::LastOwner)));
    let stranger = AccountActor::operator(account(&it.database).await);
    let removed = it.identity.people().remove(&stranger, ada.person).await;
    assert!(matches!(removed, Err(PersonError::NotFound)));
    let demoted = it
        .identity
        .people()
        .set_role(&stranger, ada.person, Role::Editor)
        .await;
    assert!(matches!(demoted, Err(PersonError::NotFound)));
    let reset = it.identity.people().reset(&stranger, ada.person).await;
    assert!(matches!(reset, Err(PersonError::NotFound)));
    let link = it
        .identity
        .people()
        .sign_in_link(&stranger, ada.person)
        .await;
    assert!(link.unwrap().is_none());
    let role = signed_in(&it, &session).await.map(|person| person.role);
    assert_eq!(role, Some(Role::Owner));
}
