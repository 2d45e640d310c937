//! Example texts of a prism: a text is there once, a limit holds in a race, and erasing a result takes
//! the copy of its text along.

use refract_domain::answer::Answers;
use refract_domain::event::EventAction;
use refract_domain::ids::{ExampleId, ResultId};
use refract_domain::prism::{ExampleNote, ExpectedOutcomes};
use refract_domain::submission::Ref;
use refract_persistence::{
    CopiedExamples, DeletedRows, DeletionEvent, ExampleCheck, ExampleSource, ExampleText,
    ExamplesOutcome, NewExampleText, PersistenceError, SavedExamples,
};
use refract_test_support::on_both;
use uuid::Uuid;

use crate::events::events;
use crate::fixture::{Fixture, account, answered, moment, prism, submission};

on_both!(
    a_text_is_an_example_once_and_keeps_its_note,
    of_two_who_add_the_last_example_one_is_refused,
    an_example_is_changed_and_removed_by_its_prism_alone,
    the_answers_of_the_last_wordings_are_kept,
    erasing_a_result_takes_its_copy_along_and_a_purge_does_not,
);

fn expected(json: &str) -> ExpectedOutcomes {
    serde_json::from_str(json).unwrap()
}

pub(crate) fn example(text: &str) -> NewExampleText {
    NewExampleText {
        id: ExampleId::new(Uuid::now_v7()),
        text_hash: text.as_bytes().to_vec(),
        submission: submission(text),
        reference: None,
        expected: expected(r#"{"angry":"yes"}"#),
        note: None,
        result: None,
    }
}

async fn save(it: &Fixture, new: Vec<NewExampleText>, at: i64) -> ExamplesOutcome {
    let (stamp, source) = (it.stamp(at), ExampleSource::File);
    let saving = it
        .database
        .save_examples(it.prism.id, new, 100, source, stamp);
    saving.await.unwrap()
}

async fn list(it: &Fixture) -> Vec<ExampleText> {
    it.database.list_examples(it.prism.id).await.unwrap()
}

async fn actions(it: &Fixture) -> Vec<EventAction> {
    let events = events(it).await.into_iter();
    let actions = events.map(|event| event.action);
    let mut actions: Vec<_> = actions
        .filter(|action| action.name().starts_with("example"))
        .collect();
    actions.reverse();
    actions
}

async fn a_text_is_an_example_once_and_keeps_its_note(it: Fixture) {
    let first = NewExampleText {
        note: Some(ExampleNote::parse("a classic").unwrap()),
        reference: Some(Ref::parse("r").unwrap()),
        ..example("One")
    };
    let saved = |added, changed, total| {
        ExamplesOutcome::Saved(SavedExamples {
            added,
            changed,
            total,
        })
    };
    assert_eq!(save(&it, vec![first.clone()], 1).await, saved(1, 0, 1));
    // the same again changes nothing and has no event
    assert_eq!(save(&it, vec![first.clone()], 2).await, saved(0, 0, 1));
    let again = NewExampleText {
        expected: expected(r#"{"angry":"no","gone":"x"}"#),
        ..example("One")
    };
    let both = vec![again, example("Two")];
    assert_eq!(save(&it, both, 3).await, saved(1, 1, 2));
    let listed = list(&it).await;
    assert_eq!((listed[0].id, listed.len()), (first.id, 2));
    assert_eq!(listed[0].expected, expected(r#"{"angry":"no","gone":"x"}"#));
    assert_eq!(
        (&listed[0].note, &listed[0].reference),
        (&first.note, &first.reference)
    );
    assert_eq!(
        (listed[0].changed_at, listed[1].submission.clone()),
        (moment(3), submission("Two"))
    );
    let uploaded = EventAction::ExamplesUploaded;
    assert_eq!(actions(&it).await, [uploaded, uploaded]);
    let newest = &events(&it).await[0];
    let details = [&newest.from, &newest.to].map(|it| it.as_ref().unwrap().to_string());
    assert_eq!(details, ["1 example", "2 examples"]);
}

async fn of_two_who_add_the_last_example_one_is_refused(it: Fixture) {
    let most = 3;
    let add = |text: &str| {
        let (new, source, stamp) = (vec![example(text)], ExampleSource::Form, it.stamp(1));
        it.database
            .save_examples(it.prism.id, new, most, source, stamp)
    };
    for text in ["1", "2"] {
        add(text).await.unwrap();
    }
    let racing = ["3", "4", "5", "6"].map(&add);
    let ended: Vec<_> = futures_util::future::join_all(racing).await;
    let ended: Vec<_> = ended.into_iter().map(Result::unwrap).collect();
    let refused = ended
        .iter()
        .filter(|end| **end == ExamplesOutcome::TooMany(4));
    assert_eq!(refused.count(), 3, "{ended:?}");
    assert_eq!(list(&it).await.len(), most);
    assert_eq!(actions(&it).await, [EventAction::ExampleAdded; 3]);
    // a full prism takes changes of what it has
    let known = NewExampleText {
        expected: expected(r#"{"angry":"no"}"#),
        ..example("1")
    };
    let (source, stamp) = (ExampleSource::Form, it.stamp(2));
    let saving = it
        .database
        .save_examples(it.prism.id, vec![known], most, source, stamp);
    assert!(matches!(saving.await.unwrap(), ExamplesOutcome::Saved(_)));
}

async fn an_example_is_changed_and_removed_by_its_prism_alone(it: Fixture) {
    save(&it, vec![example("One")], 1).await;
    let id = list(&it).await[0].id;
    let other = account(&it.database, "others").await;
    let other = prism(&it.database, other, "Other").await.id;
    let no = expected(r#"{"angry":"no"}"#);
    // the second change of the prism changes nothing, and is no event
    for (prism, is_there) in [(other, false), (it.prism.id, true), (it.prism.id, true)] {
        let stamp = it.stamp(2);
        let changing = it.database.change_example(prism, id, &no, None, stamp);
        assert_eq!(changing.await.unwrap(), is_there);
    }
    assert_eq!(list(&it).await[0].expected, no);
    assert_eq!(it.database.list_examples(other).await.unwrap(), []);
    for (prism, is_there) in [(other, false), (it.prism.id, true), (it.prism.id, false)] {
        let removing = it.database.remove_example(prism, id, it.stamp(3));
        assert_eq!(removing.await.unwrap(), is_there);
    }
    assert_eq!(list(&it).await, []);
    let [changed, removed] = [EventAction::ExampleChanged, EventAction::ExampleRemoved];
    let uploaded = EventAction::ExamplesUploaded;
    assert_eq!(actions(&it).await, [uploaded, changed, removed]);
}

async fn the_answers_of_the_last_wordings_are_kept(it: Fixture) {
    save(&it, vec![example("One")], 1).await;
    let id = list(&it).await[0].id;
    let check = |example, at, answers| ExampleCheck {
        example,
        checked_at: moment(at),
        answers,
    };
    let of = async |wording: u8| {
        let wording = vec![wording];
        it.database
            .list_example_checks(it.prism.id, &wording)
            .await
            .unwrap()
    };
    let failed = check(id, 1, Err("The model timed out.".to_owned()));
    it.database
        .save_example_check(&vec![1], failed.clone())
        .await
        .unwrap();
    assert_eq!(of(1).await, [failed]);
    let empty = serde_json::from_str::<Answers>("{}").unwrap();
    let answered = check(id, 2, Ok(empty.clone()));
    it.database
        .save_example_check(&vec![1], answered.clone())
        .await
        .unwrap();
    assert_eq!(of(1).await, [answered]);
    for wording in 2..=5 {
        let check = check(id, 2 + i64::from(wording), Ok(empty.clone()));
        it.database
            .save_example_check(&vec![wording], check)
            .await
            .unwrap();
    }
    let kept = [of(1).await.len(), of(2).await.len(), of(5).await.len()];
    assert_eq!(kept, [0, 1, 1]);
    // a check of an example that is gone is not kept
    let gone = check(ExampleId::new(Uuid::now_v7()), 9, Ok(empty));
    it.database
        .save_example_check(&vec![5], gone)
        .await
        .unwrap();
    assert_eq!(of(5).await.len(), 1);
    assert!(
        it.database
            .remove_example(it.prism.id, id, it.stamp(9))
            .await
            .unwrap()
    );
    assert_eq!(of(5).await, []);
}

async fn erasing_a_result_takes_its_copy_along_and_a_purge_does_not(it: Fixture) {
    let mut results = Vec::new();
    for text in ["One", "Two"] {
        let new = it.result(answered(), None);
        it.database.save_result(&new).await.unwrap();
        let copy = NewExampleText {
            result: Some(new.result.id),
            ..example(text)
        };
        save(&it, vec![copy], 1).await;
        results.push(new.result.id);
    }
    let delete = async |id: ResultId, copied| {
        let event = DeletionEvent::Elsewhere;
        let deleting = it.database.delete_results(vec![id], copied, event);
        deleting.await.unwrap()
    };
    let rows = |examples| DeletedRows {
        results: 1,
        examples,
    };
    assert_eq!(delete(results[0], CopiedExamples::Kept).await, rows(0));
    let listed: Vec<_> = list(&it).await.iter().map(|one| one.result).collect();
    assert_eq!(listed, [None, Some(results[1])]);
    assert_eq!(delete(results[1], CopiedExamples::Deleted).await, rows(1));
    assert_eq!(list(&it).await.len(), 1);
    let gone = NewExampleText {
        result: Some(results[1]),
        ..example("Three")
    };
    let (source, stamp) = (ExampleSource::Form, it.stamp(2));
    let saving = it
        .database
        .save_examples(it.prism.id, vec![gone], 100, source, stamp);
    let refused = saving.await.unwrap_err();
    assert!(
        matches!(refused, PersistenceError::ReferenceGone(_)),
        "{refused}"
    );
    // examples with a reference are erased by it, in their account alone
    let reference = Ref::parse("customer-4711").unwrap();
    let named = NewExampleText {
        reference: Some(reference.clone()),
        ..example("Four")
    };
    save(&it, vec![named], 3).await;
    let elsewhere = crate::fixture::new_stamp(account(&it.database, "others").await, 4);
    for (stamp, erased) in [(elsewhere, 0), (it.stamp(4), 1), (it.stamp(5), 0)] {
        let erasing = it.database.erase_examples_of_reference(&reference, stamp);
        assert_eq!(erasing.await.unwrap(), erased);
    }
    assert_eq!(list(&it).await.len(), 1);
    assert_eq!(
        actions(&it).await.last(),
        Some(&EventAction::ExamplesErased)
    );
}
