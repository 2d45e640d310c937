//! PostgreSQL restarts while calls are in flight.

use std::time::Instant;

use refract_test_stack::expected::{ANSWERS, JSON, Saved};
use refract_test_stack::http::HttpConnection;
use refract_test_stack::service::{PRISM, Service, TEXT};
use refract_test_support::cluster::{Cluster, Shutdown};
use refract_test_support::model_server::ScriptedReply;
use serde_json::json;
use tokio::task::block_in_place;

use crate::faults::load::{Load, assert_kept, cluster, service};

/// The metric that counts failed attempts to save that were followed by another attempt.
pub(crate) const SAVES_FAILED: &str = "refract_result_saves_failed_total";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fast_restart_under_load_loses_nothing() {
    restart_under_load(Shutdown::Fast).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_under_load_loses_nothing() {
    restart_under_load(Shutdown::Immediate).await;
}

async fn restart_under_load(how: Shutdown) {
    let cluster = cluster(&[]);
    let service = service(Some(cluster.url()), 1, "10000").await;
    let load = Load::start(&service, "restart", 16);
    for round in 1..=3 {
        load.until_more(50).await;
        let refused = load.progress().refused;
        block_in_place(|| cluster.stop(how));
        load.until(|progress| progress.refused > refused).await;
        assert_eq!(service.nodes[0].ops("/readyz").await.status, 503);
        assert_eq!(service.nodes[0].ops("/healthz").await.status, 200);
        block_in_place(|| cluster.start_again());
        // the node reconnects by itself, without delay
        let begin = Instant::now();
        load.until_more(1).await;
        let took = begin.elapsed();
        println!("{how:?}, round {round}: answers {took:.0?} after the server was back");
        assert!(took.as_secs() < 5, "{took:?}");
    }
    load.until_more(50).await;
    assert_eq!(service.nodes[0].ops("/readyz").await.status, 200);
    let acknowledged = load.stop().await;
    assert_kept(&service, &acknowledged).await;
    assert_eq!(service.results_made().await, acknowledged.len());
}

/// Sends a call, stops the database, lets the model answer, and waits until saves have failed.
async fn answered_meanwhile(service: &Service, cluster: &Cluster) -> HttpConnection {
    service.model.then_always(ScriptedReply::answers().held());
    let body = json!({"text": TEXT, "idempotency_key": "paid for"});
    let request = service.create_request(PRISM, &body);
    let mut call = HttpConnection::open(service.api()).await;
    call.send(&request.bytes()).await;
    service
        .model
        .wait_until(|counts| counts.requests == 1)
        .await;
    block_in_place(|| cluster.stop(Shutdown::Immediate));
    service.model.release(1);
    let node = &service.nodes[0];
    refract_test_stack::http::within_patience(async {
        while node.metric(SAVES_FAILED).await < 2.0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    call
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_was_paid_for_waits_until_it_is_saved() {
    let cluster = cluster(&[]);
    let service = service(Some(cluster.url()), 1, "30000").await;
    let mut call = answered_meanwhile(&service, &cluster).await;
    block_in_place(|| cluster.start_again());
    let answer = call.answer().await;
    let saved = Saved::of(&answer);
    answer.assert(200, JSON, &saved.envelope(ANSWERS));
    assert_eq!(service.read(&saved.id, "").await.body, answer.body);
    assert_eq!((service.asked(), service.results_made().await), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_cannot_be_saved_ends_as_500_when_the_time_is_up() {
    let cluster = cluster(&[]);
    let service = service(Some(cluster.url()), 1, "2000").await;
    let begin = Instant::now();
    let mut call = answered_meanwhile(&service, &cluster).await;
    let answer = call.answer().await;
    answer.assert_error(500, "internal_error", "Internal server error");
    assert!(begin.elapsed().as_secs() < 10, "{:?}", begin.elapsed());
    block_in_place(|| cluster.start_again());
    assert_eq!(service.results_made().await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_draining_node_that_cannot_save_still_ends_its_calls_in_time() {
    let cluster = cluster(&[]);
    let mut service = service(Some(cluster.url()), 1, "4000").await;
    let mut call = answered_meanwhile(&service, &cluster).await;
    let mut node = service.nodes.remove(0);
    let begin = Instant::now();
    node.signal("TERM").await;
    let answer = call.answer().await;
    answer.assert_error(500, "internal_error", "Internal server error");
    assert_eq!(node.exit_code().await, Some(0), "{:?}", node.log());
    assert!(begin.elapsed().as_secs() < 8, "{:?}", begin.elapsed());
}
