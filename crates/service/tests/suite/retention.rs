//! Purging by age in the background: by one node at a time, and not by a wrong clock.

use std::num::NonZeroU32;

use chrono::{DateTime, TimeDelta, Utc};
use refract_service::Refract;
use refract_service::retention::{ImplausibleRoundError, RetentionOutcome, RetentionRounds};
use refract_test_support::on_both;
use tokio::sync::oneshot;

use crate::deletions::{DAY, HOUR, is_there, result};
use crate::fixture::{Fixture, Saved, account, connect, key, moment, save_all, save_more};

on_both!(
    results_are_kept_for_days_by_one_node_at_a_time,
    a_node_that_stops_lets_another_purge,
    a_clock_that_is_ahead_deletes_nothing,
    a_clock_that_stays_ahead_is_believed_after_a_day_with_results,
    more_than_half_of_a_prism_goes_only_where_that_was_confirmed,
    the_last_results_of_a_prism_go_when_their_time_comes,
);

fn retention(refract: &Refract) -> RetentionRounds {
    let days = NonZeroU32::new(30).unwrap();
    refract.retention().rounds(days)
}

async fn left(it: &Fixture, saved: &Saved) -> usize {
    let mut left = 0;
    for (id, _) in &saved.results {
        left += usize::from(is_there(it, saved.lens.prism.account, *id).await);
    }
    left
}

async fn results_are_kept_for_days_by_one_node_at_a_time(it: Fixture) {
    let other_node = connect(&it.url).await;
    let [mut one, mut two] = [&it.refract, &Refract::new(other_node)].map(retention);
    let elsewhere = account(&it.database).await;
    let of_ages = [-40 * DAY, -30 * DAY - 1, -30 * DAY, -DAY, 0].map(|at| result(at, key(1), true));
    let [mine, theirs] = [
        save_all(&it, it.account, &of_ages).await,
        save_all(&it, elsewhere, &of_ages).await,
    ];
    let now = |minutes: i64| moment(0) + TimeDelta::minutes(minutes);
    let round =
        async |node: &mut RetentionRounds, now: DateTime<Utc>| node.round(now).await.unwrap();
    assert_eq!(round(&mut one, now(0)).await, RetentionOutcome::Purged(4));
    assert_eq!((left(&it, &mine).await, left(&it, &theirs).await), (3, 3));
    // the lease belongs to the first node until it is not renewed for minutes
    assert_eq!(
        round(&mut two, now(1)).await,
        RetentionOutcome::HeldByAnotherNode
    );
    assert_eq!(round(&mut one, now(2)).await, RetentionOutcome::Purged(2));
    assert_eq!(
        round(&mut two, now(4)).await,
        RetentionOutcome::HeldByAnotherNode
    );
    assert_eq!(round(&mut two, now(5)).await, RetentionOutcome::Purged(0));
    assert_eq!(
        round(&mut one, now(6)).await,
        RetentionOutcome::HeldByAnotherNode
    );
    // one round a day, while nothing is saved
    let mut purged = 0;
    for days in 1..=31 {
        let outcome = round(&mut one, now(5) + TimeDelta::days(days)).await;
        let RetentionOutcome::Purged(results) = outcome else {
            panic!("{outcome:?}");
        };
        purged += results;
    }
    assert_eq!(purged, 4);
    assert_eq!((left(&it, &mine).await, left(&it, &theirs).await), (0, 0));
    // more days than there are
    let mut ages = it.refract.retention().rounds(NonZeroU32::MAX);
    let later = now(60) + TimeDelta::days(31);
    assert_eq!(round(&mut ages, later).await, RetentionOutcome::Purged(0));
}

async fn a_node_that_stops_lets_another_purge(it: Fixture) {
    let now = Utc::now();
    let age = |days: i64| (now - moment(0)).num_milliseconds() - days * DAY;
    let of_ages = [age(31), age(0)].map(|at| result(at, key(1), true));
    let saved = save_all(&it, it.account, &of_ages).await;
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(retention(&it.refract).run(async {
        stopped.await.unwrap();
    }));
    while left(&it, &saved).await > 1 {
        tokio::task::yield_now().await;
    }
    let mut other = retention(&Refract::new(connect(&it.url).await));
    assert_eq!(
        other.round(Utc::now()).await.unwrap(),
        RetentionOutcome::HeldByAnotherNode
    );
    stop.send(()).unwrap();
    running.await.unwrap();
    assert_eq!(
        other.round(Utc::now()).await.unwrap(),
        RetentionOutcome::Purged(0)
    );
}

/// Results of an account over sixty days, two a day, which a regular retention of thirty days has
/// purged until now.
async fn steady(it: &Fixture) -> Saved {
    let days = (0..60)
        .rev()
        .flat_map(|ago| [-ago * DAY - HOUR, -ago * DAY]);
    let described: Vec<_> = days.map(|at| result(at, key(1), true)).collect();
    let mut saved = save_all(it, it.account, &described).await;
    let mut confirmed = retention(&it.refract).with_unchecked_first_round();
    assert_eq!(
        confirmed.round(moment(1)).await.unwrap(),
        RetentionOutcome::Purged(60)
    );
    saved.results.drain(..60);
    assert_eq!(left(it, &saved).await, 60);
    saved
}

/// The kind of the reason why a round was refused.
#[track_caller]
fn refused(outcome: &RetentionOutcome) -> &'static str {
    let RetentionOutcome::Refused(error) = outcome else {
        panic!("{outcome:?}");
    };
    error.kind()
}

async fn a_clock_that_is_ahead_deletes_nothing(it: Fixture) {
    let mut saved = steady(&it).await;
    let ahead = moment(1) + TimeDelta::days(31);
    // a node that started with the clock ahead, and one whose clock jumped
    let mut new = retention(&it.refract);
    let outcome = new.round(ahead).await.unwrap();
    assert!(
        matches!(
            outcome,
            RetentionOutcome::Refused(ImplausibleRoundError::ClockInDoubt { .. })
        ),
        "{outcome:?}"
    );
    // the lease of the node that purged has expired
    let later = moment(0) + TimeDelta::minutes(5);
    let mut running = retention(&it.refract);
    assert_eq!(
        running.round(later).await.unwrap(),
        RetentionOutcome::Purged(0)
    );
    assert_eq!(refused(&running.round(ahead).await.unwrap()), "clock");
    // results that are saved meanwhile do not confirm the clock, whichever node checks it
    save_more(&it, &mut saved, &[result(31 * DAY, key(1), true)]).await;
    let soon = ahead + TimeDelta::hours(23);
    let mut restarted = retention(&it.refract);
    for node in [&mut running, &mut new, &mut restarted] {
        assert_eq!(refused(&node.round(soon).await.unwrap()), "clock");
    }
    assert_eq!(left(&it, &saved).await, 61, "nothing was deleted");
    // the clock is right again, for any node: no lease lasts until the wrong time
    let mut other = retention(&Refract::new(connect(&it.url).await));
    let right = moment(0) + TimeDelta::minutes(10);
    assert_eq!(
        other.round(right).await.unwrap(),
        RetentionOutcome::Purged(0)
    );
    assert_eq!(left(&it, &saved).await, 61);
}

async fn a_clock_that_stays_ahead_is_believed_after_a_day_with_results(it: Fixture) {
    let mut saved = steady(&it).await;
    let round = async |hours: i64| {
        let mut node = retention(&it.refract);
        node.round(moment(hours * HOUR + 1)).await.unwrap()
    };
    // all nodes were stopped for two days: the day of doubt begins with the first check
    assert_eq!(refused(&round(48).await), "clock");
    save_more(&it, &mut saved, &[result(49 * HOUR, key(1), true)]).await;
    assert_eq!(refused(&round(71).await), "clock");
    assert_eq!(round(72).await, RetentionOutcome::Purged(6));
    // a wrong clock that is set right leaves no doubt behind
    assert_eq!(refused(&round(30 * 24).await), "clock");
    assert_eq!(round(73).await, RetentionOutcome::Purged(0));
    save_more(&it, &mut saved, &[result(31 * DAY + HOUR, key(1), true)]).await;
    assert_eq!(refused(&round(31 * 24).await), "clock");
    // no clock deletes most results
    assert_eq!(refused(&round(32 * 24).await), "share");
}

async fn more_than_half_of_a_prism_goes_only_where_that_was_confirmed(it: Fixture) {
    let of_ages = |ages: &[i64]| -> Vec<_> {
        let described = ages.iter().map(|days| result(-days * DAY, key(1), true));
        described.collect()
    };
    let half = save_all(&it, it.account, &of_ages(&[40, 40, 1, 1])).await;
    let most = save_all(&it, it.account, &of_ages(&[50, 50, 40, 1, 1])).await;
    let mut node = retention(&it.refract);
    let outcome = node.round(moment(0)).await.unwrap();
    let refusal = RetentionOutcome::Refused(ImplausibleRoundError::LargeShare {
        prism: most.prism(),
        results: 3,
    });
    assert_eq!(outcome, refusal);
    assert_eq!((left(&it, &half).await, left(&it, &most).await), (4, 5));
    // the lease was released, so that a node set to skip the check can purge
    let other = connect(&it.url).await;
    let mut confirmed = retention(&Refract::new(other)).with_unchecked_first_round();
    assert_eq!(
        confirmed.round(moment(0)).await.unwrap(),
        RetentionOutcome::Purged(5)
    );
    assert_eq!((left(&it, &half).await, left(&it, &most).await), (2, 2));
    // what seems old although the last round has been there is no reason to go on
    let older = save_all(&it, it.account, &of_ages(&[60, 60, 1])).await;
    assert_eq!(
        refused(&confirmed.round(moment(60_000)).await.unwrap()),
        "share"
    );
    assert_eq!(left(&it, &older).await, 3);
}

async fn the_last_results_of_a_prism_go_when_their_time_comes(it: Fixture) {
    let once = save_all(&it, it.account, &vec![result(-29 * DAY, key(1), true); 3]).await;
    save_all(&it, it.account, &[result(0, key(1), true)]).await;
    let mut node = retention(&it.refract);
    assert_eq!(
        node.round(moment(0)).await.unwrap(),
        RetentionOutcome::Purged(0)
    );
    assert_eq!(
        node.round(moment(DAY)).await.unwrap(),
        RetentionOutcome::Purged(0)
    );
    assert_eq!(
        node.round(moment(DAY + HOUR)).await.unwrap(),
        RetentionOutcome::Purged(3)
    );
    assert_eq!(left(&it, &once).await, 0);
}
