//! Keyset pagination of a prism's results.

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::ids::ResultId;
use refract_domain::result::ResultStatus;
use refract_persistence::{ResultFilter, ResultOrder};
use refract_test_support::on_both;
use uuid::Builder;

use crate::fixture::{Fixture, account, answered, failed, moment, prism, submission};

const OLDEST_FIRST: ResultOrder = ResultOrder::OldestFirst;

on_both!(
    pages_follow_each_other_without_gaps,
    everything_is_read_from_either_end_in_pages_that_fit,
    only_failed_results_that_nobody_retried_are_retriable,
    a_filter_keeps_what_it_names,
    a_clock_that_is_set_by_minutes_keeps_no_result_out_of_its_period,
    a_period_may_begin_and_end_at_any_moment,
    other_prisms_and_accounts_stay_out,
);

async fn list(it: &Fixture, filter: ResultFilter) -> Vec<ResultId> {
    let results = it
        .database
        .list_results(it.account, it.prism.id, filter, OLDEST_FIRST, None, 100)
        .await;
    results.unwrap().iter().map(|result| result.id).collect()
}

/// Saves a result whose id and `created_at` have different moments.
async fn save_at(
    it: &Fixture,
    id: DateTime<Utc>,
    saved: DateTime<Utc>,
    status: ResultStatus,
) -> ResultId {
    let milliseconds = u64::try_from(id.timestamp_millis()).unwrap();
    let mut new = it.result(status, None);
    let random = new.result.id.uuid().into_bytes()[6..].try_into().unwrap();
    new.result.id =
        ResultId::new(Builder::from_unix_timestamp_millis(milliseconds, &random).into_uuid());
    new.result.created_at = saved;
    it.database.save_result(&new).await.unwrap();
    new.result.id
}

async fn pages_follow_each_other_without_gaps(it: Fixture) {
    let mut saved = Vec::new();
    for _ in 0..7 {
        let new = it.result(answered(), None);
        it.database.save_result(&new).await.unwrap();
        saved.push(new.result);
    }
    let mut read = Vec::new();
    let mut after = None;
    loop {
        let everything = ResultFilter::default();
        let page = it
            .database
            .list_results(it.account, it.prism.id, everything, OLDEST_FIRST, after, 3)
            .await;
        let page = page.unwrap();
        assert!(page.len() <= 3);
        let Some(last) = page.last() else { break };
        after = Some(last.id);
        read.extend(page);
    }
    assert_eq!(read, saved);
}

async fn a_filter_keeps_what_it_names(it: Fixture) {
    let mut ids = Vec::new();
    for (milliseconds, status) in [(0, answered()), (10, failed()), (20, answered())] {
        ids.push(save_at(&it, moment(milliseconds), moment(milliseconds), status).await);
    }
    let status = |is_ok| ResultFilter {
        is_ok: Some(is_ok),
        ..ResultFilter::default()
    };
    assert_eq!(list(&it, status(true)).await, [ids[0], ids[2]]);
    assert_eq!(list(&it, status(false)).await, [ids[1]]);
    let counted = |filter| it.database.count_results(it.account, it.prism.id, filter);
    assert_eq!(counted(status(true)).await.unwrap(), 2);
    let between = |since, until| ResultFilter {
        since: Some(moment(since)),
        until: Some(moment(until)),
        ..ResultFilter::default()
    };
    assert_eq!(
        list(&it, between(0, 10)).await,
        [ids[0]],
        "until is exclusive, since is not"
    );
    assert_eq!(list(&it, between(10, 21)).await, [ids[1], ids[2]]);
    assert_eq!(counted(between(10, 21)).await.unwrap(), 2);
    assert_eq!(list(&it, ResultFilter::default()).await, ids);
    assert_eq!(counted(ResultFilter::default()).await.unwrap(), 3);
    let (order, last) = (ResultOrder::NewestFirst, Some(ids[2]));
    let newest = it
        .database
        .list_results(it.account, it.prism.id, status(true), order, last, 100);
    let newest: Vec<_> = newest.await.unwrap().iter().map(|it| it.id).collect();
    assert_eq!(newest, [ids[0]], "before the one named");
}

async fn a_clock_that_is_set_by_minutes_keeps_no_result_out_of_its_period(it: Fixture) {
    let (saved, minutes) = (moment(0), TimeDelta::seconds(299));
    let early = save_at(&it, saved - minutes, saved, answered()).await;
    let late = save_at(&it, saved + minutes, saved, answered()).await;
    let filter = ResultFilter {
        since: Some(saved),
        until: Some(moment(1)),
        ..ResultFilter::default()
    };
    assert_eq!(list(&it, filter).await, [early, late]);
}

async fn a_period_may_begin_and_end_at_any_moment(it: Fixture) {
    let saved = save_at(&it, moment(0), moment(0), answered()).await;
    let written = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
    let moments = [
        written("0000-01-01T00:00:00Z"),
        written("1969-12-31T00:00:00Z"),
        moment(0),
        moment(1),
        written("9999-12-31T23:59:59.999Z"),
        // the last moment that an id can hold
        DateTime::from_timestamp_millis((1 << 48) - 1).unwrap(),
        DateTime::from_timestamp_millis(1 << 48).unwrap(),
    ];
    for since in moments {
        for until in moments {
            let filter = ResultFilter {
                since: Some(since),
                until: Some(until),
                ..ResultFilter::default()
            };
            let is_in_it = since <= moment(0) && moment(0) < until;
            let expected = is_in_it.then_some(saved);
            assert_eq!(
                list(&it, filter.clone()).await,
                Vec::from_iter(expected),
                "{filter:?}"
            );
        }
    }
}

async fn everything_is_read_from_either_end_in_pages_that_fit(it: Fixture) {
    let mut saved = Vec::new();
    for number in 0..90 {
        let mut new = it.result(answered(), None);
        if (20..80).contains(&number) {
            new.result.submission = submission(&"x".repeat(500_000));
        }
        it.database.save_result(&new).await.unwrap();
        saved.push(new.result.id);
    }
    for order in [ResultOrder::OldestFirst, ResultOrder::NewestFirst] {
        let filter = ResultFilter::default();
        let mut pages = it
            .database
            .result_pages(it.account, it.prism.id, filter, order);
        let (mut read, mut sizes) = (Vec::new(), Vec::new());
        loop {
            let page = pages.next().await.unwrap();
            if page.is_empty() {
                break;
            }
            sizes.push(page.len());
            read.extend(page.iter().map(|result| result.id));
        }
        if order == ResultOrder::NewestFirst {
            read.reverse();
        }
        assert_eq!(read, saved, "{order:?}");
        assert_eq!(sizes.iter().max(), Some(&32), "{order:?}: {sizes:?}");
        // 2 MiB of the large ones
        let settled = sizes.iter().filter(|size| **size == 4).count();
        assert!(settled >= 6, "{order:?}: {sizes:?}");
    }
}

async fn only_failed_results_that_nobody_retried_are_retriable(it: Fixture) {
    let failure = it.result(failed(), None);
    let fresh = it.result(failed(), None);
    it.database.save_result(&failure).await.unwrap();
    it.database.save_result(&fresh).await.unwrap();
    let ok = it.result(answered(), None);
    it.database.save_result(&ok).await.unwrap();
    let failed_again = it.retry(&failure.result, failed());
    it.database.save_result(&failed_again).await.unwrap();
    let list = |filter, after, limit| {
        it.database
            .list_retriable_results(it.account, it.prism.id, filter, after, limit)
    };
    let everything = ResultFilter::default;
    let (fresh, again) = (fresh.result.id, failed_again.result.id);
    assert_eq!(list(everything(), None, 9).await.unwrap(), [fresh, again]);
    assert_eq!(list(everything(), None, 1).await.unwrap(), [fresh]);
    let counted = it
        .database
        .count_retriable_results(it.account, it.prism.id, everything());
    assert_eq!(counted.await.unwrap(), 2);
    assert_eq!(list(everything(), Some(fresh), 9).await.unwrap(), [again]);
    let later = ResultFilter {
        since: Some(moment(1)),
        ..everything()
    };
    assert!(list(later, None, 9).await.unwrap().is_empty());
}

async fn other_prisms_and_accounts_stay_out(it: Fixture) {
    let other = prism(&it.database, it.account, "Other").await;
    let mut new = it.result(answered(), None);
    new.result.prism = other.id;
    it.database.save_result(&new).await.unwrap();
    assert!(list(&it, ResultFilter::default()).await.is_empty());
    let elsewhere = account(&it.database, "elsewhere").await;
    let filter = ResultFilter::default();
    let found = it
        .database
        .list_results(elsewhere, other.id, filter, OLDEST_FIRST, None, 100)
        .await
        .unwrap();
    assert!(found.is_empty());
}
