//! Sittings of people over queues of results, and questions that they could not decide.

use refract_domain::account::Role;
use refract_domain::ids::{PersonId, ResultId, SittingId};
use refract_domain::key::QuestionKey;
use refract_domain::result::mark::{Abstention, MarkNote, Marker};
use refract_persistence::SittingRow;
use refract_test_support::on_both;
use uuid::Uuid;

use crate::fixture::{Fixture, answered, moment};
use crate::joined_people::invite;
use crate::marks::{mark, withdrawn};

on_both!(
    a_sitting_is_its_persons_and_goes_when_nobody_uses_it,
    others_are_shown_a_result_for_a_while,
    an_abstention_is_replaced_withdrawn_and_gone_with_its_result,
);

fn sitting(it: &Fixture, person: PersonId, at: i64) -> SittingRow {
    SittingRow {
        id: SittingId::new(Uuid::now_v7()),
        person,
        prism: it.prism.id,
        state: format!("{{\"at\":{at}}}"),
        used_at: moment(at),
    }
}

async fn begin(it: &Fixture, person: PersonId, at: i64, unused_since: i64) -> SittingRow {
    let row = sitting(it, person, at);
    let beginning = it.database.begin_sitting(row.clone(), moment(unused_since));
    beginning.await.unwrap();
    row
}

async fn a_sitting_is_its_persons_and_goes_when_nobody_uses_it(it: Fixture) {
    let ada = invite(&it, "ada@example.com", Role::Reviewer, 1).await;
    let eve = invite(&it, "eve@example.com", Role::Reviewer, 2).await;
    let first = begin(&it, ada, 1, 0).await;
    let second = begin(&it, ada, 2, 0).await;
    let found = it.database.find_sitting(ada, first.id).await.unwrap();
    assert_eq!(found, Some(first.clone()));
    let of_another = it.database.find_sitting(eve, first.id).await.unwrap();
    assert_eq!(of_another, None);
    let saving = it
        .database
        .save_sitting_state(first.id, "{}".to_owned(), moment(3));
    saving.await.unwrap();
    let listed = async || {
        let listing = it.database.list_sittings(ada, it.prism.id, 5);
        let ids = listing.await.unwrap().into_iter().map(|row| row.id);
        ids.collect::<Vec<_>>()
    };
    assert_eq!(listed().await, [first.id, second.id]);
    begin(&it, eve, 9, 3).await;
    assert_eq!(listed().await, [first.id]);
}

async fn others_are_shown_a_result_for_a_while(it: Fixture) {
    let ada = invite(&it, "ada@example.com", Role::Reviewer, 1).await;
    let row = begin(&it, ada, 1, 0).await;
    let result = ResultId::new(Uuid::now_v7());
    let reviewing = async |at| {
        let listing = it.database.list_reviewing(it.prism.id, moment(at));
        listing.await.unwrap()
    };
    assert_eq!(reviewing(1).await, []);
    let showing = it
        .database
        .show_in_sitting(row.id, result, moment(2), moment(5));
    showing.await.unwrap();
    assert_eq!(reviewing(4).await, [(ada, result)]);
    assert_eq!(reviewing(5).await, []);
}

async fn an_abstention_is_replaced_withdrawn_and_gone_with_its_result(it: Fixture) {
    let new = it.result(answered(), None);
    it.database.save_result(&new).await.unwrap();
    let id = new.result.id;
    let first = Abstention {
        result: id,
        question: QuestionKey::parse("angry").unwrap(),
        abstained_by: Some(Marker::parse("Ada").unwrap()),
        abstained_at: moment(1),
        note: None,
    };
    let second = Abstention {
        note: Some(MarkNote::parse("two people write").unwrap()),
        ..first.clone()
    };
    let listed = async || it.database.list_abstentions_of(vec![id]).await.unwrap();
    let abstain = async |abstention: &Abstention| {
        let saving = it.database.save_abstention(it.prism.id, abstention.clone());
        saving.await.unwrap();
    };
    abstain(&first).await;
    abstain(&second).await;
    assert_eq!(listed().await, std::slice::from_ref(&second));
    let withdrawing = it.database.withdraw_abstention(id, &first.question);
    withdrawing.await.unwrap();
    assert_eq!(listed().await, []);
    // a mark, and a mark that is taken back, decide the question
    for taken_back in [vec![], vec![withdrawn("angry")]] {
        abstain(&first).await;
        let marks = mark(id, "angry", "yes");
        let marks = if taken_back.is_empty() {
            vec![marks]
        } else {
            vec![]
        };
        let changing = it
            .database
            .change_marks(it.prism.id, id, &marks, &taken_back);
        changing.await.unwrap();
        assert_eq!(listed().await, []);
    }
}
