//! Results of a prism, page by page.

use refract_domain::ids::ResultId;
use refract_persistence::ResultFilter;

use crate::fixture::{Fixture, account, answered, failed, moment, prism};

on_both!(
    pages_follow_each_other_without_gaps,
    a_filter_keeps_what_it_names,
    other_prisms_and_accounts_stay_out,
);

async fn list(it: &Fixture, filter: ResultFilter) -> Vec<ResultId> {
    let results = it
        .database
        .list_results(it.account, it.prism.id, filter, None, 100)
        .await;
    results.unwrap().iter().map(|result| result.id).collect()
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
            .list_results(it.account, it.prism.id, everything, after, 3)
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
        let mut new = it.result(status, None);
        new.result.created_at = moment(milliseconds);
        it.database.save_result(&new).await.unwrap();
        ids.push(new.result.id);
    }
    let status = |is_ok| ResultFilter {
        is_ok: Some(is_ok),
        ..ResultFilter::default()
    };
    assert_eq!(list(&it, status(true)).await, [ids[0], ids[2]]);
    assert_eq!(list(&it, status(false)).await, [ids[1]]);
    let between = |since, until| ResultFilter {
        is_ok: None,
        since: Some(moment(since)),
        until: Some(moment(until)),
    };
    assert_eq!(
        list(&it, between(0, 10)).await,
        [ids[0]],
        "until is exclusive, since is not"
    );
    assert_eq!(list(&it, between(10, 21)).await, [ids[1], ids[2]]);
    assert_eq!(list(&it, ResultFilter::default()).await, ids);
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
        .list_results(elsewhere, other.id, filter, None, 100)
        .await
        .unwrap();
    assert!(found.is_empty());
}
