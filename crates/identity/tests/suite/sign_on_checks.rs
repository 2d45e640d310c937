//! Whether a provider still lets a person in: asked again, once at a time, while they use the app.

use chrono::{TimeDelta, Utc};
use futures_util::future::join_all;
use refract_domain::account::Role;
use refract_domain::event::EventAction;
use refract_identity::people::{Session, SessionState, SignedIn};
use refract_persistence::NewProviderSession;
use refract_test_support::on_both;
use serde_json::{Value, json};

use crate::people::{ADA, joined};
use crate::sign_on_fixture::{SignOnFixture, by_groups, claims, with};

on_both!(with crate::sign_on_fixture::on;
    a_session_goes_on_while_the_provider_lets_the_person_in,
    who_loses_the_right_at_the_provider_loses_the_session,
    of_many_requests_at_once_one_asks,
    roles_are_taken_over_while_a_person_is_signed_in,
    a_provider_that_is_away_ends_no_session_for_an_hour,
    a_session_that_cannot_be_prolonged_lasts_a_working_day,
    without_a_provider_its_sessions_end,
);

/// Makes the next request of a session ask the provider, as if it was last asked this long ago.
async fn let_pass(it: &SignOnFixture, session: &Session, age: TimeDelta, can_ask: bool) {
    let hash = session.token.hash();
    let grant = it.base.database.find_grant(hash).await.unwrap().unwrap();
    let then = Utc::now() - age;
    let check = NewProviderSession {
        sealed_grant: grant.sealed,
        next_check_at: can_ask.then(|| then + TimeDelta::minutes(10)),
    };
    let saving = it.base.database.save_provider_check(hash, check, then);
    saving.await.unwrap();
}

async fn is_due(it: &SignOnFixture, session: &Session) -> bool {
    let state = it.identity.people().session(&session.token).await.unwrap();
    matches!(state, SessionState::CheckDue)
}

async fn checked(it: &SignOnFixture, session: &Session) -> Option<SignedIn> {
    let people = it.identity.people();
    people.check_with_provider(&session.token).await.unwrap()
}

async fn a_session_goes_on_while_the_provider_lets_the_person_in(it: Option<SignOnFixture>) {
    let Some(it) = it else { return };
    let session = it.sign_on().await;
    assert!(!is_due(&it, &session).await);
    for days in [0, 0, 20] {
        let_pass(
            &it,
            &session,
            TimeDelta::days(days) + TimeDelta::minutes(11),
            true,
        )
        .await;
        assert!(is_due(&it, &session).await);
        assert!(checked(&it, &session).await.is_some());
        assert!(!is_due(&it, &session).await);
    }
}

async fn who_loses_the_right_at_the_provider_loses_the_session(it: Option<SignOnFixture>) {
    let Some(it) = it else { return };
    for gone in [
        Value::Null,
        json!({ "sub": "ada", "claims": claims("ada@example.org", &[]) }),
    ] {
        it.provider.knows("ada", &claims(ADA, &[])).await;
        let session = it.sign_on().await;
        let ada = it.who(&session).await.unwrap().person;
        it.provider.steer("account", &gone).await;
        let_pass(&it, &session, TimeDelta::minutes(11), true).await;
        assert_eq!(checked(&it, &session).await, None);
        assert!(it.who(&session).await.is_none());
        let events = it.events(ada).await;
        assert_eq!(events.last(), Some(&EventAction::SessionEnded), "{gone}");
    }
}

async fn of_many_requests_at_once_one_asks(it: Option<SignOnFixture>) {
    let Some(it) = it else { return };
    let session = it.sign_on().await;
    for minutes in [11, 60 * 24] {
        // the provider gives a new grant each time, and revokes all if an old one is used again
        let_pass(&it, &session, TimeDelta::minutes(minutes), true).await;
        let all = join_all((0..12).map(|_| checked(&it, &session))).await;
        assert!(all.iter().all(Option::is_some), "{minutes}: {all:?}");
    }
}

async fn roles_are_taken_over_while_a_person_is_signed_in(it: Option<SignOnFixture>) {
    let Some(it) = it else { return };
    joined(&it.base, "grace@example.com").await;
    let identity = with(&it.base, by_groups(&it.base, &it.provider));
    it.provider.knows("ada", &claims(ADA, &["admins"])).await;
    let session = it.try_sign_on(&identity).await.unwrap();
    let ada = it.who(&session).await.unwrap().person;
    it.provider.knows("ada", &claims(ADA, &["authors"])).await;
    let_pass(&it, &session, TimeDelta::minutes(11), true).await;
    let now = identity.people().check_with_provider(&session.token).await;
    assert_eq!(now.unwrap().unwrap().role, Role::Editor);
    assert_eq!(it.role(ada).await, Role::Editor);
}

async fn a_provider_that_is_away_ends_no_session_for_an_hour(it: Option<SignOnFixture>) {
    let Some(it) = it else { return };
    let session = it.sign_on().await;
    it.provider.steer("away", &json!(true)).await;
    let_pass(&it, &session, TimeDelta::minutes(50), true).await;
    assert!(checked(&it, &session).await.is_some());
    assert!(
        !is_due(&it, &session).await,
        "it is asked again in a minute"
    );
    let_pass(&it, &session, TimeDelta::minutes(70), true).await;
    assert!(checked(&it, &session).await.is_none());
    it.provider.steer("away", &json!(false)).await;
    assert!(checked(&it, &session).await.is_some(), "it was not ended");
}

async fn a_session_that_cannot_be_prolonged_lasts_a_working_day(it: Option<SignOnFixture>) {
    let Some(it) = it else { return };
    it.provider.steer("refresh", &json!(false)).await;
    let session = it.sign_on().await;
    let_pass(&it, &session, TimeDelta::minutes(60 * 8 - 1), false).await;
    assert!(!is_due(&it, &session).await);
    let_pass(&it, &session, TimeDelta::minutes(60 * 8), false).await;
    assert!(is_due(&it, &session).await);
    assert!(checked(&it, &session).await.is_none());
    assert!(it.who(&session).await.is_none());
}

async fn without_a_provider_its_sessions_end(it: Option<SignOnFixture>) {
    let Some(it) = it else { return };
    let session = it.sign_on().await;
    let_pass(&it, &session, TimeDelta::minutes(11), true).await;
    let people = it.base.identity.people();
    let found = people.check_with_provider(&session.token).await.unwrap();
    assert_eq!(found, None);
}
