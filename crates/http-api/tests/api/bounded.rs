//! Limits on what clients can make a node hold: large or endless forms and bodies.

use refract_test_stack::browser::forms::{inputs, post};
use refract_test_stack::browser::{PASSWORD, joined};
use refract_test_stack::expected::{ANSWERS, JSON, Saved};
use refract_test_stack::http::{HttpConnection, Request};
use refract_test_stack::service::{Backend, PRISM, Service, Setup, TEXT};
use refract_test_support::on_both;
use serde_json::json;

on_both!(
    a_form_without_a_session_is_answered_before_it_is_sent_unless_it_is_kept,
    a_form_of_256_kib_survives_the_end_of_its_session,
    a_session_that_ends_while_a_form_comes_changes_nothing,
    signing_in_and_joining_take_small_forms,
    nothing_is_lost_of_ten_megabytes_of_text,
);

const MIB: usize = 1024 * 1024;
const KIB: usize = 1024;

/// An action of the app's own page, with a declared length of its form.
fn action(path: &str, length: usize) -> Request {
    Request::outside("POST", path)
        .header("Sec-Fetch-Site", "same-origin")
        .header("Content-Type", "application/x-www-form-urlencoded")
        .header("Content-Length", &length.to_string())
}

/// A form with one value and this total size in bytes.
fn form(name: &str, bytes: usize) -> String {
    format!("{name}={}", "a".repeat(bytes - name.len() - 1))
}

async fn a_form_without_a_session_is_answered_before_it_is_sent_unless_it_is_kept(
    backend: Backend,
) {
    let service = Service::start(backend).await;
    let app = service.nodes[0].app;
    for cookie in ["", "refract=stolen", &format!("refract={}", "a".repeat(43))] {
        for length in [256 * KIB + 1, 16 * MIB] {
            let head = action("/prisms/new", length).header("Cookie", cookie);
            let mut connection = HttpConnection::open(app).await;
            connection.send(head.head().as_bytes()).await;
            let answer = connection.answer().await;
            assert_eq!(answer.status, 413, "{answer:?}");
            for words in ["You are not signed in", "256 KiB", "Sign in in another tab"] {
                assert!(answer.body.contains(words), "{}", answer.body);
            }
        }
    }
    let most = action("/prisms/new", 256 * KIB);
    let mut connection = HttpConnection::open(app).await;
    connection.send(most.head().as_bytes()).await;
    connection.send(form("pasted", 256 * KIB).as_bytes()).await;
    let answer = connection.answer().await;
    assert_eq!(answer.status, 401);
    assert!(answer.body.contains(&"a".repeat(256 * KIB - 7)));
    // in chunks, the first byte above the limit reveals the length
    let chunked = Request::outside("POST", "/prisms/new")
        .header("Sec-Fetch-Site", "same-origin")
        .header("Content-Type", "application/x-www-form-urlencoded")
        .body(form("pasted", 300 * KIB))
        .chunked();
    let mut connection = HttpConnection::open(app).await;
    let answer = connection.call_of_unread_body(&chunked.bytes()).await;
    assert_eq!(answer.status, 413);
}

async fn a_form_of_256_kib_survives_the_end_of_its_session(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    ada.post("/sign-out", &[]).await;
    // this test's browser percent-encodes every byte, so these are nearly 256 KiB
    let text = "Where \"is\"\nmy <bike>? ".repeat(3_900);
    let path = format!("/prisms/{PRISM}/try");
    let typed = [("fields.text", text.as_str()), ("action", "answer")];
    let ended = ada.post(&path, &typed).await;
    assert_eq!(ended.status, 401);
    let carried = inputs(&ended, "action=\"/sign-in\"");
    let wrong = [
        ("email", "ada@example.com"),
        ("password", "not hers at all"),
    ];
    let refused = post(&mut ada, "/sign-in", &carried, &wrong).await;
    assert_eq!(refused.status, 401);
    let carried = inputs(&refused, "action=\"/sign-in\"");
    let right = [("email", "ada@example.com"), ("password", PASSWORD)];
    let again = post(&mut ada, "/sign-in", &carried, &right).await;
    assert_eq!(again.status, 200);
    let sent_again = inputs(&again, &format!("action=\"{path}\""));
    assert!(sent_again.contains(&("fields.text".to_owned(), text.clone())));
    let answered = post(&mut ada, &path, &sent_again, &[]).await;
    assert_eq!(answered.status, 303);
    let asked = service.model.requests().remove(0);
    let asked = String::from_utf8(asked.body).unwrap();
    assert!(asked.contains(&json!(text).to_string()));
}

async fn a_session_that_ends_while_a_form_comes_changes_nothing(backend: Backend) {
    let service = Service::start(backend).await;
    let node = &service.nodes[0];
    for (bytes, status) in [(100 * KIB, 401), (300 * KIB, 413)] {
        let email = format!("ada{bytes}@example.com");
        let mut ada = joined(&service, &email, "reviewer").await;
        let cookie = ada.cookie();
        let body = form("fields.text", bytes);
        let sent = action(&format!("/prisms/{PRISM}/try"), bytes).header("Cookie", &cookie);
        let mut connection = HttpConnection::open(node.app).await;
        connection.send(sent.head().as_bytes()).await;
        connection.send(&body.as_bytes()[..bytes / 2]).await;
        // the session was found, and the form is being received
        let reserved = f64::from(u32::try_from(4 * bytes).unwrap());
        node.until_metric("refract_body_bytes_reserved", reserved)
            .await;
        ada.post("/sign-out", &[]).await;
        connection.send(&body.as_bytes()[bytes / 2..]).await;
        let answer = connection.answer().await;
        assert_eq!(answer.status, status);
        assert_eq!(answer.body.contains(&"a".repeat(90 * KIB)), status == 401);
    }
    assert_eq!(service.asked(), 0);
}

async fn signing_in_and_joining_take_small_forms(backend: Backend) {
    let service = Service::start(backend).await;
    let app = service.nodes[0].app;
    for path in ["/join/abc", "/sign-out"] {
        let head = action(path, 16 * KIB + 1).head();
        let mut connection = HttpConnection::open(app).await;
        connection.send(head.as_bytes()).await;
        let answer = connection.answer().await;
        assert_eq!(answer.status, 413, "{path}");
        assert!(answer.body.contains("16 KiB"), "{}", answer.body);
    }
    for (body, status) in [
        (form("email", 16 * KIB), 401),
        (form("email", 16 * KIB + 2), 413),
        (
            format!("kept.address=%2Fpeople&{}", form("kept.value.a", 250 * KIB)),
            401,
        ),
        (
            format!("kept.address=%2Fpeople&{}", form("kept.value.a", 257 * KIB)),
            413,
        ),
        (form("email", MIB), 413),
    ] {
        let sent = action("/sign-in", body.len());
        let mut connection = HttpConnection::open(app).await;
        let bytes = [sent.head().into_bytes(), body.into_bytes()].concat();
        let answer = connection.call_of_unread_body(&bytes).await;
        assert_eq!(answer.status, status, "{}", bytes.len());
    }
    let head = action("/sign-in", MIB + 1).head();
    let mut connection = HttpConnection::open(app).await;
    connection.send(head.as_bytes()).await;
    assert_eq!(connection.answer().await.status, 413);
}

async fn nothing_is_lost_of_ten_megabytes_of_text(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    let text = "where is it ".repeat(10 * MIB / 12);
    let path = format!("/prisms/{PRISM}/try");
    let body = format!("fields.text={}", text.replace(' ', "+"));
    let refused = ada.send(action_with(&path, body)).await;
    assert_eq!(refused.status, 422);
    assert!(refused.body.contains(&text));
    // a form that grows far beyond the limit in a page is too large
    let quotes = form("fields.text", 12 * MIB).replace('a', "\"");
    let refused = ada.send(action_with(&path, quotes)).await;
    assert_eq!(refused.status, 413);
    let page = ada.get(&path).await;
    assert_eq!(page.status, 200);
}

fn action_with(path: &str, body: String) -> Request {
    Request::outside("POST", path)
        .header("Sec-Fetch-Site", "same-origin")
        .header("Content-Type", "application/x-www-form-urlencoded")
        .body(body)
}

/// A service whose bodies of over 64 KiB share 20 MiB.
async fn service_of_32_mib() -> Service {
    let setup = Setup {
        settings: &[("REFRACT_BODY_BUDGET_MIB", "32")],
        ..Setup::default()
    };
    Service::with(Backend::Sqlite, setup).await
}

/// Connections that have sent a body of this length except its last bytes.
async fn stalled(
    service: &Service,
    number: usize,
    bytes: usize,
    unsent: usize,
) -> Vec<HttpConnection> {
    let body = json!({"text": TEXT}).to_string();
    let padded = format!("{body}{}", " ".repeat(bytes - body.len()));
    let request = service
        .create_request(PRISM, &json!({}))
        .body(padded)
        .bytes();
    let mut connections = Vec::new();
    for _ in 0..number {
        let mut connection = HttpConnection::open(service.api()).await;
        connection.send(&request[..request.len() - unsent]).await;
        connections.push(connection);
    }
    connections
}

/// Stalled bodies that hold the whole budget for large ones, and `waiting` bodies without room.
async fn stalled_and_waiting(
    service: &Service,
    waiting: usize,
) -> (Vec<HttpConnection>, Vec<HttpConnection>) {
    let node = &service.nodes[0];
    let stalling = stalled(service, 20, MIB, 2).await;
    node.until_metric("refract_body_bytes_reserved", 20_971_520.0)
        .await;
    // a body without room is not read, so not all of it can be sent
    let waiting = stalled(service, waiting, MIB, MIB - 4 * KIB).await;
    let number = u32::try_from(waiting.len()).unwrap();
    node.until_metric("refract_bodies_waiting", number.into())
        .await;
    (stalling, waiting)
}

#[tokio::test]
async fn large_bodies_wait_for_room_and_usual_calls_do_not() {
    let service = service_of_32_mib().await;
    let node = &service.nodes[0];
    let (mut large, mut waiting) = stalled_and_waiting(&service, 5).await;
    assert!((node.metric("refract_body_bytes_reserved").await - 20_971_520.0).abs() < 1.0);
    let small = stalled(&service, 64, 64 * KIB, 2).await;
    node.until_metric("refract_body_bytes_reserved", 25_165_824.0)
        .await;
    for _ in 0..3 {
        let answer = service.create(&json!({"text": TEXT})).await;
        answer.assert(200, JSON, &Saved::of(&answer).envelope(ANSWERS));
    }
    // a body that is completed is answered, and frees its room for the next
    let mut first = large.remove(0);
    first.send(b"  ").await;
    assert_eq!(first.answer().await.status, 200);
    let mut waited = waiting.pop().unwrap();
    let rest = " ".repeat(MIB);
    drop((large, waiting, small));
    waited.send(rest.as_bytes()).await;
    assert_eq!(waited.answer().await.status, 200);
    node.until_metric("refract_bodies_waiting", 0.0).await;
    drop(waited);
    node.until_metric("refract_body_bytes_reserved", 0.0).await;
}

#[tokio::test]
async fn a_node_that_stops_lets_no_body_wait() {
    let mut service = service_of_32_mib().await;
    let (large, mut waiting) = stalled_and_waiting(&service, 1).await;
    service.nodes[0].begin_stop().await;
    assert_eq!(waiting[0].answer().await.status, 503);
    drop((large, waiting));
    assert_eq!(service.nodes[0].exit_code().await, Some(0));
}
