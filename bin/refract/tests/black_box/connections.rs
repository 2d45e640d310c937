//! Connections: keep-alive, pipelining, `Expect: 100-continue`, bytes that are not HTTP.

use refract_test_stack::expected::{ANSWERS, JSON, Saved};
use refract_test_stack::http::{HttpConnection, Request};
use refract_test_stack::node::Node;
use refract_test_stack::order::{NO_RESULT, TOO_LARGE};
use refract_test_stack::service::{Backend, PRISM, Service, Setup, TEXT};
use refract_test_support::model_server::ScriptedReply;
use serde_json::json;

use crate::program::{setup, start};

const UNKNOWN: &str = "01234567-89ab-7def-8123-456789abcdef";

#[tokio::test]
async fn requests_in_one_write_are_answered_in_their_order() {
    let service = start(Backend::Sqlite).await;
    // the first answer is held back
    service.model.then_once(ScriptedReply::answers().held());
    let create = service.create_request(PRISM, &json!({"text": TEXT, "ref": "1"}));
    let unknown = Request::get(&format!("/results/{UNKNOWN}")).bearer(&service.key);
    let malformed = Request::post(&format!("/prisms/{PRISM}/results"))
        .header("Content-Type", "application/json")
        .body("{");
    let chunked = service
        .create_request(PRISM, &json!({"text": TEXT, "ref": "2"}))
        .chunked();
    let mut connection = HttpConnection::open(service.api()).await;
    let requests = [&create, &unknown, &malformed, &chunked, &unknown];
    let bytes: Vec<u8> = requests
        .iter()
        .flat_map(|request| request.bytes())
        .collect();
    connection.send(&bytes).await;
    service
        .model
        .wait_until(|counts| counts.requests == 1)
        .await;
    service.model.release_all();
    for reference in ["1", "2"] {
        let answer = connection.answer().await;
        let saved = Saved::of(&answer);
        assert_eq!(saved.reference.as_deref(), Some(reference));
        answer.assert(200, JSON, &saved.envelope(ANSWERS));
        let (status, code, message) = NO_RESULT;
        connection
            .answer()
            .await
            .assert_error(status, code, message);
        if reference == "1" {
            let answer = connection.answer().await;
            answer.assert_error(400, "bad_request", "Malformed request");
        }
    }
}

#[tokio::test]
async fn a_connection_is_kept_after_every_answer_whose_request_was_read() {
    let service = start(Backend::Sqlite).await;
    let mut connection = HttpConnection::open(service.api()).await;
    for _ in 0..3 {
        let read = Request::get(&format!("/results/{UNKNOWN}"));
        assert_eq!(connection.call(&read).await.status, 401);
        assert_eq!(connection.call(&read.bearer("x")).await.status, 401);
        let nowhere = Request::post("/nowhere");
        assert_eq!(connection.call(&nowhere).await.status, 404);
        let create = service.create_request(PRISM, &json!({"text": TEXT}));
        assert_eq!(connection.call(&create).await.status, 200);
    }
    let last = Request::get(&format!("/results/{UNKNOWN}")).header("Connection", "close");
    assert_eq!(connection.call(&last).await.status, 401);
    assert!(connection.is_closed().await);
}

#[tokio::test]
async fn a_small_body_that_nobody_needed_does_not_cost_the_connection() {
    let service = start(Backend::Sqlite).await;
    let unwanted = [
        Request::get(&format!("/results/{UNKNOWN}")).body("what a GET brings is not looked at"),
        Request::post(&format!("/prisms/{PRISM}/results"))
            .header("Content-Type", "text/xml")
            .body("<a/>"),
        Request::post("/nowhere")
            .header("Content-Type", "application/json")
            .body("{}"),
        Request::post("/nowhere").body("{}").chunked(),
    ];
    let statuses = [401, 415, 404, 404];
    let mut connection = HttpConnection::open(service.api()).await;
    let mut pipelined = HttpConnection::open(service.api()).await;
    for (request, status) in unwanted.iter().zip(statuses) {
        let answer = connection.call(request).await;
        assert_eq!((answer.status, answer.header("connection")), (status, None));
        let twice = [request.bytes(), request.bytes()].concat();
        pipelined.send(&twice).await;
        for _ in 0..2 {
            let answer = pipelined.answer().await;
            assert_eq!((answer.status, answer.header("connection")), (status, None));
        }
    }
    let create = service.create_request(PRISM, &json!({"text": TEXT}));
    assert_eq!(connection.call(&create).await.status, 200);
    assert_eq!(pipelined.call(&create).await.status, 200);
}

#[tokio::test]
async fn a_caller_that_expects_to_be_asked_is_asked_to_go_on() {
    let service = start(Backend::Sqlite).await;
    let request = service
        .create_request(PRISM, &json!({"text": TEXT}))
        .header("Expect", "100-continue");
    let head = request.head();
    let mut connection = HttpConnection::open(service.api()).await;
    connection.send(head.as_bytes()).await;
    let interim = connection.answer().await;
    assert_eq!(
        (interim.status, interim.headers.len()),
        (100, 0),
        "{interim:?}"
    );
    connection.send(&request.bytes()[head.len()..]).await;
    let answer = connection.answer().await;
    answer.assert(200, JSON, &Saved::of(&answer).envelope(ANSWERS));
    // a body over the limit is refused before it is sent, with or without an interim 100
    let announced = Request::post(&format!("/prisms/{PRISM}/results"))
        .header("Content-Type", "application/json")
        .header("Content-Length", "1048577")
        .header("Expect", "100-continue");
    let mut connection = HttpConnection::open(service.api()).await;
    connection.send(announced.head().as_bytes()).await;
    let mut answer = connection.answer().await;
    if answer.status == 100 {
        answer = connection.answer().await;
    }
    answer.assert_error(TOO_LARGE.0, TOO_LARGE.1, TOO_LARGE.2);
}

#[tokio::test]
async fn a_body_that_ends_early_saves_nothing() {
    let service = start(Backend::Sqlite).await;
    let request = service.create_request(PRISM, &json!({"text": TEXT}));
    for request in [request.clone(), request.chunked()] {
        let bytes = request.bytes();
        let mut connection = HttpConnection::open(service.api()).await;
        connection.send(&bytes[..bytes.len() - 8]).await;
        connection.finish().await;
    }
    // another call is answered, so the server still works
    let answer = service.create(&json!({"text": TEXT})).await;
    assert_eq!(answer.status, 200);
    assert_eq!((service.asked(), service.results_made().await), (1, 1));
}

#[tokio::test]
async fn an_offer_to_upgrade_leaves_answer_and_connection_as_they_are() {
    let service = start(Backend::Sqlite).await;
    let mut connection = HttpConnection::open(service.api()).await;
    for offered in ["websocket", "h2c"] {
        let request = service
            .create_request(PRISM, &json!({"text": TEXT}))
            .header("Connection", "Upgrade")
            .header("Upgrade", offered);
        let answer = connection.call(&request).await;
        assert_eq!(answer.status, 200, "{offered}");
        assert_eq!(answer.header("connection"), None, "{offered}");
    }
}

#[tokio::test]
async fn what_is_no_http_is_answered_400_and_hung_up_on() {
    let service = start(Backend::Sqlite).await;
    for nonsense in [
        "nonsense\r\n\r\n",
        "GET /v1/results/x HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n",
        "POST /v1/prisms/a/results HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
        "POST /v1/prisms/a/results HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "POST /v1/prisms/a/results HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    ] {
        let mut connection = HttpConnection::open(service.api()).await;
        connection.send(nonsense.as_bytes()).await;
        let answer = connection.answer().await;
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (400, ""),
            "{nonsense}"
        );
        assert!(connection.is_closed().await, "{nonsense}");
    }
}

#[tokio::test]
async fn a_callers_request_id_comes_back_and_any_other_is_made_here() {
    let service = start(Backend::Sqlite).await;
    let longest = "x".repeat(128);
    let request = Request::get(&format!("/results/{UNKNOWN}"));
    for id in ["7", "a.B_c-9", longest.as_str()] {
        let answer = service
            .send(request.clone().header("X-Request-Id", id))
            .await;
        assert_eq!(answer.header("x-request-id"), Some(id));
    }
    let too_long = "x".repeat(129);
    let mut made = std::collections::BTreeSet::new();
    for id in ["", "a b", "a/b", "é", too_long.as_str()] {
        let answer = service
            .send(request.clone().header("X-Request-Id", id))
            .await;
        made.insert(answer.header("x-request-id").unwrap().to_owned());
    }
    assert_eq!(made.len(), 5, "{made:?}");
    assert!(!made.contains(&too_long));
}

/// A service without nodes.
async fn without_nodes() -> Service {
    let setup = Setup {
        nodes: 0,
        ..setup()
    };
    Service::with(Backend::Sqlite, setup).await
}

/// The command of a node with two workers and this limit of file descriptors.
fn limited(service: &Service, descriptors: usize) -> tokio::process::Command {
    let mut command = tokio::process::Command::new("sh");
    command
        .args([
            "-c",
            &format!("ulimit -n {descriptors} && exec \"$0\" serve"),
        ])
        .arg(env!("CARGO_BIN_EXE_refract"))
        .env_clear()
        .kill_on_drop(true)
        .envs([
            ("DATABASE_URL", service.database_url.as_str()),
            ("REFRACT_MODEL_URL", service.model.url().as_str()),
            ("REFRACT_LISTEN", "127.0.0.1:0"),
            ("REFRACT_OPS_LISTEN", "127.0.0.1:0"),
            ("REFRACT_APP_LISTEN", "127.0.0.1:0"),
            ("REFRACT_WORKERS", "2"),
        ]);
    command
}

#[tokio::test]
async fn too_few_descriptors_stop_the_start_and_the_number_that_is_named_suffices() {
    let mut service = without_nodes().await;
    let mut needed = 0;
    for descriptors in [24, 40] {
        let ended = limited(&service, descriptors).output().await.unwrap();
        let stderr = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(1), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        let rest = stderr.split_once("`ulimit -n ").expect(&stderr).1;
        needed = rest.split_once('`').unwrap().0.parse().unwrap();
        assert!(stderr.starts_with("error: too few descriptors for REFRACT_WORKERS=2: "));
    }
    service
        .nodes
        .push(Node::of(limited(&service, needed)).await);
    let mut silent = Vec::new();
    for _ in 0..needed {
        silent.push(HttpConnection::open(service.nodes[0].app).await);
    }
    let create = service.create_request(PRISM, &json!({"text": TEXT}));
    for _ in 0..20 {
        assert_eq!(service.send(create.clone()).await.status, 200);
    }
    assert_eq!(service.nodes[0].ops("/readyz").await.status, 200);
}

#[tokio::test]
async fn a_pool_that_needs_too_many_descriptors_is_named() {
    let service = without_nodes().await;
    let most = usize::MAX.to_string();
    let mut command = limited(&service, 150);
    command.env("DATABASE_URL", "postgres://127.0.0.1:1/none");
    command.env("REFRACT_DATABASE_POOL", &most);
    let ended = command.output().await.unwrap();
    let stderr = String::from_utf8(ended.stderr).unwrap();
    let cause = format!("error: too few descriptors for REFRACT_DATABASE_POOL={most}: ");
    assert!(stderr.starts_with(&cause), "{stderr}");
    assert_eq!(ended.status.code(), Some(1));
}

#[tokio::test]
async fn calls_go_on_while_more_clients_connect_than_the_node_has_descriptors() {
    let mut service = without_nodes().await;
    service.nodes.push(Node::of(limited(&service, 150)).await);
    let create = service.create_request(PRISM, &json!({"text": TEXT}));
    let mut connection = HttpConnection::open(service.api()).await;
    let unknown = Request::get(&format!("/results/{UNKNOWN}"));
    assert_eq!(connection.call(&unknown).await.status, 401);
    let mut silent = Vec::new();
    for _ in 0..300 {
        silent.push(HttpConnection::open(service.api()).await);
    }
    for _ in 0..10 {
        let answer = connection.call(&create).await;
        answer.assert(200, JSON, &Saved::of(&answer).envelope(ANSWERS));
    }
    drop(silent);
    assert_eq!(service.send(create).await.status, 200);
}
