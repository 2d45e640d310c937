//! The results of stored file runs: who made them, and how they are found.

use refract_domain::ids::{FileRunId, PersonId};
use refract_domain::key::FieldKey;
use refract_domain::result::ResultActor;
use refract_domain::submission::{FieldValues, IdempotencyKey, Submission};
use refract_persistence::{ResultFilter, ResultOrder};
use refract_service::runs::{HeldRow, UnansweredRow};
use refract_test_support::on_both;
use uuid::Uuid;

use crate::drafts::fixture::DraftFixture;
use crate::fixture::Fixture;
use crate::stored_runs::new_run;
use crate::uploaded_files::upload;

on_both!(the_results_of_a_run_are_its_persons_and_name_it);

async fn the_results_of_a_run_are_its_persons_and_name_it(base: Fixture) {
    let it = DraftFixture::of(base).await;
    let file = upload(&it, b"Message\r\none\r\n").await;
    let prism = it.lens().await.prism;
    let refract = it.asking();
    let creating = refract
        .runs()
        .create_file_run(&it.actor, new_run(prism.id, file));
    let run = creating.await.unwrap();
    assert_eq!(run.made_by, it.actor.person_id());
    let row = || UnansweredRow {
        submission: Submission::saved(
            FieldValues::new(vec![(FieldKey::parse("text").unwrap(), "one".to_owned())]),
            None,
        ),
        reference: None,
        idempotency_key: IdempotencyKey::parse("row 1").unwrap(),
    };
    let pinned = refract.runs().pin_for_run(&run).await.unwrap();
    let answered = pinned.create(row()).await.unwrap();
    // the terminal finds the row, and does not ask again
    let selector = prism.selector();
    let of_terminal = refract.runs().pin(it.account, &selector, None).await;
    let keys = [IdempotencyKey::parse("row 1").unwrap()];
    let held = of_terminal.unwrap().find_held_rows(&keys).await.unwrap();
    assert!(matches!(held[&keys[0]], HeldRow::Answered(_)));
    let another = UnansweredRow {
        idempotency_key: IdempotencyKey::parse("row 2").unwrap(),
        ..row()
    };
    let of_terminal = refract.runs().pin(it.account, &selector, None).await;
    of_terminal.unwrap().create(another).await.unwrap();

    let filter = |run| ResultFilter {
        run: Some(run),
        ..ResultFilter::default()
    };
    let list = async |run| {
        let (order, filter) = (ResultOrder::NewestFirst, filter(run));
        let listing = it
            .database
            .list_candidates(it.account, prism.id, &filter, order, None, 9);
        listing.await.unwrap()
    };
    let found = list(run.id).await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].id, answered.result.id());
    let person: PersonId = it.actor.person_id().unwrap();
    assert_eq!(found[0].actor, ResultActor::Person(person));
    assert!(list(FileRunId::new(Uuid::now_v7())).await.is_empty());
}
