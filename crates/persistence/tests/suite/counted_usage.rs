//! Counting results and deleting them: neither changes what was used.

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::ids::{PrismId, ResultId};
use refract_persistence::{
    CountProgress, Database, Provenance, ResultFilter, ResultOrder, UsageDimension, UsageScope,
};
use refract_test_support::on_both;

use crate::fixture::{Fixture, connect, failed, moment};
use crate::usage::{by, delete, everything, list, save, save_different_ones, times, used};

on_both!(
    neither_counting_nor_deleting_changes_a_sum,
    each_result_is_counted_once_while_others_are_deleted,
    a_moment_without_results_is_counted_when_they_are_there,
);

/// Counts all results of a prism before a moment, two at a time.
async fn count_all(database: &Database, prism: PrismId, before: DateTime<Utc>) {
    let end = ResultId::first_of(before).just_before();
    let counting = async || database.count_next_results(prism, end, 2).await;
    while counting().await.unwrap() == CountProgress::More {}
}

async fn neither_counting_nor_deleting_changes_a_sum(it: Fixture) {
    let (other, _) = save_different_ones(&it).await;
    let prisms = [it.prism.id, other.unwrap()];
    let mut uncosted = used(&it, moment(0), "m");
    uncosted.result.status = failed();
    uncosted.provenance = Provenance::default();
    save(&it, uncosted).await;
    let period = |since: Option<i64>, until: Option<i64>| UsageScope {
        since: since.map(moment),
        until: until.map(moment),
        ..by([UsageDimension::Prism, UsageDimension::Day])
    };
    // the fixed moment is 123 ms after midnight
    let midnight = -123;
    let scopes = [
        UsageScope::default(),
        by(UsageDimension::ALL),
        by([UsageDimension::Prism]),
        by([UsageDimension::Model, UsageDimension::Day]),
        UsageScope {
            key: Some(it.key.id),
            ..by([UsageDimension::Key, UsageDimension::Day])
        },
        UsageScope {
            prism: other,
            ..by([UsageDimension::Prism])
        },
        period(Some(midnight), None),
        period(None, Some(midnight)),
    ];
    // deleted results count by whole days, so only a count changes nothing here
    let parts_of_days = [
        period(Some(1), None),
        period(None, Some(1)),
        period(Some(-124), Some(1)),
        period(Some(1), Some(86_399_001)),
        period(Some(-124), Some(-123)),
    ];
    let mut before = Vec::new();
    for scope in scopes.iter().chain(&parts_of_days) {
        before.push(list(&it, scope.clone()).await);
    }
    let check = async |scopes: &[UsageScope]| {
        for (scope, before) in scopes.iter().zip(&before) {
            assert_eq!(&list(&it, scope.clone()).await, before, "{scope:?}");
        }
    };
    let all = [&scopes[..], &parts_of_days].concat();
    // one prism alone, the first of its results, then all
    let first = ResultId::first_of(moment(-1)).just_before();
    for (prism, up_to) in [
        (prisms[1], ResultId::HIGHEST),
        (prisms[0], first),
        (prisms[0], ResultId::first_of(moment(1))),
    ] {
        let counting = it.database.count_next_results(prism, up_to, 100);
        assert_eq!(counting.await.unwrap(), CountProgress::Done);
        check(&all).await;
    }
    let mut ids = Vec::new();
    for prism in prisms {
        let filter = ResultFilter::default();
        let order = ResultOrder::OldestFirst;
        let listing = it
            .database
            .list_results(it.account, prism, filter, order, None, 9);
        let listed = listing.await.unwrap();
        ids.extend(listed.iter().map(|result| result.id));
    }
    assert_eq!(ids.len(), 7);
    // in two parts, so that rows of deleted results are added to; some were counted before
    for part in ids.chunks(4) {
        delete(&it, part.to_vec()).await;
        check(&scopes).await;
    }
    for prism in prisms {
        count_all(&it.database, prism, moment(0) + TimeDelta::days(2)).await;
    }
    check(&scopes).await;
}

async fn each_result_is_counted_once_while_others_are_deleted(it: Fixture) {
    let other = connect(&it.url).await;
    for round in 1..5 {
        let saved = moment(0) + TimeDelta::minutes(round);
        let end = saved + TimeDelta::minutes(1);
        let mut ids = Vec::new();
        for _ in 0..40 {
            let new = used(&it, saved, "m");
            ids.push(new.result.id);
            save(&it, new).await;
        }
        let prism = it.prism.id;
        let counting = [it.database.clone(), other.clone()].map(|database| {
            tokio::spawn(async move {
                count_all(&database, prism, end).await;
            })
        });
        let deleted: Vec<_> = ids.iter().copied().step_by(2).collect();
        for ids in deleted.chunks(3) {
            delete(&it, ids.to_vec()).await;
        }
        for counting in counting {
            counting.await.unwrap();
        }
        let expected = times(40 * round.unsigned_abs());
        let found = list(&it, UsageScope::default()).await;
        assert_eq!(found, [everything(expected)]);
        count_all(&other, prism, end).await;
        let found = list(&it, UsageScope::default()).await;
        assert_eq!(found, [everything(expected)]);
    }
}

async fn a_moment_without_results_is_counted_when_they_are_there(it: Fixture) {
    let (database, prism) = (&it.database, it.prism.id);
    let calls = async || {
        let counted = list(&it, UsageScope::default()).await;
        counted.iter().map(|group| group.usage.calls).sum::<u64>()
    };
    let end = moment(1_000);
    count_all(database, prism, end).await;
    for saved in 1..6 {
        save(&it, used(&it, moment(saved), "m")).await;
        for _ in 0..2 {
            assert_eq!(calls().await, saved.unsigned_abs());
            count_all(database, prism, end).await;
        }
        assert_eq!(database.list_first_uncounted(it.account).await.unwrap(), []);
    }
}
