//! People who change one prism at once: nobody overwrites what they have not seen.

use futures_util::future::join_all;
use refract_domain::account::{Email, PersonName, Role};
use refract_domain::event::EventDetail;
use refract_domain::ids::AccountId;
use refract_domain::prism::{DisplayName, VersionNumber};
use refract_identity::people;
use refract_identity::people::AccountActor;
use refract_identity::people::password::TypedPassword;
use refract_service::prisms::{ChangeOfPrism, PrismChange, PrismError};
use refract_test_support::on_both;
use serde_json::{Value, json};
use uuid::Uuid;

use super::fixture::{DraftFixture, file};

on_both!(
    with crate::drafts::on;
    of_many_who_save_on_top_of_one_version_exactly_one_does,
    versions_on_top_of_whatever_is_there_are_all_saved,
    a_version_on_top_of_an_older_one_is_refused_until_it_is_on_top_of_the_latest,
    of_many_who_save_on_top_of_one_lens_exactly_one_does,
    a_lens_that_was_changed_meanwhile_is_neither_saved_over_nor_reset,
    the_history_of_a_prism_shows_who_changed_what,
);

/// Number of people who save at once.
const PEOPLE: usize = 12;

/// The first version's file with this context.
fn with_context(context: &str) -> Value {
    let mut file = file();
    file["context"] = json!(context);
    file
}

async fn save(
    it: &DraftFixture,
    context: &str,
    based_on: Option<VersionNumber>,
) -> Result<VersionNumber, PrismError> {
    let bytes = with_context(context).to_string().into_bytes();
    let saving = it
        .refract
        .prisms()
        .save_version(&it.actor, &it.prism, &bytes, based_on);
    Ok(saving.await?.1)
}

async fn of_many_who_save_on_top_of_one_version_exactly_one_does(it: DraftFixture) {
    let mut latest = VersionNumber::FIRST;
    for round in 0..3 {
        let contexts: Vec<_> = (0..PEOPLE)
            .map(|person| format!("{round} {person}"))
            .collect();
        let saving = contexts
            .iter()
            .map(|context| save(&it, context, Some(latest)));
        let outcomes = join_all(saving).await;
        let next = latest.next().unwrap();
        let mut winner = None;
        for (context, outcome) in contexts.iter().zip(outcomes) {
            match outcome {
                Ok(number) => {
                    assert_eq!(number, next);
                    assert_eq!(winner.replace(context), None, "two were saved");
                }
                Err(PrismError::VersionMeanwhile { latest }) => assert_eq!(latest, next),
                Err(other) => panic!("{other}"),
            }
        }
        let saved = it.lens().await;
        assert_eq!(saved.prism.latest_version, next);
        assert_eq!(saved.latest.context(), winner.map(String::as_str));
        latest = next;
    }
}

async fn versions_on_top_of_whatever_is_there_are_all_saved(it: DraftFixture) {
    let contexts: Vec<_> = (0..6).map(|person| person.to_string()).collect();
    let saving = contexts.iter().map(|context| save(&it, context, None));
    let mut numbers: Vec<_> = join_all(saving)
        .await
        .into_iter()
        .map(|saved| saved.unwrap().get())
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [2, 3, 4, 5, 6, 7]);
}

async fn a_version_on_top_of_an_older_one_is_refused_until_it_is_on_top_of_the_latest(
    it: DraftFixture,
) {
    let first = VersionNumber::FIRST;
    let second = save(&it, "second", Some(first)).await.unwrap();
    let refused = save(&it, "third", Some(first)).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "version 2 was saved meanwhile: look at what it changes, and save again on top of it"
    );
    assert_eq!(it.lens().await.latest.context(), Some("second"));
    let third = save(&it, "third", Some(second)).await.unwrap();
    assert_eq!(third.get(), 3);
}

async fn set_lens(it: &DraftFixture, percent: usize, based_on: i32) -> Result<(), PrismError> {
    let column = json!({ "question": "angry", "output": "label",
        "no_below": format!("0.{percent}").parse::<f64>().unwrap(), "yes_from": 0.9 });
    let bytes = json!({ "columns": [column] }).to_string().into_bytes();
    it.refract
        .lenses()
        .set(&it.actor, &it.prism, &bytes, Some(based_on))
        .await
        .map(|_| ())
}

async fn of_many_who_save_on_top_of_one_lens_exactly_one_does(it: DraftFixture) {
    let before = it.lens().await.prism.lens_revision;
    let saving = (0..PEOPLE).map(|person| set_lens(&it, 10 + person, before));
    let outcomes = join_all(saving).await;
    let saved = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    assert_eq!(saved, 1);
    for refused in outcomes.into_iter().filter_map(Result::err) {
        assert!(matches!(refused, PrismError::LensMeanwhile), "{refused}");
    }
    assert_eq!(it.lens().await.prism.lens_revision, before + 1);
}

async fn a_lens_that_was_changed_meanwhile_is_neither_saved_over_nor_reset(it: DraftFixture) {
    let before = it.lens().await.prism.lens_revision;
    set_lens(&it, 20, before).await.unwrap();
    let shown = it.lens().await;
    let refused = set_lens(&it, 30, before).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the lens was changed meanwhile: look at it, and save again on top of it"
    );
    let reset = async |based_on| {
        it.refract
            .lenses()
            .reset(&it.actor, &it.prism, based_on)
            .await
    };
    let refused = reset(Some(before)).await.unwrap_err();
    assert!(matches!(refused, PrismError::LensMeanwhile), "{refused}");
    assert_eq!(it.lens().await.lens, shown.lens);
    let revision = shown.prism.lens_revision;
    set_lens(&it, 20, revision).await.unwrap();
    assert_eq!(
        it.lens().await.prism.lens_revision,
        revision,
        "it says what is there already"
    );
    reset(Some(revision)).await.unwrap();
    assert_ne!(it.lens().await.lens, shown.lens);
}

/// A person of the account who has joined.
async fn joined(it: &DraftFixture, name: &str) -> AccountActor {
    let account = it.actor.account();
    let email = Email::parse(&format!("{name}@example.com")).unwrap();
    let operator = AccountActor::operator(account);
    let inviting = it.refract.people().invite(&operator, &email, Role::Editor);
    let invitation = inviting.await.unwrap();
    let name = PersonName::parse(name).unwrap();
    let password = TypedPassword::new("zy!3kQ9 dab.x");
    let client = people::SignInClient::default();
    let token = &invitation.token;
    it.refract
        .people()
        .accept(&client, token, &name, password, None)
        .await
        .unwrap();
    AccountActor::person(account, invitation.person)
}

async fn the_history_of_a_prism_shows_who_changed_what(it: DraftFixture) {
    let (ada, grace) = (joined(&it, "Ada").await, joined(&it, "Grace").await);
    let (refract, prism) = (&it.refract, &it.prism);
    let bytes = with_context("second").to_string().into_bytes();
    let terminal = AccountActor::operator(it.actor.account());
    refract
        .prisms()
        .save_version(&ada, prism, &bytes, None)
        .await
        .unwrap();
    let columns = json!({ "columns": [{ "question": "angry", "output": "label" }] });
    refract
        .lenses()
        .set(&grace, prism, columns.to_string().as_bytes(), None)
        .await
        .unwrap();
    let name = DisplayName::parse("Sorting").unwrap();
    refract.prisms().rename(&ada, prism, &name).await.unwrap();
    refract
        .lenses()
        .reset(&terminal, prism, None)
        .await
        .unwrap();
    for is_archived in [true, false] {
        refract
            .prisms()
            .set_archived(&grace, prism, is_archived)
            .await
            .unwrap();
    }
    // changes keep the name of a removed person
    refract
        .people()
        .remove(&terminal, grace.person_id().unwrap())
        .await
        .unwrap();
    let history = refract
        .prisms()
        .history(ada.account(), prism)
        .await
        .unwrap();
    let words = |place: usize| {
        let PrismChange { from, to, .. } = &history[place];
        let text = |detail: &Option<EventDetail>| detail.as_ref().map(ToString::to_string);
        (text(from).unwrap_or_default(), text(to).unwrap_or_default())
    };
    let from_to = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    assert_eq!(words(0), from_to("", ""));
    assert_eq!(words(3), from_to("Triage", "Sorting"));
    let automatic = "revision 0, column topic (topic top), \
         column rude (rude label, no below 0.5, yes from 0.5)";
    assert_eq!(words(4), from_to(automatic, "revision 1"));
    assert_eq!(words(5), from_to("1", "2"));
    let found: Vec<_> = history
        .into_iter()
        .map(|change| (change.what, change.actor.map(|name| name.to_string())))
        .collect();
    let by = |name: &str| Some(name.to_owned());
    let second = VersionNumber::FIRST.next().unwrap();
    assert_eq!(
        found,
        [
            (ChangeOfPrism::Restored, by("Grace")),
            (ChangeOfPrism::Archived, by("Grace")),
            (ChangeOfPrism::LensReset, None),
            (ChangeOfPrism::Renamed, by("Ada")),
            (ChangeOfPrism::LensSet, by("Grace")),
            (ChangeOfPrism::Version(second), by("Ada")),
            // made by a person whom the account does not have
            (ChangeOfPrism::Version(VersionNumber::FIRST), None),
        ]
    );
    let stranger = AccountId::new(Uuid::nil());
    let elsewhere = refract.prisms().history(stranger, prism).await;
    assert!(matches!(elsewhere, Err(PrismError::NotFound)));
}
