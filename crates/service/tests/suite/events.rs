//! Events of deletions: one for each, however many transactions it takes.

use std::num::NonZeroU32;

use refract_domain::event::{Actor, EventAction, EventTarget};
use refract_domain::ids::ResultId;
use refract_domain::result::ResultActor;
use refract_domain::submission::Ref;
use refract_identity::events::{EventFilter, ListedEvent};
use refract_identity::people::AccountActor;
use refract_service::retention::{PurgeRange, RetentionOutcome};
use refract_test_support::on_both;

use crate::fixture::{Described, Fixture, Saved, key, moment, save_all};

on_both!(
    a_purge_of_many_results_has_two_events_and_one_of_few_has_one,
    a_purge_that_stops_records_what_it_deleted,
    an_erasure_has_its_events,
    retention_is_the_nodes,
);

async fn all(it: &Fixture) -> Vec<ListedEvent> {
    let mut events = it.refract.events().list(it.account, EventFilter::default());
    let mut all = Vec::new();
    loop {
        let page = events.next_page().await.unwrap();
        if page.is_empty() {
            return all;
        }
        all.extend(page);
    }
}

/// The newest events as action and note, newest first.
async fn newest(it: &Fixture, number: usize) -> Vec<(EventAction, String)> {
    let all = all(it).await;
    let newest = all[..number].iter().map(|listed| {
        let note = listed.event.stamp.note.as_ref();
        let note = note.map(ToString::to_string);
        (listed.event.action, note.unwrap_or_default())
    });
    newest.collect()
}

fn results(number: usize, reference: Option<&'static str>) -> Vec<Described> {
    let result = Described {
        at: 0,
        version: 1,
        answers: Some(("billing", 10)),
        reference,
        actor: key(1),
        is_retried: false,
    };
    vec![result; number]
}

fn range(saved: &Saved) -> PurgeRange {
    PurgeRange {
        prism: saved.prism(),
        before: moment(1),
        is_ok: None,
    }
}

async fn a_purge_of_many_results_has_two_events_and_one_of_few_has_one(it: Fixture) {
    let before = "saved before 2026-03-04T12:00:00.001Z";
    for number in [1, 99, 100, 101, 250] {
        let saved = save_all(&it, it.account, &results(number, None)).await;
        let known = all(&it).await.len();
        let actor = AccountActor::operator(it.account);
        let mut purge = it.refract.retention().purge(actor, range(&saved));
        while purge.next_batch().await.unwrap().is_some() {}
        purge.end().await.unwrap();
        let noun = if number == 1 { "result" } else { "results" };
        let purged = (
            EventAction::ResultsPurged,
            format!("{before}; {number} {noun}"),
        );
        let mut expected = vec![purged];
        if number > 100 {
            expected.push((EventAction::PurgeStarted, before.to_owned()));
        }
        let added = all(&it).await.len() - known;
        assert_eq!(newest(&it, added).await, expected, "{number}");
    }
}

async fn a_purge_that_stops_records_what_it_deleted(it: Fixture) {
    let saved = save_all(&it, it.account, &results(250, None)).await;
    let known = all(&it).await.len();
    let failed_only = PurgeRange {
        is_ok: Some(true),
        ..range(&saved)
    };
    let mut purge = it
        .refract
        .retention()
        .purge(AccountActor::operator(it.account), failed_only);
    purge.next_batch().await.unwrap();
    purge.end().await.unwrap();
    purge.end().await.unwrap();
    assert_eq!(all(&it).await.len() - known, 2);
    let note = "saved before 2026-03-04T12:00:00.001Z; ok".to_owned();
    let expected = [
        (EventAction::ResultsPurged, format!("{note}; 100 results")),
        (EventAction::PurgeStarted, note),
    ];
    assert_eq!(newest(&it, 2).await, expected);
    // nothing is left from before that moment
    let nothing = PurgeRange {
        before: moment(-1),
        ..failed_only
    };
    let mut purge = it
        .refract
        .retention()
        .purge(AccountActor::operator(it.account), nothing);
    assert!(purge.next_batch().await.unwrap().is_none());
    assert_eq!(all(&it).await.len() - known, 2);
}

async fn an_erasure_has_its_events(it: Fixture) {
    let operator = AccountActor::operator(it.account);
    let few = save_all(&it, it.account, &results(3, None)).await;
    let ids: Vec<ResultId> = few.results.iter().map(|(id, _)| *id).collect();
    let known = all(&it).await.len();
    it.refract.retention().erase(&operator, &ids).await.unwrap();
    it.refract.retention().erase(&operator, &ids).await.unwrap();
    assert_eq!(all(&it).await.len() - known, 1, "the second found nothing");
    let erased = |number: u64| (EventAction::ResultsErased, format!("{number} results"));
    let started = (EventAction::ErasureStarted, String::new());
    assert_eq!(newest(&it, 1).await, [erased(3)]);
    for number in [100, 130, 200, 201] {
        save_all(&it, it.account, &results(number, Some("ada"))).await;
        let known = all(&it).await.len();
        let ada = Ref::saved("ada".to_owned());
        let erasing = it
            .refract
            .retention()
            .erase_reference(&operator, &ada)
            .await;
        let number = u64::try_from(number).unwrap();
        assert_eq!(erasing.unwrap().results, number);
        let expected = [erased(number), started.clone()];
        assert_eq!(all(&it).await.len() - known, 2, "{number}");
        assert_eq!(newest(&it, 2).await, expected, "{number}");
    }
    let many = save_all(&it, it.account, &results(230, None)).await;
    let ids: Vec<ResultId> = many.results.iter().map(|(id, _)| *id).collect();
    it.refract.retention().erase(&operator, &ids).await.unwrap();
    assert_eq!(newest(&it, 2).await, [erased(230), started]);
}

async fn retention_is_the_nodes(it: Fixture) {
    let mut old = results(2, None);
    for result in &mut old {
        result.actor = ResultActor::Operator;
    }
    let saved = save_all(&it, it.account, &old).await;
    let days = NonZeroU32::new(30).unwrap();
    let node = it.refract.retention().rounds(days);
    // all of the prism's results are too old
    let mut node = node.with_unchecked_first_round();
    let later = moment(0) + chrono::TimeDelta::days(31);
    let round = node.round(later).await;
    assert_eq!(round.unwrap(), RetentionOutcome::Purged(2));
    let listed = all(&it).await;
    let event = &listed[0].event;
    assert_eq!(event.stamp.actor, Actor::Node);
    assert_eq!(event.target, EventTarget::Prism(saved.prism()));
    assert_eq!(listed[0].by.reference, "node");
    let known = listed.len();
    let round = node.round(later + chrono::TimeDelta::minutes(1)).await;
    assert_eq!(round.unwrap(), RetentionOutcome::Purged(0));
    assert_eq!(all(&it).await.len(), known);
}
