//! The operator's listener: `/healthz`, `/readyz`, `/metrics`.

use refract_test_stack::service::{Backend, TEXT};
use serde_json::json;

use crate::program::start;

#[tokio::test]
async fn health_is_the_process_and_readiness_is_the_database() {
    let mut service = start(Backend::Postgres).await;
    let node = &service.nodes[0];
    for path in ["/healthz", "/readyz"] {
        let answer = node.ops(path).await;
        assert_eq!((answer.status, answer.body.as_str()), (200, "ok\n"));
    }
    for path in ["/", "/v1/results/x", "/nowhere"] {
        assert_eq!(node.ops(path).await.status, 404);
    }
    let made = service.create(&json!({"text": TEXT})).await;
    assert_eq!(made.status, 200);
    service.lose_database();
    let node = &service.nodes[0];
    assert_eq!(node.ops("/healthz").await.status, 200);
    let answer = node.ops("/readyz").await;
    assert_eq!((answer.status, answer.body.as_str()), (503, "not ready\n"));
    for answer in [
        service.create(&json!({"text": TEXT})).await,
        service
            .read(&refract_test_stack::expected::Saved::of(&made).id, "")
            .await,
    ] {
        answer.assert_error(500, "internal_error", "Internal server error");
    }
    assert_eq!(service.asked(), 1);
    let id = made.header("x-request-id").unwrap();
    assert!(service.nodes[0].log().iter().any(|line| line.contains(id)));
}
