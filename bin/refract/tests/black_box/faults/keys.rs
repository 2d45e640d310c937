//! The figures of `refract key list` when nodes are killed: the number of results is exact, the
//! last use is at most a few seconds late.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use refract_test_stack::service::Service;
use serde_json::Value;

use crate::faults::load::{Load, cluster, service};

/// The last use is saved every five seconds; three more allow for a busy machine and for times
/// printed in whole seconds.
const LATE: TimeDelta = TimeDelta::seconds(5 + 3);

async fn last_used(service: &Service) -> Option<DateTime<Utc>> {
    let keys = service.run(&["key", "list", "--json"]).await.lines();
    let key: &Value = keys
        .iter()
        .find(|key| key["id"] == *service.key_id)
        .unwrap();
    Some(key["last_used_at"].as_str()?.parse().unwrap())
}

/// Waits until the last use differs from `before`, and returns it.
async fn until_noted_after(service: &Service, before: Option<DateTime<Utc>>) -> DateTime<Utc> {
    refract_test_stack::http::within_patience(async {
        loop {
            match last_used(service).await {
                Some(noted) if Some(noted) != before => return noted,
                _ => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    })
    .await
}

async fn a_kill_loses_seconds_of_last_use(url: Option<String>) {
    let mut service = service(url, 1, "10000").await;
    assert_eq!(last_used(&service).await, None);
    let load = Load::start(&service, "keys", 4);
    let first = until_noted_after(&service, None).await;
    until_noted_after(&service, Some(first)).await;
    load.until_more(20).await;

    let mut node = service.nodes.remove(0);
    let killed_at = Utc::now();
    node.signal("KILL").await;
    node.exit_code().await;
    let noted = last_used(&service).await.unwrap();
    assert!(killed_at - noted < LATE, "{killed_at} {noted}");

    service.start_node(&[]).await;
    load.turn_to(&service);
    let acknowledged = load.stop().await;
    assert_eq!(service.results_made().await, acknowledged.len());

    // SIGTERM saves the last use before the node ends
    let stopped_at = Utc::now();
    service
        .create(&serde_json::json!({"text": "one more"}))
        .await;
    service.nodes.remove(0).stop().await;
    let noted = last_used(&service).await.unwrap();
    assert!(
        noted + TimeDelta::seconds(1) > stopped_at,
        "{stopped_at} {noted}"
    );
    assert_eq!(service.results_made().await, acknowledged.len() + 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_postgres_a_kill_loses_seconds_of_last_use_and_no_result() {
    let cluster = cluster(&[]);
    a_kill_loses_seconds_of_last_use(Some(cluster.url())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_sqlite_a_kill_loses_seconds_of_last_use_and_no_result() {
    a_kill_loses_seconds_of_last_use(None).await;
}
