//! Clients that disconnect and servers that stop: answers of the model are saved completely.

use refract_test_stack::browser::joined;
use refract_test_stack::expected::{ANSWERS, JSON, Saved};
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::http::{HttpConnection, Request, within_patience};
use refract_test_stack::node::Node;
use refract_test_stack::service::{Backend, PRISM, Service, Setup, TEXT};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::on_both;
use serde_json::{Value, json};

use crate::program::{setup, start};

on_both!(
    a_call_whose_client_hangs_up_is_saved,
    a_visit_whose_client_hangs_up_is_saved_logged_and_counted,
    a_server_that_is_signalled_to_stop_ends_its_calls_and_takes_no_more,
    a_server_whose_grace_is_over_saves_nothing_by_halves,
);

const UNAVAILABLE: &str =
    r#"{"error":"Service Unavailable","message":"Service Unavailable","statusCode":503}"#;

async fn with_held_model(backend: Backend, settings: &[(&str, &str)]) -> Service {
    let setup = Setup {
        script: ScriptedReply::answers().held().into(),
        settings,
        ..setup()
    };
    Service::with(backend, setup).await
}

/// Sends a call on a new connection and waits until the model has received it.
async fn waiting(service: &Service, request: &Request) -> HttpConnection {
    let asked = service.asked();
    let mut connection = HttpConnection::open(service.api()).await;
    connection.send(&request.bytes()).await;
    service
        .model
        .wait_until(|counts| counts.requests == asked + 1)
        .await;
    connection
}

async fn a_call_whose_client_hangs_up_is_saved(backend: Backend) {
    let service = with_held_model(backend, &[]).await;
    let body = |key| json!({"text": TEXT, "idempotency_key": key});
    let finished = waiting(&service, &service.create_request(PRISM, &body("FIN"))).await;
    let reset = waiting(&service, &service.create_request(PRISM, &body("RST"))).await;
    let node = &service.nodes[0];
    node.until_metric("refract_calls_in_flight", 2.0).await;
    finished.finish().await;
    reset.reset();
    // a reset is logged before the model answers; after a FIN a client may still read
    node.logged(|line| line.contains(r#""status":499"#)).await;
    assert_eq!(service.model.counts().abandoned, 0);
    service.model.release_all();
    node.until_metric("refract_calls_in_flight", 0.0).await;
    assert_eq!(service.results_made().await, 2);
    for key in ["FIN", "RST"] {
        let answer = service.create(&body(key)).await;
        answer.assert(200, JSON, &Saved::of(&answer).envelope(ANSWERS));
    }
    assert_eq!(service.asked(), 2, "both were stored");
}

async fn a_visit_whose_client_hangs_up_is_saved_logged_and_counted(backend: Backend) {
    let service = with_held_model(backend, &[]).await;
    let ada = joined(&service, "ada@example.com", "reviewer").await;
    let request = Request::outside("POST", &format!("/prisms/{PRISM}/try"))
        .header("Sec-Fetch-Site", "same-origin")
        .header("Content-Type", "application/x-www-form-urlencoded")
        .header("X-Request-Id", "gone")
        .header("Cookie", &ada.cookie())
        .body("fields.text=text-sentinel&action=answer");
    let mut connection = HttpConnection::open(service.nodes[0].app).await;
    connection.send(&request.bytes()).await;
    within_patience(service.model.wait_until(|counts| counts.requests == 1)).await;
    connection.reset();
    let node = &service.nodes[0];
    // before the model answers
    let line = node.logged(|line| line.contains(r#""request_id":"gone""#));
    let line: Value = serde_json::from_str(&line.await).unwrap();
    let fields = ["message", "method", "route", "status", "cut"].map(|field| &line[field]);
    let expected = json!(["page", "POST", "/prisms/{slug}/try", 499, null]);
    assert_eq!(json!(fields), expected);
    assert!(line["person"].is_string() && line["ms"].is_u64(), "{line}");
    let metrics = node.ops("/metrics").await.body;
    for sample in [
        r#"refract_app_requests_total{route="/prisms/{slug}/try",status="499"} 1"#,
        r#"refract_app_requests_total{route="/join/{token}",status="303"} 1"#,
        r#"refract_app_request_duration_seconds_count{route="/prisms/{slug}/try"} 1"#,
    ] {
        assert!(metrics.lines().any(|line| line == sample), "{metrics}");
    }
    let of_api = metrics
        .lines()
        .find(|line| line.starts_with("refract_http_requests_total"));
    assert_eq!(of_api, None, "the API's series are its own");
    service.model.release_all();
    let saved = r#"refract_results_saved_total{status="ok"} 1"#;
    within_patience(async {
        while !node.ops("/metrics").await.body.contains(saved) {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// The log lines about the end of a node and of its API.
fn stop_lines(node: &Node) -> Vec<Value> {
    let log = node.log();
    let lines = log
        .iter()
        .filter_map(|line| serde_json::from_str(line).ok());
    let of_end = lines.filter_map(|mut line: Value| {
        let message = line["message"].as_str()?;
        let is_of_end = ["shutting down", "drain", "stopped"]
            .iter()
            .any(|it| message.starts_with(it));
        assert!(!is_of_end || line["level"] == "INFO", "{line}");
        let fields = line.as_object_mut()?;
        for field in ["timestamp", "level", "target"] {
            fields.remove(field);
        }
        (is_of_end && line["server"] != "app").then_some(line)
    });
    of_end.collect()
}

/// Requests `/readyz` until the node is not ready.
async fn until_not_ready(node: &Node) -> HttpAnswer {
    within_patience(async {
        loop {
            let answer = node.ops("/readyz").await;
            if answer.status != 200 {
                return answer;
            }
        }
    })
    .await
}

async fn a_server_that_is_signalled_to_stop_ends_its_calls_and_takes_no_more(backend: Backend) {
    let mut service = with_held_model(backend, &[]).await;
    service.model.then_once(ScriptedReply::status(400));
    let failed = Saved::of(&service.create(&json!({"text": TEXT})).await);
    let read = Request::get(&format!("/results/{}", failed.id)).bearer(&service.key);
    // a connection for each request: a refused body is not read, so the connection closes
    let mut kept = Vec::new();
    for _ in 0..5 {
        let mut connection = HttpConnection::open(service.api()).await;
        assert_eq!(connection.call(&read).await.status, 200);
        kept.push(connection);
    }
    let body = json!({"text": TEXT, "ref": "kept", "idempotency_key": "k"});
    let create = service.create_request(PRISM, &body);
    let retry = service.retry_request(&failed.id);
    let mut calls = vec![
        waiting(&service, &create).await,
        waiting(&service, &retry).await,
    ];
    for _ in 0..8 {
        let call = service.create_request(PRISM, &json!({"text": TEXT}));
        calls.push(waiting(&service, &call).await);
    }

    service.nodes[0].signal("TERM").await;
    let node = &service.nodes[0];
    assert_eq!(until_not_ready(node).await.body, "not ready\n");
    assert_eq!(node.ops("/healthz").await.status, 200);
    let asked = service.asked();
    // 503 comes before every other check, on kept connections and on new ones
    let refused = [
        read,
        create.clone(),
        retry,
        Request::get("/nowhere"),
        Request::post(&format!("/prisms/{PRISM}/results")).body("{"),
    ];
    for (request, mut kept) in refused.into_iter().zip(kept) {
        let answer = kept.call(&request).await;
        answer.assert(503, JSON, UNAVAILABLE);
        let fresh = service.send(request).await;
        fresh.assert(503, JSON, UNAVAILABLE);
        for answer in [answer, fresh] {
            assert_eq!(answer.header("retry-after"), Some("1"));
        }
    }
    assert_eq!(service.asked(), asked);

    service.model.release_all();
    let mut ids = Vec::new();
    for call in &mut calls {
        let answer = call.answer().await;
        let saved = Saved::of(&answer);
        answer.assert(200, JSON, &saved.envelope(ANSWERS));
        ids.push(saved.id);
    }
    let mut node = service.nodes.remove(0);
    assert_eq!(node.exit_code().await, Some(0), "{:?}", node.log());
    let drained = json!({"message": "drained", "server": "api", "finished": 10, "cut": 0});
    assert!(stop_lines(&node).contains(&drained), "{:?}", node.log());
    assert_eq!(service.results_made().await, 11);
    service.start_node(&[]).await;
    for id in &ids {
        assert_eq!(service.read(id, "").await.status, 200);
    }
    let again = service.create(&body).await;
    assert_eq!(Saved::of(&again).id, ids[0]);
}

async fn a_server_whose_grace_is_over_saves_nothing_by_halves(backend: Backend) {
    let settings = [("REFRACT_SHUTDOWN_GRACE_MS", "200")];
    let mut service = with_held_model(backend, &settings).await;
    let body = json!({"text": TEXT, "idempotency_key": "k"});
    let mut call = waiting(&service, &service.create_request(PRISM, &body)).await;
    let mut node = service.nodes.remove(0);
    node.signal("INT").await;
    assert_eq!(node.exit_code().await, Some(1));
    assert!(call.is_closed().await, "no answer and no half of one");
    let words = "error: 1 call did not finish within the grace time";
    node.logged(|line| line == words).await;
    // the node cut the call off; it does not count as a client that did not wait
    let line = node.logged(|line| line.contains(r#""cut":true"#)).await;
    let line: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(
        (&line["status"], &line["method"]),
        (&json!(503), &json!("POST"))
    );
    let ended = stop_lines(&node);
    let expected = [
        json!({"message": "shutting down", "signal": "SIGINT"}),
        json!({"message": "draining: new calls are refused", "server": "api", "calls": 1}),
        json!({"message": "drained", "server": "api", "finished": 0, "cut": 1}),
        json!({"message": "stopped"}),
    ];
    assert_eq!(ended, expected);
    assert_eq!(service.results_made().await, 0);
    service.model.release_all();
    service.start_node(&[]).await;
    let answer = service.create(&body).await;
    answer.assert(200, JSON, &Saved::of(&answer).envelope(ANSWERS));
    assert_eq!((service.asked(), service.results_made().await), (2, 1));
}

#[tokio::test]
async fn calls_that_wait_on_the_model_hold_no_database_connection() {
    let settings = [("REFRACT_DATABASE_POOL", "1")];
    let service = with_held_model(Backend::Postgres, &settings).await;
    let mut calls = Vec::new();
    for _ in 0..50 {
        let call = service.create_request(PRISM, &json!({"text": TEXT}));
        calls.push(waiting(&service, &call).await);
    }
    let unknown = "01234567-89ab-7def-8123-456789abcdef";
    let read = service.read(unknown, "").await;
    read.assert_error(404, "not_found", "Result not found");
    assert_eq!(service.nodes[0].ops("/readyz").await.status, 200);
    service.model.release_all();
    for call in &mut calls {
        assert_eq!(call.answer().await.status, 200);
    }
    assert_eq!(service.results_made().await, 50);
}

#[tokio::test]
async fn an_idle_server_stops_at_once_at_either_signal() {
    for signal in ["TERM", "INT"] {
        let mut service = start(Backend::Sqlite).await;
        let mut idle = HttpConnection::open(service.api()).await;
        let read = Request::get("/results/x");
        assert_eq!(idle.call(&read).await.status, 400);
        let mut node = service.nodes.remove(0);
        node.signal(signal).await;
        assert_eq!(node.exit_code().await, Some(0), "{:?}", node.log());
        assert!(idle.is_closed().await);
    }
}

#[tokio::test]
async fn a_node_with_a_delay_takes_calls_while_balancers_learn_that_it_stops() {
    // no test waits this long: the second signal ends the delay
    let setup = Setup {
        settings: &[("REFRACT_SHUTDOWN_DELAY_MS", "600000")],
        ..setup()
    };
    let mut service = Service::with(Backend::Sqlite, setup).await;
    assert!(service.nodes[0].metric("refract_stopping").await.abs() < f64::EPSILON);
    service.nodes[0].signal("TERM").await;
    assert_eq!(until_not_ready(&service.nodes[0]).await.body, "not ready\n");
    assert_eq!(service.nodes[0].ops("/healthz").await.status, 200);
    service.nodes[0].until_metric("refract_stopping", 1.0).await;
    let answer = service.create(&json!({"text": TEXT})).await;
    answer.assert(200, JSON, &Saved::of(&answer).envelope(ANSWERS));
    let page = Request::outside("GET", "/sign-in");
    assert_eq!(page.send(service.nodes[0].app).await.status, 200);
    let mut node = service.nodes.remove(0);
    node.signal("TERM").await;
    assert_eq!(node.exit_code().await, Some(0), "{:?}", node.log());
}

#[tokio::test]
async fn health_distinguishes_a_node_that_takes_calls_from_one_that_is_up_and_from_none() {
    let setup = Setup {
        settings: &[("REFRACT_SHUTDOWN_DELAY_MS", "600000")],
        ..setup()
    };
    let service = Service::with(Backend::Sqlite, setup).await;
    let node = &service.nodes[0];
    let address = node.ops.to_string();
    let ready = ["health", "--ops-listen", &address];
    let alive = ["health", "--live", "--ops-listen", &address];
    assert_eq!(service.run(&ready).await.done(), "ready\n");
    assert_eq!(service.run(&alive).await.done(), "up\n");
    node.signal("TERM").await;
    until_not_ready(node).await;
    let line = service.run(&ready).await.refused();
    assert_eq!(line, "error: the node is not ready: /readyz answers 503");
    assert_eq!(service.run(&alive).await.done(), "up\n");
    let nobody = ["health", "--ops-listen", "127.0.0.1:1"];
    let line = service.run(&nobody).await.refused();
    assert!(
        line.starts_with("error: no node answers at 127.0.0.1:1"),
        "{line}"
    );
    for (value, words) in [("off", "is off"), ("nonsense", "cannot be used")] {
        let line = service.run(&["health", "--ops-listen", value]).await;
        assert!(line.refused().contains(words), "{value}");
    }
}
