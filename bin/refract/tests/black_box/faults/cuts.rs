//! Connections that break between a statement and its answer: the node finds out whether the
//! statement was committed.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use refract_test_stack::expected::{ANSWERS, JSON, Saved};
use refract_test_stack::service::TEXT;
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::postgres_proxy::{PostgresProxy, StatementFault};
use serde_json::json;

use crate::faults::load::{Load, assert_kept, cluster, service};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_insert_whose_answer_is_lost_is_neither_lost_nor_doubled() {
    let cluster = cluster(&[]);
    let inserts = AtomicUsize::new(0);
    let plan = move |sql: &str, _| {
        let is_insert = sql.contains("INSERT INTO results ");
        match is_insert.then(|| inserts.fetch_add(1, Ordering::SeqCst) % 5) {
            Some(1) => Some(StatementFault::CutAnswer),
            Some(3) => Some(StatementFault::CutBefore),
            _ => None,
        }
    };
    let proxy = PostgresProxy::start(cluster.port(), plan).await;
    let service = service(Some(cluster.url_at(proxy.port())), 1, "10000").await;
    let load = Load::start(&service, "cut", 8);
    // a group commit holds up to eight results here, so the number of inserts varies
    for _ in 0..8 {
        load.until_more(50).await;
    }
    assert!(proxy.faults() >= 20, "{}", proxy.faults());
    // a call may fail on a connection that was just cut, but no acknowledged save is lost
    let acknowledged = load.stop().await;
    proxy.heal();
    assert_kept(&service, &acknowledged).await;
    assert_eq!(service.results_made().await, acknowledged.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retry_whose_commit_is_not_answered_moves_the_key_once() {
    for fault in [StatementFault::CutBefore, StatementFault::CutAnswer] {
        let cluster = cluster(&[]);
        let mut service = service(Some(cluster.url()), 0, "10000").await;
        let proxy = PostgresProxy::start(cluster.port(), |_, _| None).await;
        service.database_url = cluster.url_at(proxy.port());
        service.start_node(&[]).await;
        service.model.then_once(ScriptedReply::status(400));
        let body = json!({"text": TEXT, "idempotency_key": "moves"});
        let failed = service.create(&body).await;
        assert_eq!(failed.status, 502, "{failed:?}");

        let was_cut = AtomicBool::new(false);
        proxy.change(move |sql, _| {
            let is_first = sql.contains("COMMIT") && !was_cut.swap(true, Ordering::SeqCst);
            is_first.then_some(fault)
        });
        let answer = service.retry(&Saved::of(&failed).id).await;
        assert_eq!(proxy.faults(), 1, "{fault:?}");
        let saved = Saved::of(&answer);
        answer.assert(200, JSON, &saved.envelope(ANSWERS));
        assert_eq!(service.create(&body).await.body, answer.body, "{fault:?}");
        let again = service.retry(&Saved::of(&failed).id).await;
        let words = format!("This result was already retried as {}.", saved.id);
        again.assert_error(409, "conflict", &words);
        assert_eq!(service.results_made().await, 2);
    }
}
