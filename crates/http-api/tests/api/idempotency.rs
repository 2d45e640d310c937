//! Idempotency keys: every row of the table in section 4.1.

use refract_test_stack::expected::{ANSWERS, JSON, Saved};
use refract_test_stack::http::Request;
use refract_test_stack::service::{Backend, PRISM, Service, TEXT, text};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::on_both;
use serde_json::json;

on_both!(
    a_key_of_a_successful_result_returns_it_without_asking,
    a_key_of_a_failed_result_retries_it_with_what_it_stored,
    a_key_of_another_prism_is_a_conflict,
    a_repeat_is_checked_like_a_first_call,
    a_key_moves_with_the_retry_endpoint,
);

async fn a_key_of_a_successful_result_returns_it_without_asking(backend: Backend) {
    let service = Service::start(backend).await;
    let first = service
        .create(&json!({"text": TEXT, "ref": "a", "idempotency_key": "  order 7 "}))
        .await;
    let saved = Saved::of(&first);
    // the rest of the body is validated and then ignored
    let repeat = json!({
        "fields": {"nothing": "of this prism"},
        "ref": "b",
        "version": 99,
        "context": "x".repeat(100_000),
        "idempotency_key": "order 7",
    });
    service.create(&repeat).await.assert(200, JSON, &first.body);
    for format in ["json", "raw", "csv", "tsv", "jsonl"] {
        let request = Request::post(&format!("/prisms/{PRISM}/results?format={format}"))
            .bearer(&service.key)
            .json(&repeat);
        let (content_type, body) = saved.in_format(format);
        service.send(request).await.assert(200, content_type, &body);
    }
    assert_eq!((service.asked(), service.results_made().await), (1, 1));
    // the limit counts characters, not bytes, and keys are case-sensitive
    let long = "ä".repeat(200);
    for key in ["ORDER 7", &long] {
        let body = json!({"text": TEXT, "idempotency_key": key});
        let first = service.create(&body).await;
        assert_ne!(Saved::of(&first).id, saved.id);
        service.create(&body).await.assert(200, JSON, &first.body);
    }
    assert_eq!((service.asked(), service.results_made().await), (3, 3));
}

async fn a_key_of_a_failed_result_retries_it_with_what_it_stored(backend: Backend) {
    let service = Service::start(backend).await;
    let first = json!({"text": TEXT, "ref": "a", "context": "Order 7.", "idempotency_key": "k"});
    let failed = Saved::of(&service.failed(&first).await);
    let repeat = json!({"fields": {"no": ""}, "ref": "b", "version": 99, "idempotency_key": "k"});
    service.model.then_once(ScriptedReply::status(400));
    let second = service.create(&repeat).await;
    let second_saved = Saved::of(&second);
    assert_eq!(second_saved.reference.as_deref(), Some("a"));
    second.assert(502, JSON, &second_saved.envelope("null"));
    let third = service.create(&repeat).await;
    let third_saved = Saved::of(&third);
    assert_eq!(
        (third_saved.reference.as_deref(), third_saved.version),
        (Some("a"), 1)
    );
    third.assert(200, JSON, &third_saved.envelope(ANSWERS));
    service.create(&repeat).await.assert(200, JSON, &third.body);
    let requests = service.model.requests();
    assert_eq!(requests.len(), 3);
    assert!(
        requests
            .iter()
            .all(|request| request.body == requests[0].body)
    );
    for (old, new) in [(&failed, &second_saved), (&second_saved, &third_saved)] {
        let message = format!("This result was already retried as {}.", new.id);
        let refused = service.retry(&old.id).await;
        refused.assert_error(409, "conflict", &message);
    }
    assert_eq!(service.results_made().await, 3);
}

async fn a_key_of_another_prism_is_a_conflict(backend: Backend) {
    let service = Service::start(backend).await;
    let other = service.another_prism("Other").await;
    let message = "This idempotency key was already used for another prism.";
    let ok = json!({"text": TEXT, "idempotency_key": "ok"});
    let failed = json!({"text": TEXT, "idempotency_key": "failed"});
    service.create(&ok).await;
    service.failed(&failed).await;
    for body in [ok, failed] {
        let refused = service.send(service.create_request(&other, &body)).await;
        refused.assert_error(409, "conflict", message);
    }
    assert_eq!((service.asked(), service.results_made().await), (2, 2));
}

async fn a_repeat_is_checked_like_a_first_call(backend: Backend) {
    let service = Service::start(backend).await;
    let body = json!({"text": TEXT, "idempotency_key": "k"});
    let first = service.create(&body).await;
    let invalid = json!({"text": TEXT, "ref": 5, "idempotency_key": "k"});
    let refused = service.create(&invalid).await;
    let message = "Invalid request: ref: Expected string, received number";
    refused.assert_error(400, "validation_failed", message);
    let request = Request::post(&format!("/prisms/{PRISM}/results")).json(&body);
    let refused = service.send(request).await;
    refused.assert_error(401, "unauthorized", "Authentication required");
    service.run(&["prism", "archive", PRISM]).await.done();
    let refused = service.create(&body).await;
    refused.assert_error(404, "not_found", "Prism not found");
    service.run(&["prism", "restore", PRISM]).await.done();
    service.create(&body).await.assert(200, JSON, &first.body);
    assert_eq!(service.asked(), 1);
}

async fn a_key_moves_with_the_retry_endpoint(backend: Backend) {
    let service = Service::start(backend).await;
    let body = json!({"text": TEXT, "idempotency_key": "k"});
    let failed = Saved::of(&service.failed(&body).await);
    let retried = service.retry(&failed.id).await;
    assert_ne!(text(&retried.value(), "id"), failed.id);
    service.create(&body).await.assert(200, JSON, &retried.body);
    assert_eq!((service.asked(), service.results_made().await), (2, 2));
}
