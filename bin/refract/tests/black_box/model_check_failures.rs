//! The report of `refract model check` about a server that refuses: the failure in a sentence, the
//! server's own message and the remedy. Results, logs and metrics never contain that message.

use refract_test_stack::expected::Saved;
use refract_test_stack::http::within_patience;
use refract_test_stack::service::{Backend, Service, Setup};
use refract_test_support::model_server::ScriptedReply;
use serde_json::json;

use crate::program::setup;

#[tokio::test]
async fn a_servers_words_reach_neither_results_nor_logs_nor_metrics() {
    let settings = [
        ("REFRACT_LOG", "trace"),
        ("REFRACT_MODEL_API_KEY", "model-sentinel"),
    ];
    let setup = Setup {
        settings: &settings,
        ..setup()
    };
    let mut service = Service::with(Backend::Sqlite, setup).await;
    let reported = "said-sentinel: model-sentinel, the context size is too small";
    for status in [200, 400, 401, 404, 422, 429, 500, 501, 503] {
        for body in [
            json!({"error": {"message": reported, "type": reported}}).to_string(),
            json!({"detail": [{"loc": [reported], "msg": reported}]}).to_string(),
            reported.to_owned(),
        ] {
            let reply = ScriptedReply::body(body.as_str()).with_status(status);
            // halves of the request are refused, too
            service.model.then_always(reply.header("Retry-After", "0"));
            let answer = service.create(&json!({"text": "text-sentinel"})).await;
            assert_eq!(answer.status, 502, "{status} {body}");
            let failed = Saved::of(&answer);
            let error = failed.error.unwrap();
            assert!(!error.contains("sentinel"), "{error}");
        }
    }
    let metrics = service.nodes[0].ops("/metrics").await.body;
    assert!(metrics.contains("context_too_small"), "{metrics}");
    assert!(!metrics.contains("sentinel"), "{metrics}");
    let mut node = service.nodes.remove(0);
    node.signal("TERM").await;
    assert_eq!(within_patience(node.exit_code()).await, Some(0));
    let log = node.log();
    let failed = |line: &&String| line.contains("a call to the model failed");
    assert_eq!(log.iter().filter(failed).count(), 9 * 3);
    for line in log {
        assert!(!line.contains("sentinel"), "{line}");
    }
}
