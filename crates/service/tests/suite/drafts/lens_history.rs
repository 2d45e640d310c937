//! The history of a lens: undone and put back.

use futures_util::future::join_all;
use refract_domain::event::EventDetail;
use refract_domain::lens::Lens;
use refract_identity::people::AccountActor;
use refract_service::lenses::{LensSaveOutcome, LensState};
use refract_service::prisms::PrismError;
use refract_test_support::on_both;
use serde_json::{Value, json};

use super::fixture::{DraftFixture, file};

on_both!(
    with crate::drafts::on;
    the_history_has_every_state_with_who_and_why,
    a_change_is_undone_unless_somebody_changed_the_lens_meanwhile,
    of_an_undo_and_a_save_at_once_one_wins,
    any_state_is_put_back_by_the_rules_of_saving,
    a_state_that_was_never_recorded_is_no_state,
);

fn angry(no_below: f64) -> Value {
    json!([{ "question": "angry", "output": "label", "no_below": no_below }])
}

async fn states(it: &DraftFixture) -> Vec<LensState> {
    let account = it.actor.account();
    let history = it.refract.lenses().history(account, &it.prism, 100);
    history.await.unwrap().states
}

async fn put_back(
    it: &DraftFixture,
    revision: i32,
    based_on: Option<i32>,
) -> Result<LensSaveOutcome, PrismError> {
    let lenses = it.refract.lenses();
    lenses
        .put_back(&it.actor, &it.prism, revision, based_on)
        .await
}

async fn no_below(it: &DraftFixture) -> Option<f64> {
    let lens = it.lens().await;
    let cutoffs = lens.columns().lens.first()?.output.cutoffs()?;
    Some(cutoffs.no_ends_at().value())
}

async fn the_history_has_every_state_with_who_and_why(it: DraftFixture) {
    assert_eq!(states(&it).await, []);
    it.set_lens(&angry(0.4)).await;
    let noted = it
        .actor
        .clone()
        .with_note(EventDetail::note("calmer").unwrap());
    let file = json!({ "columns": angry(0.6) }).to_string();
    let lenses = it.refract.lenses();
    let saved = lenses
        .set(&noted, &it.prism, file.as_bytes(), Some(1))
        .await;
    assert_eq!(saved.unwrap(), LensSaveOutcome::Saved { revision: 2 });
    let operator = AccountActor::operator(it.actor.account());
    lenses.reset(&operator, &it.prism, None).await.unwrap();
    let again = lenses.reset(&operator, &it.prism, None).await;
    assert_eq!(again.unwrap(), LensSaveOutcome::Unchanged);
    let states = states(&it).await;
    let seen: Vec<_> = states
        .iter()
        .map(|state| {
            let note = state.saved.as_ref().and_then(|saved| saved.note.as_ref());
            let is_custom = matches!(state.lens, Lens::Custom(_));
            (state.revision, is_custom, note.map(EventDetail::as_str))
        })
        .collect();
    assert_eq!(
        seen,
        [
            (3, false, None),
            (2, true, Some("calmer")),
            (1, true, None),
            (0, false, None)
        ]
    );
    assert!(states[3].saved.is_none(), "nobody saved the first lens");
    let found = lenses.state(it.actor.account(), &it.prism, 2).await;
    let (state, before) = found.unwrap();
    assert_eq!((&state, before.as_ref()), (&states[1], Some(&states[2])));
    let (first, before) = lenses
        .state(it.actor.account(), &it.prism, 0)
        .await
        .unwrap();
    assert_eq!((&first, before), (&states[3], None));
}

async fn a_change_is_undone_unless_somebody_changed_the_lens_meanwhile(it: DraftFixture) {
    it.set_lens(&angry(0.4)).await;
    it.set_lens(&angry(0.6)).await;
    let undone = put_back(&it, 1, Some(2)).await.unwrap();
    assert_eq!(undone, LensSaveOutcome::Saved { revision: 3 });
    assert_eq!(no_below(&it).await, Some(0.4));
    it.set_lens(&angry(0.7)).await;
    let refused = put_back(&it, 2, Some(3)).await.unwrap_err();
    assert!(matches!(refused, PrismError::LensMeanwhile), "{refused}");
    assert_eq!(no_below(&it).await, Some(0.7));
    let undone = put_back(&it, 0, None).await.unwrap();
    assert_eq!(undone, LensSaveOutcome::Saved { revision: 5 });
    assert_eq!(*it.lens().await.lens, Lens::Automatic);
}

async fn of_an_undo_and_a_save_at_once_one_wins(it: DraftFixture) {
    it.set_lens(&angry(0.1)).await;
    for round in 0..8 {
        it.set_lens(&angry(0.6)).await;
        let based_on = it.lens().await.prism.lens_revision;
        let undo = || put_back(&it, based_on - 1, Some(based_on));
        let save = || {
            let file = json!({ "columns": angry(0.2) }).to_string();
            let (it, lenses) = (&it, it.refract.lenses());
            async move {
                let file = file.as_bytes();
                lenses.set(&it.actor, &it.prism, file, Some(based_on)).await
            }
        };
        let (undone, saved) = if round % 2 == 0 {
            tokio::join!(undo(), save())
        } else {
            let (saved, undone) = tokio::join!(save(), undo());
            (undone, saved)
        };
        let expected = match (undone, saved) {
            (Ok(_), Err(PrismError::LensMeanwhile)) => 0.1,
            (Err(PrismError::LensMeanwhile), Ok(_)) => 0.2,
            both => panic!("one of both wins: {both:?}"),
        };
        assert_eq!(no_below(&it).await, Some(expected));
        it.set_lens(&angry(0.1)).await;
    }
    // saves without a base all succeed, and each is in the history
    let before = it.lens().await.prism.lens_revision;
    let numbers = [0.31, 0.32, 0.33, 0.34];
    join_all(
        numbers
            .iter()
            .map(async |number| it.set_lens(&angry(*number)).await),
    )
    .await;
    let states = states(&it).await;
    let expected: Vec<_> = (0..=before + 4).rev().collect();
    let revisions: Vec<_> = states.iter().map(|state| state.revision).collect();
    assert_eq!(revisions, expected);
    assert_eq!(states[0].lens, *it.lens().await.lens);
}

async fn any_state_is_put_back_by_the_rules_of_saving(it: DraftFixture) {
    it.set_lens(&angry(0.4)).await;
    it.set_lens(&json!([{ "question": "rude", "output": "label" }]))
        .await;
    let mut file = file();
    file["questions"].as_array_mut().unwrap().remove(1);
    it.save_version(&file).await;
    let refused = put_back(&it, 1, None).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "Invalid request: columns.0.question: the prism's latest version has no such question, but topic, rude"
    );
    let now = it.lens().await;
    assert_eq!(now.columns().lens[0].question.as_str(), "rude");
}

async fn a_state_that_was_never_recorded_is_no_state(it: DraftFixture) {
    it.set_lens(&angry(0.4)).await;
    for missing in [2, -1, i32::MIN] {
        let refused = put_back(&it, missing, None).await.unwrap_err();
        assert!(matches!(refused, PrismError::LensRevisionNotFound));
    }
    let other = AccountActor::operator(crate::fixture::account(&it.database).await);
    let lenses = it.refract.lenses();
    let refused = lenses.put_back(&other, &it.prism, 0, None).await;
    assert!(matches!(refused, Err(PrismError::NotFound)));
}
