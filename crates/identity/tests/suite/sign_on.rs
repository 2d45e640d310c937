//! Signing on by a real provider: who is found, who joins, and which answers are not trusted.

use std::io::Write as _;

use futures_util::future::join_all;
use refract_domain::account::Role;
use refract_domain::event::EventAction;
use refract_identity::people::{
    AccountActor, CodeError, CodesDue, ProviderSecret, SignInError, SignOnError, SignOnFailure,
    Token, TypedPassword,
};
use refract_test_support::on_both;
use serde_json::{Value, json};

use crate::fixture::account;
use crate::one_time_codes::{begun, code, switch_on};
use crate::people::{ADA, PASSWORD, invite, joined};
use crate::sign_in::{ATTACKER, OFFICE, stranger};
use crate::sign_on_fixture::{
    SignOnFixture, by_groups, claims, finish, finish_from, settings, with,
};

on_both!(with crate::sign_on_fixture::on;
    a_new_person_joins_with_the_least_role,
    many_first_sign_ons_at_once_make_one_person,
    an_invited_person_joins_by_their_address,
    a_person_with_a_password_is_linked_once,
    who_was_removed_stays_out_until_they_are_invited_again,
    an_address_that_was_given_to_another_identity_is_not_taken_over,
    roles_follow_the_claim,
    who_the_rules_do_not_let_in_stays_out,
    without_rules_only_the_invited_join,
    people_of_another_account_stay_out,
    refused_codes_slow_their_network_alone,
    required_codes_bind_sign_ons_without_a_second_factor,
    answers_that_cannot_be_trusted_sign_nobody_in,
    another_browser_or_an_old_answer_signs_nobody_in,
    new_keys_and_a_new_secret_are_found,
    a_provider_that_is_away_is_waited_for,
);

async fn a_new_person_joins_with_the_least_role(it: Option<SignOnFixture>) {
    let Some(it) = it else { return };
    let session = it.sign_on().await;
    let ada = it.who(&session).await.unwrap();
    assert_eq!(
        (ada.email.as_str(), ada.name.as_str()),
        (ADA, "Ada Lovelace")
    );
    assert_eq!((ada.role, ada.is_by_provider), (Role::Reviewer, true));
    let again = it.sign_on().await;
    assert_eq!(it.who(&again).await.unwrap().person, ada.person);
    let expected = [
        EventAction::PersonJoined,
        EventAction::SignedIn,
        EventAction::SignedIn,
    ];
    assert_eq!(it.events(ada.person).await, expected);
    // nobody has a password that fits
    for password in ["*", "", PASSWORD] {
        let password = TypedPassword::new(password);
        let people = it.identity.people();
        let trying = people.sign_in(&stranger(OFFICE), ADA, password, None).await;
        assert!(matches!(trying, Err(SignInError::Wrong)));
    }
}

async fn many_first_sign_ons_at_once_make_one_person(it: Option<SignOnFixture>) {
    let Some(it) = it else { return };
    let sessions = join_all((0..8).map(|_| it.try_sign_on(&it.identity))).await;
    let people = it.identity.people().list(it.base.account).await.unwrap();
    assert_eq!(people.len(), 1);
    for session in sessions {
        let who = it.who(&session.unwrap()).await.unwrap();
        assert_eq!(who.person, people[0].id);
    }
    let events = it.events(people[0].id).await;
    let joined = events.iter().filter(|it| **it == EventAction::PersonJoined);
    assert_eq!((joined.count(), events.len()), (1, 9));
}

async fn an_invited_person_joins_by_their_address(it: Option<SignOnFixture>) {
    let Some(it) = it else { return };
    let invitation = invite(&it.base, ADA, Role::Owner).await.unwrap();
    let session = it.sign_on().await;
    let ada = it.who(&session).await.unwrap();
    assert_eq!((ada.person, ada.role), (invitation.person, Role::Owner));
    let link = it
        .identity
        .people()
        .find_invitation(&invitation.token)
        .await;
    assert_eq!(link.unwrap(), None, "the link is void");
}

async fn a_person_with_a_password_is_linked_once(it: Option<SignOnFixture>) {
    let Some(it) = it else { return };
    let (invitation, session) = joined(&it.base, ADA).await;
    let known = it.events(invitation.person).await.len();
    for _ in 0..2 {
        let session = it.sign_on().await;
        assert_eq!(it.who(&session).await.unwrap().person, invitation.person);
    }
    let expected = [
        EventAction::ProviderLinked,
        EventAction::SignedIn,
        EventAction::SignedIn,
    ];
    assert_eq!(it.events(invitation.person).await[known..], expected);
    let by_password = it.who(&session).await.unwrap();
    let unseen = by_password.first_unseen_event.unwrap();
    let events = it.identity.events();
    let notices = events.change_notices(it.base.account, invitation.person, unseen);
    let announced = notices.await.unwrap();
    let announced: Vec<_> = announced.iter().map(|it| it.change.event.action).collect();
    assert_eq!(announced, [EventAction::ProviderLinked]);
    assert!(!by_password.is_by_provider, "the session goes on");
    let password = TypedPassword::new(PASSWORD);
    let people = it.identity.people();
    let office = stranger(OFFICE);
    let signing_in = people.sign_in(&office, ADA, password, None);
    assert!(signing_in.await.is_ok(), "the password goes on");
}

async fn who_was_removed_stays_out_until_they_are_invited_again(it: Option<SignOnFixture>) {
    let Some(it) = it else { return };
    joined(&it.base, "grace@example.com").await;
    let session = it.sign_on().await;
    let ada = it.who(&session).await.unwrap().person;
    let actor = AccountActor::operator(it.base.account);
    it.identity.people().remove(&actor, ada).await.unwrap();
    assert!(it.who(&session).await.is_none());
    let refused = it.try_sign_on(&it.identity).await;
    assert!(matches!(refused, Err(SignOnFailure::Removed)));
    // another identity with the address is no way around
    it.provider.knows("another", &claims(ADA, &[])).await;
    let refused = it.try_sign_on(&it.identity).await;
    assert!(matches!(refused, Err(SignOnFailure::Removed)));
    let refusals = it.events(ada).await;
    let refusals = refusals
        .iter()
        .filter(|it| **it == EventAction::SignInRefused);
    assert_eq!(refusals.count(), 2);
    it.provider.knows("ada", &claims(ADA, &[])).await;
    let invitation = invite(&it.base, ADA, Role::Editor).await.unwrap();
    let session = it.sign_on().await;
    let again = it.who(&session).await.unwrap();
    assert_eq!(
        (again.person, again.role),
        (invitation.person, Role::Editor)
    );
    assert_ne!(again.person, ada);
}

async fn an_address_that_was_given_to_another_identity_is_not_taken_over(
    it: Option<SignOnFixture>,
) {
    let Some(it) = it else { return };
    let session = it.sign_on().await;
    it.provider.knows("new", &claims(ADA, &[])).await;
    let refused = it.try_sign_on(&it.identity).await;
    assert!(matches!(refused, Err(SignOnFailure::AddressOfAnother)));
    let events = it.events(it.who(&session).await.unwrap().person).await;
    assert_eq!(events.last(), Some(&EventAction::SignInRefused));
    // the identity counts, not the address
    let other = "ada.king@example.com";
    it.provider.knows("ada", &claims(other, &[])).await;
    let same = it.sign_on().await;
    let people = [
        it.who(&session).await.unwrap(),
        it.who(&same).await.unwrap(),
    ];
    assert_eq!(people[0].person, people[1].person);
}

fn is_not_let_in<T>(ended: &Result<T, SignOnFailure>) -> bool {
    matches!(
        ended,
        Err(SignOnFailure::Provider(SignOnError::NotLetIn { .. }))
    )
}

async fn roles_follow_the_claim(it: Option<SignOnFixture>) {
    let Some(it) = it else { return };
    let identity = with(&it.base, by_groups(&it.base, &it.provider));
    let with_groups = async |groups: &[&str]| {
        it.provider.knows("ada", &claims(ADA, groups)).await;
        let session = it.try_sign_on(&identity).await?;
        let found = identity.people().session(&session.token).await.unwrap();
        Ok(found.signed_in().unwrap())
    };
    let author: Result<_, SignOnFailure> = with_groups(&["authors", "others"]).await;
    let author = author.unwrap();
    assert_eq!(author.role, Role::Editor);
    assert_eq!(with_groups(&["admins"]).await.unwrap().role, Role::Owner);
    // the last owner stays one
    assert_eq!(with_groups(&["authors"]).await.unwrap().role, Role::Owner);
    joined(&it.base, "grace@example.com").await;
    assert_eq!(with_groups(&["authors"]).await.unwrap().role, Role::Editor);
    assert!(is_not_let_in(&with_groups(&["others"]).await));
    let events = it.events(author.person).await;
    let count = |action| events.iter().filter(|it| **it == action).count();
    assert_eq!(count(EventAction::RoleSet), 2);
    assert_eq!(count(EventAction::SignInRefused), 1);
}

async fn who_the_rules_do_not_let_in_stays_out(it: Option<SignOnFixture>) {
    let Some(it) = it else { return };
    for wrong in [
        json!({ "email": "eve@example.org", "email_verified": true }),
        json!({ "email": "eve@example.com", "email_verified": false }),
        json!({ "email": "eve@evil.example.com", "email_verified": true }),
        json!({ "name": "Eve" }),
    ] {
        it.provider.knows("eve", &wrong).await;
        let refused = it.try_sign_on(&it.identity).await;
        assert!(is_not_let_in(&refused), "{wrong}");
    }
    it.provider.steer("account", &Value::Null).await;
    let refused = it.try_sign_on(&it.identity).await;
    let Err(SignOnFailure::Provider(SignOnError::Refused { code })) = refused else {
        panic!("the person refused");
    };
    assert_eq!(code, "access_denied");
    let people = it.identity.people().list(it.base.account).await.unwrap();
    assert_eq!(people, []);
}

async fn without_rules_only_the_invited_join(it: Option<SignOnFixture>) {
    let Some(it) = it else { return };
    let mut open = settings(&it.base, &it.provider);
    open.rules.allowed_domains = Vec::new();
    let identity = with(&it.base, open.clone());
    let stranger = it.try_sign_on(&identity).await;
    assert!(matches!(stranger, Err(SignOnFailure::NotInvited)));
    // the provider's other spelling of the address is the invited one
    it.provider
        .knows("ada", &claims("ADA@Example.com", &[]))
        .await;
    let invitation = invite(&it.base, ADA, Role::Editor).await.unwrap();
    for _ in 0..2 {
        let session = it.try_sign_on(&identity).await.unwrap();
        assert_eq!(it.who(&session).await.unwrap().person, invitation.person);
    }
    it.provider
        .knows("grace", &claims("grace@example.org", &[]))
        .await;
    open.rules.allowed_domains = vec!["*".to_owned()];
    let identity = with(&it.base, open);
    assert!(
        it.try_sign_on(&identity).await.is_ok(),
        "everybody, explicitly"
    );
}

async fn people_of_another_account_stay_out(it: Option<SignOnFixture>) {
    let Some(it) = it else { return };
    let session = it.sign_on().await;
    joined(&it.base, "grace@example.com").await;
    let mut elsewhere = settings(&it.base, &it.provider);
    elsewhere.account = account(&it.base.database).await.to_string();
    let identity = with(&it.base, elsewhere);
    // one who was linked before, and one who has a password only
    for subject in ["ada", "grace"] {
        let address = format!("{subject}@example.com");
        it.provider.knows(subject, &claims(&address, &[])).await;
        let refused = it.try_sign_on(&identity).await;
        let is_out = matches!(refused, Err(SignOnFailure::OfOtherAccount));
        assert!(is_out, "{subject}");
    }
    assert!(it.who(&session).await.is_some());
}

async fn refused_codes_slow_their_network_alone(it: Option<SignOnFixture>) {
    let Some(it) = it else { return };
    let elsewhere = stranger(ATTACKER);
    let try_code = async |client, code: &str| {
        let mut returned = it.returned(&it.identity).await;
        if !code.is_empty() {
            code.clone_into(&mut returned.code);
        }
        finish_from(&it.identity, client, &returned).await
    };
    let mut refused = 0;
    loop {
        match try_code(&elsewhere, "invented").await {
            Err(SignOnFailure::Provider(SignOnError::Refused { .. })) => refused += 1,
            Err(SignOnFailure::Blocked(SignInError::Slowed { .. })) => break,
            other => panic!("{:?}", other.err()),
        }
        assert!(refused <= 20, "the network is not slowed");
    }
    assert_eq!(refused, 20);
    let right = try_code(&stranger(OFFICE), "").await;
    assert!(right.is_ok(), "another network");
}

async fn required_codes_bind_sign_ons_without_a_second_factor(it: Option<SignOnFixture>) {
    let Some(it) = it else { return };
    let people = it.identity.people();
    let actor = AccountActor::operator(it.base.account);
    people.set_codes_required(&actor, true).await.unwrap();
    let session = it.sign_on().await;
    let ada = it.who(&session).await.unwrap();
    assert_eq!(
        (ada.codes_due, ada.has_password),
        (Some(CodesDue::SetUp), false)
    );
    // the token says so, or the operator does
    let both = json!({ "claims": { "amr": ["pwd", "otp"] } });
    it.provider.steer("tamper", &both).await;
    let by_token = it.sign_on().await;
    assert_eq!(it.who(&by_token).await.unwrap().codes_due, None);
    it.provider.steer("tamper", &Value::Null).await;
    let mut asking = settings(&it.base, &it.provider);
    asking.asks_for_second_factor = true;
    let identity = with(&it.base, asking);
    let found = identity.people().session(&session.token).await.unwrap();
    assert_eq!(found.signed_in().unwrap().codes_due, None);
    // set up without a password, which nobody has
    let secret = begun(&it.base, &ada).await;
    let recovery = switch_on(&it.base, &ada, "", &code(&secret, 0))
        .await
        .unwrap();
    assert_eq!(it.who(&session).await.unwrap().codes_due, None);
    // the next one needs a code, which is used up
    let next = it.sign_on().await;
    let due = it.who(&next).await.unwrap();
    assert_eq!(due.codes_due, Some(CodesDue::Code));
    let wrong = people.confirm_session(&due, "000000", None).await;
    assert!(matches!(wrong, Err(CodeError::Wrong)));
    assert_eq!(it.who(&next).await.unwrap().codes_due, Some(CodesDue::Code));
    let spare = recovery[0].reveal();
    let spare = spare.as_str();
    people.confirm_session(&due, spare, None).await.unwrap();
    assert_eq!(it.who(&next).await.unwrap().codes_due, None);
    let again = people.confirm_session(&due, spare, None).await;
    assert!(matches!(again, Err(CodeError::Wrong)));
}

async fn answers_that_cannot_be_trusted_sign_nobody_in(it: Option<SignOnFixture>) {
    let Some(it) = it else { return };
    let now = chrono::Utc::now().timestamp();
    for (tampering, reason) in [
        (json!({ "claims": { "nonce": "other" } }), "another sign-in"),
        (
            json!({ "claims": { "iss": "https://evil.example.com" } }),
            "another issuer",
        ),
        (json!({ "claims": { "aud": "other" } }), "another client"),
        (
            json!({ "claims": { "aud": ["refract", "other"] } }),
            "another client",
        ),
        (json!({ "claims": { "exp": now - 120 } }), "clock"),
        (json!({ "claims": { "iat": now + 600 } }), "clock"),
        (
            json!({ "claims": { "at_hash": "AAAAAAAAAAAAAAAAAAAAAA" } }),
            "fails a check",
        ),
        (json!({ "claims": { "sub": "another" } }), "another person"),
        (json!({ "key": "other" }), "signature"),
        (json!({ "alg": "none" }), "signature"),
    ] {
        it.provider.steer("tamper", &tampering).await;
        let Err(refused) = it.try_sign_on(&it.identity).await else {
            panic!("{tampering} was trusted");
        };
        let words = refused.to_string();
        assert!(words.contains(reason), "{tampering}: {words}");
        assert!(!words.contains("evil"), "what was sent is not repeated");
    }
    let people = it.identity.people().list(it.base.account).await.unwrap();
    assert_eq!(people, []);
    // a clock that is a little off does no harm
    let near = json!({ "claims": { "exp": now - 5, "iat": now + 60 } });
    it.provider.steer("tamper", &near).await;
    it.sign_on().await;
}

async fn another_browser_or_an_old_answer_signs_nobody_in(it: Option<SignOnFixture>) {
    let Some(it) = it else { return };
    let mut returned = it.returned(&it.identity).await;
    // a stranger's answer in the victim's browser, and the reverse
    returned.start.flow = Token::from_random([7; 43]);
    for state in [returned.state.clone(), String::new(), "other".to_owned()] {
        returned.state = state;
        let refused = finish(&it.identity, &returned).await;
        let is_other = matches!(
            refused,
            Err(SignOnFailure::Provider(SignOnError::OtherFlow))
        );
        assert!(is_other);
    }
    let mut returned = it.returned(&it.identity).await;
    finish(&it.identity, &returned).await.unwrap();
    let replayed = finish(&it.identity, &returned).await;
    let is_refused = matches!(
        replayed,
        Err(SignOnFailure::Provider(SignOnError::Refused { code })) if code == "invalid_grant"
    );
    assert!(is_refused, "a code is single-use");
    // a code of another flow, by PKCE
    returned.code = it.returned(&it.identity).await.code;
    assert!(finish(&it.identity, &returned).await.is_err());
}

async fn new_keys_and_a_new_secret_are_found(it: Option<SignOnFixture>) {
    let Some(it) = it else { return };
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "{}", refract_test_support::provider::CLIENT_SECRET).unwrap();
    let mut settings = settings(&it.base, &it.provider);
    settings.client_secret = Some(ProviderSecret::InFile(file.path().to_owned()));
    let identity = with(&it.base, settings);
    it.try_sign_on(&identity).await.unwrap();
    it.provider.steer("rotate", &json!({})).await;
    it.try_sign_on(&identity).await.unwrap();
    it.provider
        .steer("secret", &json!("another secret of it"))
        .await;
    let refused = it.try_sign_on(&identity).await;
    assert!(matches!(
        refused,
        Err(SignOnFailure::Provider(SignOnError::ClientRefused))
    ));
    std::fs::write(file.path(), "another secret of it\n").unwrap();
    it.try_sign_on(&identity).await.unwrap();
}

async fn a_provider_that_is_away_is_waited_for(it: Option<SignOnFixture>) {
    let Some(it) = it else { return };
    it.provider.steer("away", &json!(true)).await;
    let begun = it.identity.people().begin_sign_on().await;
    assert!(matches!(
        begun,
        Err(SignOnFailure::Provider(SignOnError::Away))
    ));
    it.provider.steer("away", &json!(false)).await;
    // a failure is remembered for some seconds
    let identity = with(&it.base, settings(&it.base, &it.provider));
    let returned = it.returned(&identity).await;
    it.provider.steer("away", &json!(true)).await;
    let finished = finish(&identity, &returned).await;
    assert!(matches!(
        finished,
        Err(SignOnFailure::Provider(SignOnError::Away))
    ));
    it.provider.steer("away", &json!(false)).await;
    finish(&identity, &returned).await.unwrap();
}
