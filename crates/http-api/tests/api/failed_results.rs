//! Failed results: saved, returned with 502, retried once (spec 3.1, 4.3).

use refract_test_stack::expected::{ANSWERS, JSON, Saved, id_in, retried_as};
use refract_test_stack::http::Request;
use refract_test_stack::service::{Backend, PRISM, Service, Setup, TEXT};
use refract_test_support::model_server::{ModelServer, ScriptedReply};
use refract_test_support::on_both;
use serde_json::json;
use tokio::net::TcpSocket;

on_both!(
    a_failed_result_reads_alike_in_every_format_and_is_retried_once,
    a_retry_keeps_what_the_failed_call_sent,
    a_retry_may_fail_and_be_retried_itself,
    a_result_that_is_not_there_or_not_failed_is_not_retried,
);

async fn a_failed_result_reads_alike_in_every_format_and_is_retried_once(backend: Backend) {
    let service = Service::start(backend).await;
    for made_in in ["json", "raw", "csv", "tsv", "jsonl"] {
        service.model.then_once(ScriptedReply::status(400));
        let request = Request::post(&format!("/prisms/{PRISM}/results?format={made_in}"))
            .bearer(&service.key)
            .json(&json!({"text": TEXT, "ref": "ticket-17"}));
        let made = service.send(request).await;
        let id = id_in(&made, made_in);
        let failed = Saved::of(&service.read(&id, "").await);
        let error = "The model server answered with status 400.";
        assert_eq!(failed.error.as_deref(), Some(error));
        let (content_type, body) = failed.in_format(made_in);
        made.assert(502, content_type, &body);
        for read_in in ["json", "raw", "csv", "tsv", "jsonl"] {
            let (content_type, body) = failed.in_format(read_in);
            let read = service.read(&id, &format!("?format={read_in}")).await;
            read.assert(200, content_type, &body);
        }
        let target = format!("/results/{id}/retry?format={made_in}");
        let request = Request::post(&target).bearer(&service.key);
        let retried = service.send(request.clone()).await;
        let again = service.send(request).await;
        let new = Saved::of(&service.read(&retried_as(&again), "").await);
        assert_ne!(new.id, id);
        assert_eq!(
            (new.version, new.reference.as_deref()),
            (1, Some("ticket-17"))
        );
        let (content_type, body) = new.in_format(made_in);
        retried.assert(200, content_type, &body);
        let message = format!("This result was already retried as {}.", new.id);
        again.assert_error(409, "conflict", &message);
        let (content_type, body) = failed.in_format("json");
        let unchanged = service.read(&id, "").await;
        unchanged.assert(200, content_type, &body);
    }
    assert_eq!(service.asked(), 10);
    assert_eq!(service.results_made().await, 10);
}

async fn a_retry_keeps_what_the_failed_call_sent(backend: Backend) {
    let service = Service::start(backend).await;
    let body = json!({"text": TEXT, "context": "Order 7.", "ref": "ticket-17"});
    let failed = Saved::of(&service.failed(&body).await);
    // the retry uses the old version, although a newer one has another field
    let mut next = refract_test_stack::service::example_prism();
    next["fields"] = json!([{"key": "message", "label": "Message"}]);
    let file = service.file("next.json", &next);
    let saved = service.run(&["prism", "save", PRISM, &file]).await.object();
    assert_eq!(saved["version"], 2);
    let retried = service.retry(&failed.id).await;
    let new = Saved::of(&retried);
    assert_eq!(
        (new.version, new.reference.as_deref()),
        (1, Some("ticket-17"))
    );
    retried.assert(200, JSON, &new.envelope(ANSWERS));
    let requests = service.model.requests();
    assert_eq!(
        requests[0].body, requests[1].body,
        "the same question again"
    );
    // rows show the fields of the latest version
    let row = service.read(&new.id, "?format=jsonl").await.value();
    assert_eq!((&row["message"], row.get("text")), (&json!(""), None));
}

async fn a_retry_may_fail_and_be_retried_itself(backend: Backend) {
    let service = Service::start(backend).await;
    let first = Saved::of(&service.failed(&json!({"text": TEXT})).await);
    service.model.then_once(ScriptedReply::status(400));
    let second = service.retry(&first.id).await;
    let second_id = Saved::of(&second).id;
    second.assert(502, JSON, &Saved::of(&second).envelope("null"));
    let third = service.retry(&second_id).await;
    third.assert(200, JSON, &Saved::of(&third).envelope(ANSWERS));
    let message = format!("This result was already retried as {second_id}.");
    let refused = service.retry(&first.id).await;
    refused.assert_error(409, "conflict", &message);
    assert_eq!(service.asked(), 3);
}

async fn a_result_that_is_not_there_or_not_failed_is_not_retried(backend: Backend) {
    let service = Service::start(backend).await;
    let id = Saved::of(&service.create(&json!({"text": TEXT})).await).id;
    let refused = service.retry(&id).await;
    refused.assert_error(409, "conflict", "Only a failed result can be retried.");
    let unknown = "01234567-89ab-7def-8123-456789abcdef";
    let refused = service.retry(unknown).await;
    refused.assert_error(404, "not_found", "Result not found");
    let refused = service.read(unknown, "").await;
    refused.assert_error(404, "not_found", "Result not found");
    let invalid = "Invalid request: result_id: Invalid uuid";
    for id in ["x", "0123456789ab7def8123456789abcdef"] {
        let refused = service.read(id, "").await;
        refused.assert_error(400, "validation_failed", invalid);
        let refused = service.retry(id).await;
        refused.assert_error(400, "validation_failed", invalid);
    }
    assert_eq!(service.asked(), 1);
    assert_eq!(service.results_made().await, 1);
}

/// Each case has the model's reply, the number of attempts, and the error, if the call fails.
#[tokio::test]
async fn a_busy_model_is_asked_once_more_and_any_other_fails_the_call_at_once() {
    let setup = Setup {
        settings: &[("REFRACT_MODEL_TIMEOUT_MS", "1500")],
        ..Setup::default()
    };
    let service = Service::with(Backend::Sqlite, setup).await;
    let unanswered = json!({"model": "m", "answers": {"angry": {"type": "noul", "noul": 0.5}}});
    let closed = "The model server closed the connection before its answer was complete.";
    let cases: [(Vec<ScriptedReply>, usize, Option<&str>); 12] = [
        // first, over a new connection: over a kept one the request would be sent again
        (vec![ScriptedReply::nothing()], 1, Some(closed)),
        (vec![ScriptedReply::status(429)], 2, None),
        (vec![ScriptedReply::status(500)], 2, None),
        (vec![ScriptedReply::status(529)], 2, None),
        (
            vec![ScriptedReply::status(503).header("Retry-After", "0")],
            2,
            None,
        ),
        (
            vec![ScriptedReply::status(429), ScriptedReply::status(503)],
            2,
            Some("The model server answered with status 503."),
        ),
        (
            vec![ScriptedReply::status(500), ScriptedReply::status(500)],
            2,
            Some("The model server answered with status 500."),
        ),
        (
            vec![ScriptedReply::status(429), ScriptedReply::status(400)],
            2,
            Some("The model server answered with status 400."),
        ),
        (
            vec![ScriptedReply::status(401)],
            1,
            Some("The model server answered with status 401."),
        ),
        (vec![ScriptedReply::answers().cut()], 1, Some(closed)),
        (
            vec![ScriptedReply::json(&unanswered)],
            1,
            Some("The model gave no usable answer to the question topic."),
        ),
        (
            vec![ScriptedReply::answers().held()],
            1,
            Some("The model did not answer within 1500 ms."),
        ),
    ];
    for (replies, attempts, error) in cases {
        let what = format!("{replies:?}");
        let asked = service.asked();
        for reply in replies {
            service.model.then_once(reply);
        }
        let answer = service.create(&json!({"text": TEXT})).await;
        let saved = Saved::of(&answer);
        assert_eq!(saved.error.as_deref(), error, "{what}");
        let status = if error.is_none() { 200 } else { 502 };
        let (_, body) = saved.in_format("json");
        answer.assert(status, JSON, &body);
        assert_eq!(service.asked() - asked, attempts, "{what}");
        let read = service.read(&saved.id, "").await;
        read.assert(200, JSON, &body);
    }
}

#[tokio::test]
async fn a_model_that_is_down_fails_the_call_and_answers_the_retry_when_it_is_back() {
    // a bound port that does not listen: connections are refused, no other process can take it
    let silent = TcpSocket::new_v4().unwrap();
    silent.set_reuseaddr(true).unwrap();
    silent.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let port = silent.local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}/v1");
    let setup = Setup {
        settings: &[("REFRACT_MODEL_URL", &url)],
        ..Setup::default()
    };
    let service = Service::with(Backend::Sqlite, setup).await;
    let answer = service
        .create(&json!({"text": TEXT, "idempotency_key": "k"}))
        .await;
    let failed = Saved::of(&answer);
    let error = "The model server could not be reached: the connection was refused.";
    assert_eq!(failed.error.as_deref(), Some(error));
    answer.assert(502, JSON, &failed.envelope("null"));
    let back = ModelServer::start_on(port, ScriptedReply::answers());
    let retried = service.retry(&failed.id).await;
    retried.assert(200, JSON, &Saved::of(&retried).envelope(ANSWERS));
    assert_eq!(back.counts().requests, 1);
}
