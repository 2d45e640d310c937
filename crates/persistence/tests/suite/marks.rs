//! Marks: each person's for a result and question, one of which counts, gone with their result.

use std::sync::Arc;

use refract_domain::ids::{PrismId, ResultId};
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::prism::VersionNumber;
use refract_domain::result::SavedResult;
use refract_domain::result::mark::{Annotator, Mark, MarkNote, MarkSource, Marker};
use refract_domain::submission::Ref;
use refract_persistence::{
    MarkableResult, MarkedResult, PersistenceError, ResultFilter, SavedMarkedAnswer, WithdrawnMark,
};
use refract_test_support::on_both;
use uuid::Uuid;

use crate::fixture::{Fixture, account, answered, failed, moment, prism};

on_both!(
    a_mark_is_kept_and_can_be_changed,
    each_change_of_a_mark_moves_the_watermark,
    marks_are_taken_back_by_question,
    a_change_that_fails_takes_nothing_back,
    changes_of_one_result_at_once_are_seen_whole,
    saying_what_is_saved_already_changes_nothing,
    an_equal_outcome_makes_a_mark_fair_and_never_unfair,
    another_outcome_brings_its_own_source_unless_the_result_was_drawn,
    marks_are_saved_all_or_none,
    the_marks_of_several_results_come_in_order,
    marking_changes_no_result,
    pages_hold_whole_results_however_many_marks_there_are,
    the_marks_of_one_question_are_read_alone,
    a_filter_keeps_the_marked_results_that_it_names,
    results_to_mark_are_found_by_id_and_by_ref,
);

async fn each_change_of_a_mark_moves_the_watermark(it: Fixture) {
    let result = saved(&it, None).await.id;
    let mut seen = std::collections::BTreeSet::new();
    let mut moves = async || {
        let finding = it.database.find_marks_watermark(it.prism.id);
        seen.insert(finding.await.unwrap())
    };
    assert!(moves().await);
    save(&it, &[mark(result, "angry", "yes")]).await;
    assert!(moves().await);
    assert!(!moves().await, "nothing has changed");
    let later = Mark {
        marked_at: moment(2),
        ..mark(result, "angry", "no")
    };
    save(&it, std::slice::from_ref(&later)).await;
    assert!(moves().await);
    let other = Mark {
        marked_at: moment(3),
        ..mark(result, "topic", "other")
    };
    it.database
        .change_marks(it.prism.id, result, &[other], &[withdrawn("angry")])
        .await
        .unwrap();
    assert!(moves().await, "as many marks as before");
    let newest = it.database.find_newest_result(it.prism.id).await.unwrap();
    assert_eq!(newest, Some(result));
}

pub(crate) fn mark(result: ResultId, question: &str, outcome: &str) -> Mark {
    Mark {
        result,
        question: QuestionKey::parse(question).unwrap(),
        outcome: OutcomeKey::parse(outcome).unwrap(),
        marked_by: by("Ada"),
        marked_at: moment(1),
        source: None,
        note: None,
        is_adjudicated: false,
    }
}

pub(crate) fn by(name: &str) -> Annotator {
    Annotator::named(Marker::parse(name).unwrap())
}

/// Ada's ordinary mark of a question.
pub(crate) fn withdrawn(question: &str) -> WithdrawnMark {
    WithdrawnMark {
        question: QuestionKey::parse(question).unwrap(),
        by: by("Ada"),
        is_adjudicated: false,
    }
}

pub(crate) async fn saved(it: &Fixture, reference: Option<&str>) -> SavedResult {
    let mut new = it.result(answered(), None);
    new.result.reference = reference.map(|text| Ref::parse(text).unwrap());
    it.database.save_result(&new).await.unwrap();
    new.result
}

pub(crate) async fn save(it: &Fixture, marks: &[Mark]) -> usize {
    let saving = it
        .database
        .save_marks(it.prism.id, marks.into(), it.stamp(1));
    saving.await.unwrap()
}

async fn marked(it: &Fixture, prism: PrismId, filter: ResultFilter) -> Vec<MarkedResult> {
    let mut pages = it.database.marked_pages(prism, filter);
    let mut all = Vec::new();
    while let Some(page) = pages.next().await.unwrap() {
        all.extend(page);
    }
    assert!(pages.next().await.unwrap().is_none());
    all
}

async fn a_mark_is_kept_and_can_be_changed(it: Fixture) {
    let result = saved(&it, None).await;
    let first = mark(result.id, "angry", "yes");
    let other = mark(result.id, "topic", "other");
    assert_eq!(save(&it, &[first.clone(), other.clone()]).await, 2);
    let kept = it.database.list_marks(result.id).await.unwrap();
    assert_eq!(kept, [first, other.clone()]);
    let changed = Mark {
        marked_by: Annotator::default(),
        marked_at: moment(2),
        ..mark(result.id, "angry", "no")
    };
    assert_eq!(save(&it, std::slice::from_ref(&changed)).await, 1);
    let kept = it.database.list_marks(result.id).await.unwrap();
    assert_eq!(kept, [changed, other]);
}

async fn marks_are_taken_back_by_question(it: Fixture) {
    let (result, other) = (saved(&it, None).await, saved(&it, None).await);
    let kept = [
        mark(result.id, "topic", "other"),
        mark(other.id, "angry", "no"),
    ];
    save(&it, &kept).await;
    save(&it, &[mark(result.id, "angry", "yes")]).await;
    for _ in 0..2 {
        change(&it, &result, &[], &["angry"]).await.unwrap();
        let left = it.database.list_marks_of(vec![result.id, other.id]).await;
        assert_eq!(left.unwrap(), kept);
    }
}

pub(crate) async fn change(
    it: &Fixture,
    result: &SavedResult,
    saved: &[Mark],
    taken_back: &[&str],
) -> Result<(), PersistenceError> {
    let taken_back: Vec<_> = taken_back.iter().map(|key| withdrawn(key)).collect();
    let changing = it
        .database
        .change_marks(it.prism.id, result.id, saved, &taken_back);
    changing.await
}

async fn a_change_that_fails_takes_nothing_back(it: Fixture) {
    let result = saved(&it, None).await;
    let kept = [mark(result.id, "angry", "yes")];
    save(&it, &kept).await;
    // the withdrawn mark comes first
    let gone = mark(ResultId::new(Uuid::now_v7()), "topic", "other");
    let changed = change(&it, &result, &[gone], &["angry"]).await;
    assert!(changed.is_err());
    assert_eq!(it.database.list_marks(result.id).await.unwrap(), kept);
}

/// Two people each mark one question and withdraw the other person's mark, and a third withdraws
/// both, again and again: at no moment are both questions marked.
async fn changes_of_one_result_at_once_are_seen_whole(it: Fixture) {
    let result = Arc::new(saved(&it, None).await);
    let it = Arc::new(it);
    let angry = mark(result.id, "angry", "yes");
    let topic = mark(result.id, "topic", "other");
    let people = [
        (vec![angry], vec!["topic"]),
        (vec![topic], vec!["angry"]),
        (vec![], vec!["topic", "angry"]),
    ];
    let changing = [people.clone(), people.clone(), people]
        .into_iter()
        .flatten()
        .map(|(saved, taken_back)| {
            let (it, result) = (Arc::clone(&it), Arc::clone(&result));
            tokio::spawn(async move {
                for _ in 0..25 {
                    change(&it, &result, &saved, &taken_back).await.unwrap();
                    let seen = it.database.list_marks(result.id).await.unwrap();
                    assert!(seen.len() < 2, "{seen:?}");
                }
            })
        });
    for person in changing.collect::<Vec<_>>() {
        person.await.unwrap();
    }
}

async fn saying_what_is_saved_already_changes_nothing(it: Fixture) {
    let result = saved(&it, None).await;
    let first = mark(result.id, "angry", "yes");
    save(&it, std::slice::from_ref(&first)).await;
    let again = Mark {
        marked_by: Annotator::default(),
        marked_at: moment(9),
        ..first.clone()
    };
    assert_eq!(save(&it, &[again]).await, 0);
    assert_eq!(it.database.list_marks(result.id).await.unwrap(), [first]);
    assert_eq!(save(&it, &[]).await, 0);
}

async fn an_equal_outcome_makes_a_mark_fair_and_never_unfair(it: Fixture) {
    use MarkSource::{Filter, Import, LeastSure, Near, Random};
    for (saved_source, new_source, expected) in [
        (None, Some(Import), Some(Import)),
        (None, Some(Random), Some(Random)),
        (None, Some(Near), None),
        (Some(Near), Some(Random), Some(Random)),
        // an export that is imported again makes no mark fair
        (Some(LeastSure), Some(Import), Some(LeastSure)),
        (Some(Random), Some(Filter), Some(Random)),
        (Some(Random), Some(Import), Some(Random)),
        (Some(Import), Some(Random), Some(Import)),
        (Some(Import), None, Some(Import)),
    ] {
        let result = saved(&it, None).await;
        let first = Mark {
            source: saved_source,
            ..mark(result.id, "angry", "yes")
        };
        let second = Mark {
            source: new_source,
            note: Some(MarkNote::parse("sarcasm").unwrap()),
            ..first.clone()
        };
        save(&it, std::slice::from_ref(&first)).await;
        let changed = save(&it, std::slice::from_ref(&second)).await;
        assert_eq!(changed == 1, second.changes(&first), "{second:?}");
        let changing = change(&it, &result, std::slice::from_ref(&second), &[]);
        changing.await.unwrap();
        let kept = it.database.list_marks(result.id).await.unwrap();
        let expected_mark = if changed == 1 { &second } else { &first };
        assert_eq!(kept, std::slice::from_ref(expected_mark));
        assert_eq!(kept[0].source, expected);
    }
}

async fn another_outcome_brings_its_own_source_unless_the_result_was_drawn(it: Fixture) {
    let result = saved(&it, None).await;
    let (near, random, import) = (MarkSource::Near, MarkSource::Random, MarkSource::Import);
    for (outcome, source, kept) in [
        ("yes", Some(near), Some(near)),
        ("no", None, None),
        ("yes", Some(random), Some(random)),
        ("no", None, Some(random)),
        ("yes", Some(near), Some(random)),
        ("no", Some(import), Some(import)),
    ] {
        let mut mark = Mark {
            source,
            ..mark(result.id, "angry", outcome)
        };
        assert_eq!(save(&it, std::slice::from_ref(&mark)).await, 1);
        mark.source = kept;
        assert_eq!(it.database.list_marks(result.id).await.unwrap(), [mark]);
    }
}

async fn marks_are_saved_all_or_none(it: Fixture) {
    let result = saved(&it, None).await;
    let gone = mark(ResultId::new(Uuid::now_v7()), "angry", "yes");
    let marks = [mark(result.id, "angry", "yes"), gone];
    let database = &it.database;
    let saving = database.save_marks(it.prism.id, marks.into(), it.stamp(1));
    assert!(saving.await.is_err());
    assert_eq!(it.database.list_marks(result.id).await.unwrap(), []);
}

async fn the_marks_of_several_results_come_in_order(it: Fixture) {
    let (first, second, other) = (
        saved(&it, None).await,
        saved(&it, None).await,
        saved(&it, None).await,
    );
    let marks = [
        mark(first.id, "angry", "yes"),
        mark(first.id, "topic", "other"),
        mark(second.id, "angry", "no"),
    ];
    let elsewhere = mark(other.id, "angry", "yes");
    let all = [&marks[..], &[elsewhere]].concat();
    assert_eq!(save(&it, &all).await, 4);
    let nobody = ResultId::new(Uuid::now_v7());
    let ids = vec![second.id, nobody, first.id];
    assert_eq!(it.database.list_marks_of(ids).await.unwrap(), marks);
    assert_eq!(it.database.list_marks_of(vec![]).await.unwrap(), []);
}

async fn marking_changes_no_result(it: Fixture) {
    let result = saved(&it, Some("a ref")).await;
    save(&it, &[mark(result.id, "angry", "yes")]).await;
    assert_eq!(it.read(result.id).await, Some(result));
}

async fn pages_hold_whole_results_however_many_marks_there_are(it: Fixture) {
    let mut expected = Vec::new();
    let mut all = Vec::new();
    for number in 0..70 {
        let result = saved(&it, None).await;
        // an unmarked result stays out, a result may have a mark for each of 100 questions
        let questions = if number % 7 == 6 {
            0
        } else {
            1 + number * 13 % 100
        };
        let marks: Vec<_> = (0..questions)
            .map(|question| mark(result.id, &format!("q{question:02}"), "yes"))
            .collect();
        if !marks.is_empty() {
            expected.push((result.id, marks.len()));
        }
        all.extend(marks);
    }
    assert!(all.len() > 2048, "there are pages");
    assert_eq!(save(&it, &all).await, all.len());
    let read = marked(&it, it.prism.id, ResultFilter::default()).await;
    let read: Vec<_> = read.iter().map(|row| (row.id, row.marks.len())).collect();
    assert_eq!(read, expected);
}

async fn the_marks_of_one_question_are_read_alone(it: Fixture) {
    let (first, other) = (saved(&it, None).await, saved(&it, None).await);
    let topic = mark(first.id, "topic", "other");
    let angry = [mark(first.id, "angry", "no"), mark(other.id, "angry", "no")];
    save(&it, std::slice::from_ref(&topic)).await;
    save(&it, &angry).await;
    let answer = first.status.answers().unwrap().as_slice()[0].clone().1;
    let of = |mark: &Mark| SavedMarkedAnswer {
        id: mark.result,
        version: first.version,
        model: None,
        answer: (mark.question != topic.question).then(|| answer.clone()),
        mark: mark.outcome.clone(),
        source: mark.source,
    };
    let (of_topic, of_angry) = ([of(&topic)], angry.each_ref().map(of));
    for (mark, expected) in [(&topic, &of_topic[..]), (&angry[0], &of_angry)] {
        let all = ResultFilter::default();
        let mut pages = it.database.marked_answers(it.prism.id, all, &mark.question);
        assert_eq!(pages.next().await.unwrap().unwrap(), expected);
        assert!(pages.next().await.unwrap().is_none());
    }
}

async fn a_filter_keeps_the_marked_results_that_it_names(it: Fixture) {
    let mut new = it.result(answered(), None);
    new.provenance.model = Some("m".to_owned());
    new.result.created_at = moment(5);
    it.database.save_result(&new).await.unwrap();
    let of_model = new.result;
    let result = saved(&it, None).await;
    let marks = [&of_model, &result].map(|result| mark(result.id, "angry", "yes"));
    save(&it, &marks).await;
    let elsewhere = prism(&it.database, it.account, "Elsewhere").await;
    let all = ResultFilter::default;
    for (filter, expected) in [
        (all(), vec![of_model.id, result.id]),
        (
            ResultFilter {
                model: Some("m".to_owned()),
                ..all()
            },
            vec![of_model.id],
        ),
        (
            ResultFilter {
                version: VersionNumber::new(2),
                ..all()
            },
            vec![],
        ),
        (
            ResultFilter {
                version: Some(VersionNumber::FIRST),
                since: Some(moment(5)),
                ..all()
            },
            vec![of_model.id],
        ),
    ] {
        let found = marked(&it, it.prism.id, filter.clone()).await;
        let ids: Vec<_> = found.iter().map(|row| row.id).collect();
        assert_eq!(ids, expected, "{filter:?}");
        assert!(
            found
                .iter()
                .all(|row| row.answers == *of_model.status.answers().unwrap())
        );
    }
    assert_eq!(marked(&it, elsewhere.id, all()).await, []);
}

async fn results_to_mark_are_found_by_id_and_by_ref(it: Fixture) {
    let named = saved(&it, Some("a ref")).await;
    let plain = saved(&it, None).await;
    let new = it.result(failed(), None);
    it.database.save_result(&new).await.unwrap();
    let markable = |result: &SavedResult| MarkableResult {
        id: result.id,
        reference: result.reference.clone(),
        version: VersionNumber::FIRST,
        is_ok: result.status.answers().is_some(),
    };
    let nobody = ResultId::new(Uuid::now_v7());
    let ids = vec![named.id, plain.id, new.result.id, nobody];
    let found = it
        .database
        .find_markable_results(it.account, it.prism.id, ids.clone());
    let mut found = found.await.unwrap();
    found.sort_by_key(|result| result.id);
    assert_eq!(found, [&named, &plain, &new.result].map(markable));
    let listed = it
        .database
        .list_results_with_ref(it.account, it.prism.id, None, 9)
        .await;
    assert_eq!(listed.unwrap(), [markable(&named)]);
    let after = it
        .database
        .list_results_with_ref(it.account, it.prism.id, Some(named.id), 9)
        .await;
    assert_eq!(after.unwrap(), []);
    let elsewhere = account(&it.database, "elsewhere").await;
    let found = it
        .database
        .find_markable_results(elsewhere, it.prism.id, ids);
    assert_eq!(found.await.unwrap(), []);
    let listed = it
        .database
        .list_results_with_ref(elsewhere, it.prism.id, None, 9)
        .await;
    assert_eq!(listed.unwrap(), []);
}
