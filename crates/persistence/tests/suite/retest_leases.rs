//! Leases of retests: one node at a time, and nothing from a node whose lease is over.

use chrono::TimeDelta;
use refract_domain::event::EventAction;
use refract_domain::ids::ResultId;
use refract_domain::result::RetestState;
use refract_persistence::{JobLease, RetestCounts};
use refract_test_support::on_both;

use crate::fixture::{Fixture, connect, moment};
use crate::retests::{TERM, counts, end, find, node, save, take, waiting};
use crate::uploads::events_of;

on_both!(
    of_twenty_nodes_one_takes_a_retest,
    an_expired_lease_is_taken_and_its_holder_is_refused,
    a_lease_of_a_clock_that_was_ahead_is_taken,
    an_answer_is_saved_once,
    the_state_that_work_led_to_is_saved_with_its_event,
);

async fn of_twenty_nodes_one_takes_a_retest(it: Fixture) {
    let (retest, _) = waiting(&it, 1).await;
    let databases = [it.database.clone(), connect(&it.url).await];
    let nodes = (0..20).zip(databases.iter().cycle()).map(|(_, database)| {
        let database = database.clone();
        tokio::spawn(async move {
            let taking = database.take_retest(node(), &[], moment(2), moment(2) + TERM);
            taking.await.unwrap()
        })
    });
    let nodes: Vec<_> = nodes.collect();
    let mut taken = Vec::new();
    for node in nodes {
        taken.extend(node.await.unwrap());
    }
    assert_eq!(taken.len(), 1);
    assert_eq!((taken[0].row.id, taken[0].lease.fence), (retest, 1));
    assert_eq!(taken[0].row.state, RetestState::Asking);
    assert_eq!(find(&it, retest).await.lease_until, Some(moment(2) + TERM));
}

async fn an_expired_lease_is_taken_and_its_holder_is_refused(it: Fixture) {
    let (retest, results) = waiting(&it, 2).await;
    let dead = take(&it, moment(2)).await.unwrap();
    assert!(save(&it, dead, results[0], Ok("{}")).await);
    let expiry = moment(2) + TERM;
    assert_eq!(take(&it, expiry - TimeDelta::milliseconds(1)).await, None);
    let live = take(&it, expiry).await.unwrap();
    assert_eq!((live.job, live.fence), (retest, 2));
    // the dead node wakes up
    let until = expiry + TERM * 2;
    let renewing = it.database.renew_retest_lease(dead, until).await;
    assert_eq!(renewing.unwrap(), None);
    assert!(!save(&it, dead, results[1], Ok("{}")).await);
    assert!(!end(&it, dead, Some(RetestState::Done), 20_000).await);
    let same_fence = JobLease { fence: 2, ..dead };
    assert!(!save(&it, same_fence, results[1], Ok("{}")).await);
    let found = find(&it, retest).await;
    assert_eq!((found.state, found.flips), (RetestState::Asking, None));
    assert_eq!(found.lease_until, Some(expiry + TERM));
    assert_eq!(counts(&it, retest).await.answered, 1);
    let renewing = it.database.renew_retest_lease(live, until).await;
    assert_eq!(renewing.unwrap(), Some(RetestState::Asking));
    assert!(save(&it, live, results[1], Ok("{}")).await);
    // a node that stops leaves it to another one at once
    assert!(end(&it, live, None, 20_000).await);
    let found = find(&it, retest).await;
    assert_eq!((found.state, found.reason), (RetestState::Asking, None));
    assert!(take(&it, moment(20_001)).await.is_some());
}

async fn a_lease_of_a_clock_that_was_ahead_is_taken(it: Fixture) {
    let (retest, _) = waiting(&it, 1).await;
    let ahead = moment(2) + TimeDelta::hours(1);
    assert!(take(&it, ahead).await.is_some());
    assert_eq!(take(&it, ahead - TimeDelta::minutes(5)).await, None);
    let live = take(&it, moment(2)).await.unwrap();
    assert_eq!((live.job, live.fence), (retest, 2));
}

async fn an_answer_is_saved_once(it: Fixture) {
    let (retest, results) = waiting(&it, 3).await;
    let lease = take(&it, moment(2)).await.unwrap();
    assert!(save(&it, lease, results[1], Err("The model timed out.")).await);
    assert!(save(&it, lease, results[2], Ok("{\"a\":1}")).await);
    assert!(!save(&it, lease, results[2], Ok("{\"a\":2}")).await);
    assert!(!save(&it, lease, ResultId::LOWEST, Ok("{}")).await);
    let listing = it.database.list_retest_texts(retest, ResultId::LOWEST, 9);
    let texts = listing.await.unwrap();
    let texts: Vec<_> = texts
        .iter()
        .map(|text| {
            (
                text.result,
                text.answers.as_deref(),
                text.failure.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        texts,
        [
            (results[0], None, None),
            (results[1], None, Some("The model timed out.")),
            (results[2], Some("{\"a\":1}"), None),
        ]
    );
    let after = it.database.list_retest_texts(retest, results[0], 1).await;
    assert_eq!(after.unwrap()[0].result, results[1]);
    let counted = RetestCounts {
        texts: 3,
        answered: 1,
        failed: 1,
    };
    assert_eq!(counts(&it, retest).await, counted);
}

async fn the_state_that_work_led_to_is_saved_with_its_event(it: Fixture) {
    for state in [RetestState::Done, RetestState::Failed] {
        let (retest, _) = waiting(&it, 1).await;
        let lease = take(&it, moment(2)).await.unwrap();
        assert!(end(&it, lease, Some(state), 3).await);
        let found = find(&it, retest).await;
        assert_eq!((found.state, found.flips), (state, Some(3)));
        assert_eq!(found.reason.as_deref(), Some("because"));
        assert_eq!((found.ended_at, found.lease_until), (Some(moment(3)), None));
    }
    assert_eq!(events_of(&it, EventAction::RetestEnded).await, 2);
}
