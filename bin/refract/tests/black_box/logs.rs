//! The log: one line for each request, without texts, contexts, refs or keys.

use std::process::Stdio;

use refract_test_stack::expected::Saved;
use refract_test_stack::http::{Request, within_patience};
use refract_test_stack::service::{Backend, PRISM, Service, Setup, text};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::on_both;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::program;
use crate::program::{setup, start};

on_both!(nothing_of_what_callers_send_is_logged);

#[tokio::test]
async fn a_server_whose_log_nobody_reads_serves_on() {
    let service = start(Backend::Sqlite).await;
    let url = service.model.url();
    let settings = [
        ("DATABASE_URL", service.database_url.as_str()),
        ("REFRACT_MODEL_URL", url.as_str()),
        ("REFRACT_LISTEN", "127.0.0.1:0"),
        ("REFRACT_OPS_LISTEN", "off"),
        ("REFRACT_APP_LISTEN", "off"),
        ("REFRACT_LOG_FORMAT", "json"),
    ];
    let mut child = program::command(service.folder.path(), &settings, &["serve"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    let address = loop {
        let line = within_patience(log.next_line()).await.unwrap().unwrap();
        let line: Value = serde_json::from_str(&line).unwrap();
        if let Some(address) = line["api"].as_str() {
            break address.parse().unwrap();
        }
    };
    drop(log);
    for _ in 0..3 {
        let request = service.create_request(PRISM, &json!({"text": "a"}));
        assert_eq!(request.send(address).await.status, 200);
    }
    program::signal(&child, "TERM").await;
    let ended = within_patience(child.wait()).await.unwrap();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
}

#[tokio::test]
async fn a_key_outside_its_networks_is_logged_by_its_id() {
    let service = start(Backend::Sqlite).await;
    let create = ["key", "create", "--network", "203.0.113.0/24"];
    let made = service.run(&create).await.object();
    let (key, id) = (text(&made, "key"), text(&made, "id"));
    let read = Request::get("/results/01234567-89ab-7def-8123-456789abcdef")
        .bearer(&key)
        .header("X-Request-Id", "elsewhere");
    assert_eq!(service.send(read).await.status, 401);
    let node = &service.nodes[0];
    let is_of_call = |line: &str| line.contains(r#""request_id":"elsewhere""#);
    node.logged(|line| is_of_call(line) && line.contains(r#""status":401"#))
        .await;
    let log = node.log();
    let lines: Vec<_> = log.iter().filter(|line| is_of_call(line)).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains("none of the key's networks"), "{lines:?}");
    for line in &lines {
        assert!(line.contains(&id), "{line}");
    }
    assert!(!log.iter().any(|line| line.contains(&key)));
}

#[tokio::test]
async fn every_request_is_one_line() {
    let service = start(Backend::Sqlite).await;
    let request = service
        .create_request(PRISM, &json!({"text": "a"}))
        .header("X-Request-Id", "first");
    let id = Saved::of(&service.send(request).await).id;
    let read = Request::get("/results/x").header("X-Request-Id", "second");
    service.send(read).await;
    let nowhere = Request::get("/nowhere").header("X-Request-Id", "third");
    service.send(nowhere).await;
    let mut logged = Vec::new();
    for request_id in ["first", "second", "third"] {
        let id = format!(r#""request_id":"{request_id}""#);
        service.nodes[0].logged(|line| line.contains(&id)).await;
        let log = service.nodes[0].log();
        let lines: Vec<_> = log.iter().filter(|line| line.contains(&id)).collect();
        assert_eq!(lines.len(), 1, "{lines:?}");
        let line: Value = serde_json::from_str(lines[0]).unwrap();
        assert_eq!(line["level"], "INFO");
        assert!(line["ms"].is_u64(), "{line}");
        let keys = ["method", "route", "status", "prism", "result"];
        logged.push(json!(keys.map(|key| &line[key])));
    }
    assert_eq!(
        logged,
        [
            json!(["POST", "/v1/prisms/{prism}/results", 200, PRISM, id]),
            json!(["GET", "/v1/results/{result_id}", 400, null, null]),
            json!(["GET", "unknown", 404, null, null]),
        ]
    );
}

#[tokio::test]
async fn a_failed_call_to_the_model_is_a_line_that_has_more_than_its_result() {
    let service = start(Backend::Sqlite).await;
    for (status, id) in [(503, "req_1"), (500, "req_2")] {
        let refusal = ScriptedReply::status(status).header("request-id", id);
        service.model.then_once(refusal);
    }
    let answer = service.create(&json!({"text": "text-sentinel"})).await;
    assert_eq!(answer.status, 502);
    let failed = |line: &str| line.contains("a call to the model failed");
    let line = service.nodes[0].logged(failed).await;
    let line: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(line["level"], "WARN");
    let keys = [
        "kind",
        "protocol",
        "host_request_id",
        "requests",
        "attempts",
        "failure",
    ];
    assert_eq!(
        json!(keys.map(|key| &line[key])),
        json!([
            "status",
            "systemone",
            "req_2",
            1,
            2,
            "The model server answered with status 500."
        ])
    );
    assert!(line["took"].is_string(), "{line}");
}

#[tokio::test]
async fn every_line_about_a_call_has_its_ids_once_and_at_the_top() {
    for format in ["json", "text"] {
        let settings = [("REFRACT_LOG_FORMAT", format)];
        let setup = Setup {
            settings: &settings,
            ..setup()
        };
        let service = Service::with(Backend::Sqlite, setup).await;
        service.model.then_once(ScriptedReply::status(400));
        let failing = service.create_request(PRISM, &json!({"text": "a"}));
        let failing = failing.header("X-Request-Id", "order-7");
        assert_eq!(service.send(failing).await.status, 502);
        let node = &service.nodes[0];
        // not by the status alone: a moment in a line may have its digits
        let is_failure = |line: &str| line.contains("a call to the model failed");
        node.logged(|line| line.contains("order-7") && !is_failure(line))
            .await;
        let log = node.log();
        let lines: Vec<_> = log.iter().filter(|line| line.contains("order-7")).collect();
        assert_eq!(lines.len(), 2, "the failure and the request: {lines:?}");
        for line in lines {
            assert_eq!(line.matches("request_id").count(), 1, "{line}");
            if format == "json" {
                let line: Value = serde_json::from_str(line).unwrap();
                assert_eq!(line["request_id"], "order-7");
                let nested = line.as_object().unwrap().values();
                assert!(
                    !nested.clone().any(|it| it.is_object() || it.is_array()),
                    "{line}"
                );
            } else {
                assert!(line.contains(" request_id=order-7"), "{line}");
            }
        }
    }
}

#[tokio::test]
async fn a_calls_line_names_its_key_and_client_also_when_it_is_refused() {
    let service = start(Backend::Sqlite).await;
    let made = service
        .run(&["key", "create", "--name", "old"])
        .await
        .object();
    let (old, old_id) = (text(&made, "key"), text(&made, "id"));
    service.run(&["key", "revoke", &old_id]).await.done();
    let read = || Request::get("/results/0190b8f2-0000-7000-8000-0000000000aa");
    let create = |body: Value| service.create_request(PRISM, &body);
    for (name, request, key) in [
        (
            "created",
            create(json!({"text": "a"})),
            Some(&service.key_id),
        ),
        (
            "invalid",
            create(json!({"fields": {"other": "a"}})),
            Some(&service.key_id),
        ),
        (
            "missing",
            read().bearer(&service.key),
            Some(&service.key_id),
        ),
        ("revoked", read().bearer(&old), Some(&old_id)),
        (
            "unknown",
            read().bearer(&format!("rk_{}", "a".repeat(32))),
            None,
        ),
        ("none", read(), None),
    ] {
        service.send(request.header("X-Request-Id", name)).await;
        let id = format!(r#""request_id":"{name}""#);
        let line = service.nodes[0].logged(|line| line.contains(&id)).await;
        let line: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(line["key"].as_str(), key.map(String::as_str), "{line}");
        assert_eq!(line["client"], "127.0.0.1", "{line}");
    }
}

async fn nothing_of_what_callers_send_is_logged(backend: Backend) {
    let settings = [
        ("REFRACT_LOG", "trace"),
        ("REFRACT_MODEL_API_KEY", "model-sentinel"),
    ];
    let setup = Setup {
        settings: &settings,
        ..setup()
    };
    let mut service = Service::with(backend, setup).await;
    let body = json!({
        "text": "text-sentinel",
        "context": "context-sentinel",
        "ref": "ref-sentinel",
        "idempotency_key": "idempotency-sentinel",
    });
    let nonsense = ScriptedReply::body("model-said-sentinel");
    service.model.then_once(nonsense);
    let failed = Saved::of(&service.create(&body).await);
    service
        .model
        .then_once(ScriptedReply::status(500).header("X-Said", "model-said-sentinel"));
    assert_eq!(service.create(&body).await.status, 200);
    service.create(&body).await;
    service.retry(&failed.id).await;
    service
        .read(&failed.id, "?format=csv&x=query-sentinel")
        .await;
    let mut wrong = body.clone();
    wrong["version"] = json!("wrong-sentinel");
    wrong["fields"] = json!({"field-sentinel": "text-sentinel"});
    service.create(&wrong).await;
    let unknown = json!({"fields": {"field-sentinel": "text-sentinel"}});
    service.create(&unknown).await;
    let unknown_prism = service.create_request("prism-sentinel", &body);
    service.send(unknown_prism).await;
    service.send(Request::get("/path-sentinel")).await;
    let wrong_key = Request::get(&format!("/results/{}", failed.id)).bearer("rk_key-sentinel");
    service.send(wrong_key).await;
    let malformed = Request::post(&format!("/prisms/{PRISM}/results"))
        .header("Content-Type", "application/json")
        .body("{\"text\": \"text-sentinel\"");
    service.send(malformed).await;
    let mut node = service.nodes.remove(0);
    node.signal("TERM").await;
    assert_eq!(node.exit_code().await, Some(0));
    let log = node.log();
    let random = service.key.strip_prefix("rk_").unwrap();
    assert!(log.iter().filter(|line| line.contains("request")).count() >= 11);
    for line in &log {
        assert!(!line.contains("sentinel"), "{line}");
        assert!(!line.contains(random), "{line}");
    }
}
