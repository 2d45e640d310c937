//! One-time codes: asked for at sign-in, and used once.

use chrono::{TimeDelta, Utc};
use futures_util::future::join_all;
use refract_domain::account::Email;
use refract_domain::event::EventAction;
use refract_identity::people::{
    CodeError, OneTimeCodes, RecoveryCode, Session, SignInClient, SignInError, SignInOutcome,
    SignedIn, Token, TypedPassword,
};
use refract_persistence::NewPendingSignIn;
use refract_test_support::on_both;
use totp_rs::{Builder, Secret};

use crate::events::all;
use crate::fixture::Fixture;
use crate::people::{ADA, PASSWORD, joined, signed_in};
use crate::sign_in::{ATTACKER, OFFICE, browser, stranger, who};

on_both!(
    a_right_password_needs_a_code_which_signs_in_once,
    of_a_code_that_is_used_at_once_one_use_signs_in,
    of_codes_at_once_no_more_than_five_are_compared_for_a_sign_in,
    each_recovery_code_signs_in_once,
    wrong_codes_end_a_sign_in_and_block_the_person,
    a_sign_in_waits_five_minutes_for_its_code,
);

/// The code of a secret, this many steps after now.
pub(crate) fn code(secret: &str, steps: i64) -> String {
    let secret = Secret::try_from_base32(secret.replace(' ', "")).unwrap();
    let totp = Builder::new().with_secret(secret).build().unwrap();
    let seconds = Utc::now().timestamp() + 30 * steps;
    totp.generate(seconds.try_into().unwrap()).to_string()
}

/// A code that is wrong now and soon.
pub(crate) fn wrong(secret: &str) -> String {
    let right: Vec<_> = (-2..=4).map(|steps| code(secret, steps)).collect();
    let mut wrong = (0..8).map(|number| format!("{number:06}"));
    wrong.find(|code| !right.contains(code)).unwrap()
}

pub(crate) async fn codes_of(it: &Fixture, person: &SignedIn) -> OneTimeCodes {
    let found = it.identity.people().one_time_codes(person).await;
    found.unwrap()
}

pub(crate) async fn begun(it: &Fixture, person: &SignedIn) -> String {
    let people = it.identity.people();
    people.begin_codes_setup(person).await.unwrap();
    match codes_of(it, person).await {
        OneTimeCodes::SettingUp(setup) => setup.secret,
        OneTimeCodes::Off | OneTimeCodes::On { .. } => panic!("the set-up was not begun"),
    }
}

pub(crate) async fn switch_on(
    it: &Fixture,
    person: &SignedIn,
    password: &str,
    code: &str,
) -> Result<Vec<RecoveryCode>, CodeError> {
    let people = it.identity.people();
    let password = TypedPassword::new(password);
    people.switch_codes_on(person, password, code, None).await
}

/// A person who has switched on codes, with the secret, the code that did so and the recovery codes.
pub(crate) struct Protected {
    pub(crate) person: SignedIn,
    pub(crate) session: Session,
    pub(crate) secret: String,
    /// On a slow machine it is not that of now any more.
    used: String,
    pub(crate) recovery: Vec<RecoveryCode>,
}

pub(crate) async fn protected(it: &Fixture, email: &str) -> Protected {
    let (_, session) = joined(it, email).await;
    let person = who(it, &session).await;
    let secret = begun(it, &person).await;
    let first = code(&secret, 0);
    let switching = switch_on(it, &person, PASSWORD, &first);
    Protected {
        recovery: switching.await.unwrap(),
        person,
        session,
        secret,
        used: first,
    }
}

/// The token of a sign-in that still needs its code; `None` for one that needs none.
pub(crate) async fn pending(it: &Fixture, client: &SignInClient, email: &str) -> Option<Token> {
    let password = TypedPassword::new(PASSWORD);
    let people = it.identity.people();
    match people.sign_in(client, email, password, None).await.unwrap() {
        SignInOutcome::NeedsCode(pending) => Some(pending.token),
        SignInOutcome::SignedIn(_) => None,
    }
}

pub(crate) async fn finish(
    it: &Fixture,
    client: &SignInClient,
    token: &Token,
    code: &str,
) -> Result<Session, CodeError> {
    let people = it.identity.people();
    people.finish_sign_in(client, token, code, None).await
}

/// The notes of the events of an action, oldest first.
pub(crate) async fn notes_of(it: &Fixture, action: EventAction) -> Vec<String> {
    let events = all(it).await.into_iter().rev().map(|listed| listed.event);
    let of_action = events.filter(|event| event.action == action);
    let notes = of_action.map(|event| event.stamp.note);
    notes
        .map(|note| note.map(|note| note.to_string()).unwrap_or_default())
        .collect()
}

async fn a_right_password_needs_a_code_which_signs_in_once(it: Fixture) {
    let ada = protected(&it, ADA).await;
    assert!(matches!(
        codes_of(&it, &ada.person).await,
        OneTimeCodes::On {
            recovery_codes: 10,
            ..
        }
    ));
    let client = stranger(OFFICE);
    let token = pending(&it, &client, ADA).await.unwrap();
    let as_session = it.identity.people().session(&token).await.unwrap();
    let as_session = as_session.signed_in();
    assert_eq!(as_session, None, "a pending sign-in opens nothing");
    for shapeless in ["", "12345", "a code"] {
        let refused = finish(&it, &client, &token, shapeless).await;
        assert!(matches!(refused, Err(CodeError::NoCode)), "{shapeless}");
    }
    let again = finish(&it, &client, &token, &ada.used).await;
    assert!(
        matches!(again, Err(CodeError::Wrong)),
        "the code of the set-up is used"
    );
    let next = code(&ada.secret, 1);
    let (first, second) = next.split_at(3);
    let spaced = format!(" {first} {second} ");
    let session = finish(&it, &client, &token, &spaced).await.unwrap();
    let person = signed_in(&it, &session).await.unwrap();
    assert_eq!(person.person, ada.person.person);
    let over = finish(&it, &client, &token, &next).await;
    assert!(matches!(over, Err(CodeError::Over)));
    let other = pending(&it, &client, ADA).await.unwrap();
    let replayed = finish(&it, &client, &other, &next).await;
    assert!(matches!(replayed, Err(CodeError::Wrong)));
    let unknown = Token::from_random([7; 43]);
    let unknown = finish(&it, &client, &unknown, &next).await;
    assert!(matches!(unknown, Err(CodeError::Over)));
    let signed_in = notes_of(&it, EventAction::SignedIn).await;
    assert_eq!(signed_in, ["with a one-time code"]);
    let refused = notes_of(&it, EventAction::SignInRefused).await;
    assert_eq!(refused, ["a wrong one-time code"; 2]);
}

async fn of_a_code_that_is_used_at_once_one_use_signs_in(it: Fixture) {
    let ada = protected(&it, ADA).await;
    let client = stranger(OFFICE);
    let mut tokens = Vec::new();
    for _ in 0..3 {
        tokens.push(pending(&it, &client, ADA).await.unwrap());
    }
    // each sign-in tries the code twice
    let next = code(&ada.secret, 1);
    let twice = tokens.iter().chain(&tokens);
    let finishing = twice.map(|token| finish(&it, &client, token, &next));
    let outcomes = join_all(finishing).await;
    let ended = outcomes.iter().filter(|outcome| outcome.is_ok());
    assert_eq!(ended.count(), 1);
    for outcome in outcomes {
        if let Err(refusal) = outcome {
            let is_expected = matches!(refusal, CodeError::Wrong | CodeError::Over);
            assert!(is_expected, "{refusal:?}");
        }
    }
    assert_eq!(notes_of(&it, EventAction::SignedIn).await.len(), 1);
    // and so does a recovery code
    let recovery = ada.recovery[0].reveal();
    let mut tokens = Vec::new();
    for _ in 0..3 {
        tokens.push(
            pending(&it, &browser(OFFICE, &ada.session.browser), ADA)
                .await
                .unwrap(),
        );
    }
    let client = browser(OFFICE, &ada.session.browser);
    let finishing = tokens
        .iter()
        .map(|token| finish(&it, &client, token, &recovery));
    let outcomes = join_all(finishing).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    let used = notes_of(&it, EventAction::RecoveryCodeUsed).await;
    assert_eq!(used, ["9 left"]);
}

async fn of_codes_at_once_no_more_than_five_are_compared_for_a_sign_in(it: Fixture) {
    let ada = protected(&it, ADA).await;
    let client = stranger(OFFICE);
    let token = pending(&it, &client, ADA).await.unwrap();
    let guess = wrong(&ada.secret);
    let guessing = (0..12).map(|_| finish(&it, &client, &token, &guess));
    for outcome in join_all(guessing).await {
        let refusal = outcome.err().unwrap();
        let is_expected = matches!(
            refusal,
            CodeError::Wrong | CodeError::Over | CodeError::Blocked(_)
        );
        assert!(is_expected, "{refusal:?}");
    }
    let refused = notes_of(&it, EventAction::SignInRefused).await;
    let compared = refused
        .iter()
        .filter(|note| *note == "a wrong one-time code");
    assert!((1..=5).contains(&compared.count()), "{refused:?}");
}

async fn each_recovery_code_signs_in_once(it: Fixture) {
    let ada = protected(&it, ADA).await;
    let client = stranger(OFFICE);
    let token = pending(&it, &client, ADA).await.unwrap();
    let recovery = ada.recovery[3].reveal().to_uppercase().replace('-', " ");
    let session = finish(&it, &client, &token, &recovery).await.unwrap();
    let person = signed_in(&it, &session).await.unwrap();
    assert!(matches!(
        codes_of(&it, &person).await,
        OneTimeCodes::On {
            recovery_codes: 9,
            ..
        }
    ));
    let token = pending(&it, &client, ADA).await.unwrap();
    let again = finish(&it, &client, &token, &recovery).await;
    assert!(matches!(again, Err(CodeError::Wrong)));
    let people = it.identity.people();
    let password = TypedPassword::new(PASSWORD);
    let other = ada.recovery[4].reveal();
    let renewing = people.renew_recovery_codes(&person, password, &other, None);
    let renewed = renewing.await.unwrap();
    assert_eq!(renewed.len(), 10);
    let before = finish(&it, &client, &token, &ada.recovery[5].reveal()).await;
    assert!(matches!(before, Err(CodeError::Wrong)), "it is replaced");
    let finished = finish(&it, &client, &token, &renewed[0].reveal()).await;
    assert!(finished.is_ok());
    let made = notes_of(&it, EventAction::RecoveryCodesMade).await;
    assert_eq!(made, ["with a recovery code"]);
    let signed_in = notes_of(&it, EventAction::SignedIn).await;
    assert_eq!(signed_in, ["with a recovery code"; 2]);
}

async fn wrong_codes_end_a_sign_in_and_block_the_person(it: Fixture) {
    let ada = protected(&it, ADA).await;
    let eve = protected(&it, "eve@example.com").await;
    let attacker = stranger(ATTACKER);
    let guess = wrong(&ada.secret);
    for _ in 0..2 {
        let token = pending(&it, &attacker, ADA).await.unwrap();
        for last in [false, false, false, false, true] {
            let refusal = finish(&it, &attacker, &token, &guess).await.err().unwrap();
            let is_over = matches!(refusal, CodeError::Over);
            assert_eq!(is_over, last, "{refusal:?}");
        }
        let over = finish(&it, &attacker, &token, &code(&ada.secret, 1)).await;
        assert!(matches!(over, Err(CodeError::Over)));
    }
    // signing in again brings no further guesses, from any network
    for network in [ATTACKER, OFFICE] {
        let client = stranger(network);
        let token = pending(&it, &client, ADA).await.unwrap();
        let blocked = finish(&it, &client, &token, &code(&ada.secret, 1)).await;
        let refusal = blocked.err().unwrap();
        assert!(
            matches!(
                refusal,
                CodeError::Blocked(SignInError::TooManyTries { .. })
            ),
            "{refusal:?}"
        );
        assert!(refusal.retry_after(Utc::now()).is_some());
    }
    let refused = notes_of(&it, EventAction::SignInRefused).await;
    let of = |words: &str| refused.iter().filter(|note| note.contains(words)).count();
    assert_eq!(of("a wrong one-time code"), 10);
    assert_eq!(of("5 wrong one-time codes"), 2);
    assert_eq!(of("the next ones are stopped"), 1);
    // neither the person in a known browser nor others are locked out
    let own = browser(OFFICE, &ada.session.browser);
    let token = pending(&it, &own, ADA).await.unwrap();
    let finished = finish(&it, &own, &token, &code(&ada.secret, 1)).await;
    assert!(finished.is_ok());
    let token = pending(&it, &attacker, "eve@example.com").await.unwrap();
    let finished = finish(&it, &attacker, &token, &code(&eve.secret, 1)).await;
    assert!(finished.is_ok());
}

async fn a_sign_in_waits_five_minutes_for_its_code(it: Fixture) {
    let ada = protected(&it, ADA).await;
    let client = stranger(OFFICE);
    let email = Email::parse(ADA).unwrap();
    let checked = it.database.find_password(&email).await.unwrap().unwrap();
    for (seconds, is_over) in [(301, true), (290, false)] {
        let token = Token::from_random([u8::try_from(seconds % 64).unwrap(); 43]);
        let new = NewPendingSignIn {
            hash: token.hash(),
            created_at: Utc::now() - TimeDelta::seconds(seconds),
        };
        let long_ago = Utc::now() - TimeDelta::days(1);
        let beginning = it
            .database
            .begin_pending_sign_in(checked.clone(), new, long_ago);
        assert!(beginning.await.unwrap());
        let finished = finish(&it, &client, &token, &code(&ada.secret, 1)).await;
        assert_eq!(matches!(finished, Err(CodeError::Over)), is_over);
        assert_eq!(finished.is_ok(), !is_over);
    }
}
