//! Databases that answer but temporarily refuse writes: read-only, or with a full disk.

use std::process::Command;

use refract_test_stack::expected::{ANSWERS, JSON, Saved};
use refract_test_stack::http::{HttpConnection, within_patience};
use refract_test_stack::node::Node;
use refract_test_stack::service::{PRISM, Service, TEXT};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::postgres_proxy::{PostgresProxy, StatementFault};
use tokio::task::block_in_place;

use crate::faults::load::{Load, assert_kept, cluster, service};
use crate::faults::restarts::SAVES_FAILED;

/// Waits until saves fail, and checks that reads still work.
async fn until_saves_fail(service: &Service, id: &str) {
    let node = &service.nodes[0];
    let before = node.metric(SAVES_FAILED).await;
    within_patience(async {
        while node.metric(SAVES_FAILED).await < before + 10.0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(service.read(id, "").await.status, 200);
    assert_eq!(node.ops("/readyz").await.status, 200);
}

async fn one_result(service: &Service) -> String {
    let answer = service.create(&serde_json::json!({"text": "one"})).await;
    Saved::of(&answer).id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_wait_for_a_server_that_is_read_only_for_a_while() {
    let cluster = cluster(&[]);
    let service = service(Some(cluster.url()), 1, "30000").await;
    let id = one_result(&service).await;
    let load = Load::start(&service, "read-only", 8);
    load.until_more(30).await;
    for _ in 0..2 {
        cluster.configure(&["default_transaction_read_only = on"]);
        block_in_place(|| cluster.reload());
        until_saves_fail(&service, &id).await;
        cluster.configure(&["default_transaction_read_only = off"]);
        block_in_place(|| cluster.reload());
        load.until_more(30).await;
    }
    assert_eq!(load.progress().refused, 0, "every call waited for its save");
    let acknowledged = load.stop().await;
    assert_kept(&service, &acknowledged).await;
    assert_eq!(service.results_made().await, acknowledged.len() + 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_wait_for_a_server_whose_disk_is_full_for_a_while() {
    let cluster = cluster(&[]);
    let mut service = service(Some(cluster.url()), 0, "30000").await;
    let plan = |sql: &str, _| {
        sql.starts_with("INSERT")
            .then_some(StatementFault::Refuse("53100"))
    };
    let proxy = PostgresProxy::start(cluster.port(), |_, _| None).await;
    service.database_url = cluster.url_at(proxy.port());
    service.start_node(&[]).await;
    let id = one_result(&service).await;
    let load = Load::start(&service, "full", 8);
    load.until_more(30).await;
    proxy.change(plan);
    until_saves_fail(&service, &id).await;
    // ten saves failed, and one insert may have contained eight of them
    assert!(proxy.faults() >= 2, "{}", proxy.faults());
    proxy.heal();
    load.until_more(30).await;
    assert_eq!(load.progress().refused, 0, "every call waited for its save");
    let acknowledged = load.stop().await;
    assert_kept(&service, &acknowledged).await;
    assert_eq!(service.results_made().await, acknowledged.len() + 1);
}

/// Limits the size of the files that a node writes, which simulates a full disk.
pub(crate) fn limit_files_of(node: &Node, bytes: &str) {
    let limited = Command::new("prlimit")
        .arg(format!("--pid={}", node.child().id().expect("it runs")))
        .arg(format!("--fsize={bytes}:unlimited"))
        .status();
    assert!(limited.expect("util-linux is there").success());
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_wait_for_a_file_that_cannot_grow_for_a_while() {
    let mut service = service(None, 0, "30000").await;
    service.start_node(&[]).await;
    let id = one_result(&service).await;
    let load = Load::start(&service, "full", 8);
    load.until_more(30).await;
    // the write-ahead log is already larger, so every write fails
    limit_files_of(&service.nodes[0], "4096");
    until_saves_fail(&service, &id).await;
    limit_files_of(&service.nodes[0], "unlimited");
    load.until_more(30).await;
    assert_eq!(load.progress().refused, 0, "every call waited for its save");
    let acknowledged = load.stop().await;
    assert_kept(&service, &acknowledged).await;
    assert_eq!(service.results_made().await, acknowledged.len() + 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answered_call_needs_a_server_that_saves_and_no_more() {
    let cluster = cluster(&[]);
    let mut service = service(Some(cluster.url()), 0, "10000").await;
    let proxy = PostgresProxy::start(cluster.port(), |_, _| None).await;
    service.database_url = cluster.url_at(proxy.port());
    // a new node has neither version nor lens in its cache
    service.start_node(&[]).await;
    service.model.then_always(ScriptedReply::answers().held());
    let mut call = HttpConnection::open(service.api()).await;
    let request = service.create_request(PRISM, &serde_json::json!({"text": TEXT}));
    call.send(&request.bytes()).await;
    service
        .model
        .wait_until(|counts| counts.requests == 1)
        .await;
    // the node's own rounds are refused too, which the call must not notice
    proxy.change(|sql, _| {
        sql.starts_with("SELECT")
            .then_some(StatementFault::Refuse("53100"))
    });
    service.model.release(1);
    let answer = call.answer().await;
    let saved = Saved::of(&answer);
    answer.assert(200, JSON, &saved.envelope(ANSWERS));
    assert_eq!(service.read(&saved.id, "").await.status, 500);
}
