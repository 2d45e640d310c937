//! Purging by age in the background: which results, by which node, and when it refuses.

use refract_test_stack::expected::Saved;
use refract_test_stack::http::within_patience;
use refract_test_stack::node::Node;
use refract_test_stack::service::{Backend, TEXT};
use serde_json::{Value, json};

use crate::program::start;

const PURGED: &str = "refract_results_purged_total";

/// Waits until these nodes together have purged this many results.
async fn until_purged(nodes: &[Node], results: f64) {
    within_patience(async {
        loop {
            let mut purged = 0.0;
            for node in nodes {
                purged += node.metric(PURGED).await;
            }
            if (purged - results).abs() < f64::EPSILON {
                return;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn two_nodes_purge_what_is_older_than_the_days_that_are_set() {
    let mut service = start(Backend::Postgres).await;
    let young = Saved::of(&service.create(&json!({"text": TEXT})).await);
    let old = json!({"text": TEXT, "ref": "Ada-Sentinel"});
    for _ in 0..150 {
        service.create_old(&old).await;
    }
    // nearly all results are old: newly enabled retention deletes them only if configured to
    let days = [
        ("REFRACT_RETENTION_DAYS", "30"),
        ("REFRACT_RETENTION_UNCHECKED", "on"),
    ];
    service.start_node(&days).await;
    service.start_node(&days).await;
    until_purged(&service.nodes[1..], 150.0).await;
    assert_eq!(service.results().await.len(), 1);
    assert_eq!(service.read(&young.id, "").await.status, 200);
    service.assert_in_no_table("Ada-Sentinel").await;
    // a stopping node releases the lease, so that another one continues at once
    for node in service.nodes.drain(1..) {
        assert!(!node.log().concat().contains("Ada-Sentinel"));
        node.stop().await;
    }
    service.create_old(&old).await;
    service.start_node(&days).await;
    let node = &service.nodes[1];
    let message = "purged results that are older than they are kept";
    let line = node.logged(|line| line.contains(message)).await;
    let line: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(
        (&line["level"], &line["results"]),
        (&json!("INFO"), &json!(1))
    );
    until_purged(&service.nodes[1..], 1.0).await;
    assert_eq!(service.results().await.len(), 1);
}

#[tokio::test]
async fn most_results_go_only_when_a_node_is_set_to() {
    let mut service = start(Backend::Postgres).await;
    let young = Saved::of(&service.create(&json!({"text": TEXT})).await);
    for _ in 0..3 {
        service.create_old(&json!({"text": TEXT})).await;
    }
    let days = ("REFRACT_RETENTION_DAYS", "30");
    service.start_node(&[days]).await;
    let node = &service.nodes[1];
    let line = node.logged(|line| line.contains("are not purged")).await;
    assert!(line.contains("REFRACT_RETENTION_UNCHECKED=on"), "{line}");
    let refused = r#"refract_retention_refused_total{reason="share"}"#;
    node.until_metric(refused, 1.0).await;
    assert_eq!(service.results().await.len(), 4);
    // the first node is not blocked, although it checks again and again
    let confirmed = [days, ("REFRACT_RETENTION_UNCHECKED", "on")];
    service.start_node(&confirmed).await;
    until_purged(&service.nodes[2..], 3.0).await;
    assert_eq!(service.read(&young.id, "").await.status, 200);
    assert_eq!(service.results().await.len(), 1);
}
