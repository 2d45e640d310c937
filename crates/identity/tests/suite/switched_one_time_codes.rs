//! One-time codes: set up, switched on and switched off by the person themselves.

use futures_util::future::join_all;
use refract_domain::event::EventAction;
use refract_identity::people::{CodeError, OneTimeCodes, SignInError, SignedIn, TypedPassword};
use refract_test_support::on_both;

use crate::fixture::Fixture;
use crate::one_time_codes::{begun, code, codes_of, notes_of, pending, switch_on, wrong};
use crate::people::{ADA, PASSWORD, joined, signed_in};
use crate::sign_in::{OFFICE, stranger, who};

on_both!(
    switching_needs_the_password_and_an_unused_code,
    a_set_up_that_was_begun_anew_is_another_one,
);

async fn switch_off(
    it: &Fixture,
    person: &SignedIn,
    password: &str,
    code: &str,
) -> Result<(), CodeError> {
    let people = it.identity.people();
    let password = TypedPassword::new(password);
    people.switch_codes_off(person, password, code, None).await
}

async fn switching_needs_the_password_and_an_unused_code(it: Fixture) {
    let (_, session) = joined(&it, ADA).await;
    let person = who(&it, &session).await;
    let secret = begun(&it, &person).await;
    let bad_password = switch_on(&it, &person, "wrong", &code(&secret, 0)).await;
    assert!(matches!(
        bad_password,
        Err(CodeError::Password(SignInError::Wrong))
    ));
    let bad_code = switch_on(&it, &person, PASSWORD, &wrong(&secret)).await;
    assert!(matches!(bad_code, Err(CodeError::Wrong)));
    let no_recovery = switch_on(&it, &person, PASSWORD, "abcd-efgh-2345-67xy").await;
    assert!(matches!(no_recovery, Err(CodeError::Wrong)));
    let client = stranger(OFFICE);
    assert!(
        pending(&it, &client, ADA).await.is_none(),
        "a set-up alone asks for no code"
    );
    let first = code(&secret, 0);
    let recovery = switch_on(&it, &person, PASSWORD, &first).await.unwrap();
    let again = switch_on(&it, &person, PASSWORD, &code(&secret, 1)).await;
    assert!(matches!(again, Err(CodeError::Meanwhile)));
    let begin_again = it.identity.people().begin_codes_setup(&person).await;
    assert!(matches!(begin_again, Err(CodeError::Meanwhile)));
    assert!(signed_in(&it, &session).await.is_some());
    for (password, code, is_password) in [
        ("wrong", recovery[0].reveal(), true),
        (PASSWORD, first, false),
        (PASSWORD, wrong(&secret), false),
    ] {
        let refusal = switch_off(&it, &person, password, &code).await.err();
        let refusal = refusal.unwrap();
        let expected = if is_password {
            matches!(refusal, CodeError::Password(SignInError::Wrong))
        } else {
            matches!(refusal, CodeError::Wrong)
        };
        assert!(expected, "{refusal:?}");
    }
    let off = switch_off(&it, &person, PASSWORD, &recovery[0].reveal()).await;
    off.unwrap();
    assert!(matches!(codes_of(&it, &person).await, OneTimeCodes::Off));
    assert!(pending(&it, &client, ADA).await.is_none());
    let gone = switch_off(&it, &person, PASSWORD, &recovery[1].reveal()).await;
    assert!(matches!(gone, Err(CodeError::Meanwhile)));
    assert_eq!(notes_of(&it, EventAction::CodesOn).await, [""]);
    let off = notes_of(&it, EventAction::CodesOff).await;
    assert_eq!(off, ["with a recovery code"]);
    // ten wrong codes in a session block the next one there
    let secret = begun(&it, &person).await;
    let switched = switch_on(&it, &person, PASSWORD, &code(&secret, 0)).await;
    let recovery = switched.unwrap();
    for _ in 0..8 {
        let refused = switch_off(&it, &person, PASSWORD, &wrong(&secret)).await;
        assert!(matches!(refused, Err(CodeError::Wrong)));
    }
    let blocked = switch_off(&it, &person, PASSWORD, &recovery[0].reveal()).await;
    assert!(matches!(blocked, Err(CodeError::Blocked(_))));
}

async fn a_set_up_that_was_begun_anew_is_another_one(it: Fixture) {
    let (_, session) = joined(&it, ADA).await;
    let person = who(&it, &session).await;
    let people = it.identity.people();
    let no_set_up = switch_on(&it, &person, PASSWORD, "123456").await;
    assert!(matches!(no_set_up, Err(CodeError::Meanwhile)));
    let first = begun(&it, &person).await;
    let second = begun(&it, &person).await;
    assert_ne!(first, second);
    let old = switch_on(&it, &person, PASSWORD, &code(&first, 0)).await;
    assert!(matches!(old, Err(CodeError::Wrong)));
    // of many at once one switches on
    let right = code(&second, 0);
    let switching = (0..2).map(|_| switch_on(&it, &person, PASSWORD, &right));
    let outcomes = join_all(switching).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    assert!(people.has_codes(person.person).await.unwrap());
    assert_eq!(notes_of(&it, EventAction::CodesOn).await.len(), 1);
}
