//! Marks of several people: beside each other, settled, counted, gone with their result. And the
//! count of those that are a fair sample's.

use refract_domain::account::Role;
use refract_domain::ids::{PersonId, ResultId};
use refract_domain::key::QuestionKey;
use refract_domain::result::mark::{Annotator, Mark, MarkSource};
use refract_persistence::{LastMark, MarksOfPerson, NewPerson, ResultFilter, WithdrawnMark};
use refract_test_support::on_both;
use uuid::Uuid;

use crate::deletions::delete;
use crate::fixture::{Fixture, moment, prism};
use crate::joined_people::{link, new_person};
use crate::marks::{by, change, mark, save, saved, withdrawn};

on_both!(
    marks_of_people_stand_beside_each_other,
    a_disagreement_is_listed_until_somebody_settles_it,
    marks_of_people_are_counted_and_gone_with_their_result,
    marks_of_a_fair_sample_are_counted_by_question,
);

fn of_olga(mark: Mark) -> Mark {
    Mark {
        marked_by: Annotator {
            person: Some(PersonId::new(Uuid::from_u128(7))),
            ..by("Olga")
        },
        marked_at: moment(2),
        ..mark
    }
}

async fn beside(it: &Fixture, result: ResultId) -> Vec<Mark> {
    it.database.list_other_marks_of(vec![result]).await.unwrap()
}

async fn marks_of_people_stand_beside_each_other(it: Fixture) {
    let result = saved(&it, None).await;
    let ada = mark(result.id, "angry", "yes");
    let olga = of_olga(mark(result.id, "angry", "no"));
    save(&it, std::slice::from_ref(&ada)).await;
    assert_eq!(save(&it, std::slice::from_ref(&olga)).await, 1);
    let counting = async || it.database.list_marks(result.id).await.unwrap();
    assert_eq!(counting().await, std::slice::from_ref(&olga));
    assert_eq!(beside(&it, result.id).await, std::slice::from_ref(&ada));
    let person = olga.marked_by.person.unwrap();
    let new = NewPerson {
        id: person,
        ..new_person(&it, "olga@example.com", Role::Reviewer)
    };
    let inviting = it.database.invite_person(&new, link(1), it.stamp(0));
    inviting.await.unwrap();
    let last = it.database.list_last_marks(&[person]).await.unwrap();
    let (prism, at) = (it.prism.id, moment(2));
    assert_eq!(last, [(person, LastMark { prism, at })]);
    // both at once, again: nothing changes
    assert_eq!(save(&it, &[ada.clone(), olga.clone()]).await, 0);
    // a person's other outcome changes that person's mark, and both agree now
    let agreed = of_olga(mark(result.id, "angry", "yes"));
    assert_eq!(save(&it, std::slice::from_ref(&agreed)).await, 1);
    assert_eq!(counting().await, std::slice::from_ref(&ada));
    assert_eq!(beside(&it, result.id).await, std::slice::from_ref(&agreed));
    change(&it, &result, &[], &["angry"]).await.unwrap();
    assert_eq!(counting().await, [agreed]);
    assert_eq!(beside(&it, result.id).await, []);
}

async fn a_disagreement_is_listed_until_somebody_settles_it(it: Fixture) {
    let (result, other) = (saved(&it, None).await, saved(&it, None).await);
    let disputed = async |question: &str| {
        let question = QuestionKey::parse(question).unwrap();
        let listing = it.database.list_disputed(it.prism.id, Some(&question), 9);
        let found = listing.await.unwrap();
        assert_eq!(
            it.database
                .list_disputed(it.prism.id, None, 9)
                .await
                .unwrap(),
            found
        );
        found
    };
    let all = [
        mark(result.id, "angry", "yes"),
        of_olga(mark(result.id, "angry", "no")),
        mark(other.id, "angry", "yes"),
        of_olga(mark(other.id, "angry", "yes")),
    ];
    save(&it, &all).await;
    assert_eq!(disputed("angry").await, [result.id]);
    let mut pages = it
        .database
        .marked_pages(it.prism.id, ResultFilter::default());
    pages = pages.of_several_people();
    let page = pages.next().await.unwrap().unwrap();
    let shown = page
        .iter()
        .map(|it| (it.id, it.marks.len(), it.other_marks.len()));
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [(result.id, 1, 1), (other.id, 1, 1)]
    );
    assert!(pages.next().await.unwrap().is_none());
    let settled = Mark {
        is_adjudicated: true,
        marked_at: moment(3),
        ..mark(result.id, "angry", "yes")
    };
    change(&it, &result, std::slice::from_ref(&settled), &[])
        .await
        .unwrap();
    assert_eq!(it.database.list_marks(result.id).await.unwrap(), [settled]);
    assert_eq!(beside(&it, result.id).await, all[..2]);
    assert_eq!(
        it.database
            .list_disputed(it.prism.id, None, 9)
            .await
            .unwrap(),
        []
    );
    let undone = [WithdrawnMark {
        is_adjudicated: true,
        ..withdrawn("angry")
    }];
    let undoing = it
        .database
        .change_marks(it.prism.id, result.id, &[], &undone);
    undoing.await.unwrap();
    assert_eq!(disputed("angry").await, [result.id]);
}

async fn marks_of_people_are_counted_and_gone_with_their_result(it: Fixture) {
    let result = saved(&it, None).await;
    let before = it.database.find_marks_watermark(it.prism.id).await.unwrap();
    let marks = [
        mark(result.id, "angry", "yes"),
        of_olga(mark(result.id, "angry", "yes")),
        mark(result.id, "topic", "other"),
    ];
    save(&it, &marks).await;
    let watermark = it.database.find_marks_watermark(it.prism.id).await.unwrap();
    assert_eq!(watermark.0, before.0 + 3, "marks beside are watched too");
    let mut counted = it
        .database
        .count_marks_of_people(it.prism.id)
        .await
        .unwrap();
    counted.sort_by_key(|it| it.count);
    let counted_of = |mark: &Mark, count| MarksOfPerson {
        by: mark.marked_by.clone(),
        is_adjudicated: false,
        count,
    };
    assert_eq!(
        counted,
        [counted_of(&marks[1], 1), counted_of(&marks[0], 2)]
    );
    delete(&it, &[result.id]).await;
    assert_eq!(beside(&it, result.id).await, []);
}

async fn marks_of_a_fair_sample_are_counted_by_question(it: Fixture) {
    let elsewhere = prism(&it.database, it.account, "Elsewhere").await;
    let sources = MarkSource::ALL.map(Some).into_iter().chain([None]);
    for source in sources {
        let result = saved(&it, None).await.id;
        let marks = ["angry", "topic"].map(|question| Mark {
            source,
            ..mark(result, question, "yes")
        });
        save(&it, &marks).await;
    }
    let result = saved(&it, None).await.id;
    let fair = Mark {
        source: Some(MarkSource::Import),
        ..mark(result, "topic", "yes")
    };
    save(&it, std::slice::from_ref(&fair)).await;
    let counted = async |prism, question: &str| {
        let question = QuestionKey::parse(question).unwrap();
        let counting = it.database.count_fair_marks(prism, &question);
        counting.await.unwrap()
    };
    assert_eq!(counted(it.prism.id, "angry").await, 2);
    assert_eq!(counted(it.prism.id, "topic").await, 3);
    assert_eq!(counted(it.prism.id, "urgency").await, 0);
    assert_eq!(counted(elsewhere.id, "angry").await, 0);
}
