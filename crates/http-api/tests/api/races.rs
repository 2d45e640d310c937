//! Races with real concurrency, on PostgreSQL between two nodes. In the first round of each race
//! the model answers only after all calls have passed their checks.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

use refract_test_stack::expected::{ANSWERS, JSON, Saved};
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::http::{HttpConnection, Request};
use refract_test_stack::service::{Backend, PRISM, Service, Setup, TEXT};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::on_both;
use serde_json::json;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

on_both!(
    first_calls_with_one_key_save_one_result,
    calls_of_which_some_fail_save_one_result,
    first_calls_of_two_prisms_with_one_key_leave_one_of_them,
    repeats_while_the_first_is_under_way_get_its_result,
    retries_at_once_make_one_result,
    retries_and_repeats_make_one_result,
    a_version_saved_or_a_prism_archived_meanwhile_changes_nothing_for_calls_under_way,
);

/// The number of calls in a race.
const CALLS: usize = 50;
/// The number of rounds of a race; in the first, the model holds back its answers.
const ROUNDS: usize = 6;

async fn service(backend: Backend) -> Service {
    let nodes = match backend {
        Backend::Sqlite => 1,
        Backend::Postgres => 2,
    };
    let setup = Setup {
        nodes,
        ..Setup::default()
    };
    Service::with(backend, setup).await
}

/// Sends all requests at the same moment, spread over the nodes.
async fn at_once(service: &Service, requests: Vec<Request>) -> Vec<HttpAnswer> {
    let start = Arc::new(Barrier::new(requests.len()));
    let nodes: Vec<SocketAddr> = service.nodes.iter().map(|node| node.api).collect();
    let mut calls = JoinSet::new();
    for (index, request) in requests.into_iter().enumerate() {
        let (start, node) = (Arc::clone(&start), nodes[index % nodes.len()]);
        calls.spawn(async move {
            let mut connection = HttpConnection::open(node).await;
            start.wait().await;
            (index, connection.call(&request).await)
        });
    }
    let mut answers = calls.join_all().await;
    answers.sort_by_key(|(index, _)| *index);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

/// Which calls of a race ask the model.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asking {
    /// Each call.
    Each,
    /// One call of each node; the others wait for it.
    OneOfNode,
}

impl Asking {
    fn requests(self, service: &Service, calls: usize) -> usize {
        match self {
            Self::Each => calls,
            Self::OneOfNode => service.nodes.len(),
        }
    }

    fn waiting_on_node(self, service: &Service, calls: usize) -> f64 {
        let waiting = (calls - self.requests(service, calls)) / service.nodes.len();
        f64::from(u32::try_from(waiting).unwrap())
    }
}

/// Sends all requests at the same moment; the model answers when all of them have passed
/// their checks.
async fn at_once_held(
    service: &Service,
    requests: Vec<Request>,
    asking: Asking,
) -> Vec<HttpAnswer> {
    let (asked, calls) = (service.asked(), requests.len());
    let requested = asked + asking.requests(service, calls);
    let release = async {
        service
            .model
            .wait_until(|counts| counts.requests == requested)
            .await;
        let waiting = asking.waiting_on_node(service, calls);
        for node in &service.nodes {
            node.until_metric("refract_repeats_waiting", waiting).await;
        }
        service.model.release(requested - asked);
    };
    let (answers, ()) = tokio::join!(at_once(service, requests), release);
    assert_eq!(service.asked(), requested);
    answers
}

/// Runs a round. In the first, the model holds back the reply `held`.
async fn round(
    service: &Service,
    number: usize,
    requests: Vec<Request>,
    held: ScriptedReply,
    asking: Asking,
) -> Vec<HttpAnswer> {
    let (asked, calls) = (service.asked(), requests.len());
    if number == 0 {
        service.model.then_always(held);
        let answers = at_once_held(service, requests, asking).await;
        service.model.then_always(ScriptedReply::answers());
        answers
    } else {
        let answers = at_once(service, requests).await;
        assert!(service.asked() - asked <= asking.requests(service, calls));
        answers
    }
}

fn ids(answers: &[HttpAnswer]) -> BTreeSet<String> {
    answers.iter().map(|answer| Saved::of(answer).id).collect()
}

/// Checks that all answers show one result, which is `ok`.
fn assert_one_result(answers: &[HttpAnswer]) -> Saved {
    let saved = Saved::of(&answers[0]);
    for answer in answers {
        answer.assert(200, JSON, &saved.envelope(ANSWERS));
    }
    saved
}

async fn first_calls_with_one_key_save_one_result(backend: Backend) {
    let service = service(backend).await;
    for number in 0..ROUNDS {
        let key = format!("round {number}");
        let requests = (0..CALLS).map(|call| {
            // each call has its own ref: only the winner's is saved
            let body = json!({"text": TEXT, "ref": call.to_string(), "idempotency_key": key});
            service.create_request(PRISM, &body)
        });
        let held = ScriptedReply::answers().held();
        let answers = round(
            &service,
            number,
            requests.collect(),
            held,
            Asking::OneOfNode,
        )
        .await;
        let saved = assert_one_result(&answers);
        let asked = service.asked();
        let body = json!({"text": "", "idempotency_key": key});
        let again = service.create(&body).await;
        again.assert(200, JSON, &saved.envelope(ANSWERS));
        assert_eq!(service.asked(), asked);
        assert_eq!(service.results_made().await, number + 1);
    }
}

async fn calls_of_which_some_fail_save_one_result(backend: Backend) {
    let service = service(backend).await;
    let failed = Saved::of(&service.failed(&json!({"text": TEXT})).await);
    let body = json!({"text": TEXT, "idempotency_key": "k"});
    let create = service.create_request(PRISM, &body);
    let retry = service.retry_request(&failed.id);
    for (request, asking) in [(create, Asking::OneOfNode), (retry, Asking::Each)] {
        let made = service.results_made().await;
        for call in 0..asking.requests(&service, CALLS) {
            let fails = call % 2 == 0;
            let reply = if fails {
                ScriptedReply::status(400)
            } else {
                ScriptedReply::answers()
            };
            service.model.then_once(reply.held());
        }
        let answers = at_once_held(&service, vec![request; CALLS], asking).await;
        let saved = Saved::of(&answers[0]);
        assert_ne!(saved.id, failed.id);
        let status = if saved.error.is_none() { 200 } else { 502 };
        for answer in &answers {
            answer.assert(status, JSON, &saved.in_format("json").1);
        }
        assert_eq!(service.results_made().await, made + 1);
    }
}

async fn first_calls_of_two_prisms_with_one_key_leave_one_of_them(backend: Backend) {
    let service = service(backend).await;
    let other = service.another_prism("Other").await;
    for number in 0..ROUNDS {
        let body = json!({"text": TEXT, "idempotency_key": format!("round {number}")});
        let requests = (0..CALLS).map(|call| {
            let prism = if call % 4 < 2 { PRISM } else { &other };
            service.create_request(prism, &body)
        });
        let held = ScriptedReply::answers().held();
        let answers = round(
            &service,
            number,
            requests.collect(),
            held,
            Asking::OneOfNode,
        )
        .await;
        let (first, second): (Vec<_>, Vec<_>) = (0..CALLS).partition(|call| call % 4 < 2);
        let of = |calls: Vec<usize>| calls.into_iter().map(|call| answers[call].clone());
        let (first, second): (Vec<_>, Vec<_>) = (of(first).collect(), of(second).collect());
        let (won, lost) = if first[0].status == 200 {
            (first, second)
        } else {
            (second, first)
        };
        assert!(won.iter().all(|answer| answer.status == 200), "{won:?}");
        assert_eq!(ids(&won).len(), 1, "one result for all winners");
        for answer in lost {
            let message = "This idempotency key was already used for another prism.";
            answer.assert_error(409, "conflict", message);
        }
        assert_eq!(service.results_made().await, number + 1);
    }
}

async fn repeats_while_the_first_is_under_way_get_its_result(backend: Backend) {
    let service = service(backend).await;
    service.model.then_always(ScriptedReply::answers().held());
    let body = json!({"text": TEXT, "idempotency_key": "k"});
    let request = service.create_request(PRISM, &body);
    let first = service.send(request.clone());
    let repeats = async {
        service
            .model
            .wait_until(|counts| counts.requests == 1)
            .await;
        at_once(&service, vec![request.clone(); CALLS]).await
    };
    let let_go = async {
        let one_each = service.nodes.len();
        service
            .model
            .wait_until(|counts| counts.requests == one_each)
            .await;
        // one call is saved while the others still wait
        service.model.release(1);
        service.model.wait_until(|counts| counts.replies == 1).await;
        service.model.release_all();
    };
    let (first, repeats, ()) = tokio::join!(first, repeats, let_go);
    let saved = assert_one_result(&repeats);
    first.assert(200, JSON, &saved.envelope(ANSWERS));
    assert_eq!(service.results_made().await, 1);
}

async fn retries_at_once_make_one_result(backend: Backend) {
    let service = service(backend).await;
    for number in 0..ROUNDS {
        let failed = Saved::of(&service.failed(&json!({"text": TEXT})).await);
        let requests = vec![service.retry_request(&failed.id); CALLS];
        let held = ScriptedReply::answers().held();
        let answers = round(&service, number, requests, held, Asking::Each).await;
        let new = assert_one_retry(&answers);
        assert_ne!(new, failed.id);
        if number == 0 {
            assert!(answers.iter().all(|answer| answer.status == 200));
        }
        assert_eq!(service.results_made().await, 2 * (number + 1));
    }
}

/// Checks that every answer is the new result, or a conflict that names the new result.
fn assert_one_retry(answers: &[HttpAnswer]) -> String {
    let (won, lost): (Vec<_>, Vec<_>) = answers
        .iter()
        .cloned()
        .partition(|answer| answer.status == 200);
    let new = assert_one_result(&won);
    for answer in lost {
        let message = format!("This result was already retried as {}.", new.id);
        answer.assert_error(409, "conflict", &message);
    }
    new.id
}

async fn retries_and_repeats_make_one_result(backend: Backend) {
    let service = service(backend).await;
    for number in 0..ROUNDS {
        let body = json!({"text": TEXT, "idempotency_key": format!("round {number}")});
        let failed = Saved::of(&service.failed(&body).await);
        let requests = (0..CALLS).map(|call| {
            if call % 4 < 2 {
                service.retry_request(&failed.id)
            } else {
                service.create_request(PRISM, &body)
            }
        });
        let held = ScriptedReply::answers().held();
        let answers = round(&service, number, requests.collect(), held, Asking::Each).await;
        let new = assert_one_retry(&answers);
        let repeats = answers.iter().enumerate().filter(|(call, _)| call % 4 >= 2);
        for (_, answer) in repeats {
            assert_eq!(answer.status, 200, "a repeat is never too late: {answer:?}");
        }
        let asked = service.asked();
        assert_eq!(
            Saved::of(&service.create(&body).await).id,
            new,
            "the key moved"
        );
        assert_eq!(service.asked(), asked);
        assert_eq!(service.results_made().await, 2 * (number + 1));
    }
}

async fn a_version_saved_or_a_prism_archived_meanwhile_changes_nothing_for_calls_under_way(
    backend: Backend,
) {
    let service = service(backend).await;
    let failed = Saved::of(&service.failed(&json!({"text": TEXT})).await);
    service.model.then_always(ScriptedReply::answers().held());
    let asked = service.asked();
    let create = service.create_request(PRISM, &json!({"text": TEXT}));
    let retry = service.retry_request(&failed.id);
    let calls = at_once(&service, vec![create, retry]);
    let meanwhile = async {
        let both = asked + 2;
        service
            .model
            .wait_until(|counts| counts.requests == both)
            .await;
        let mut next = refract_test_stack::service::example_prism();
        next["fields"] = json!([{"key": "message", "label": "Message"}]);
        let file = service.file("next.json", &next);
        service.run(&["prism", "save", PRISM, &file]).await.done();
        service.run(&["prism", "archive", PRISM]).await.done();
        service.model.release_all();
    };
    let (answers, ()) = tokio::join!(calls, meanwhile);
    for answer in &answers {
        let saved = Saved::of(answer);
        assert_eq!(saved.version, 1);
        answer.assert(200, JSON, &saved.envelope(ANSWERS));
        let read = service.read(&saved.id, "").await;
        read.assert(200, JSON, &answer.body);
    }
    assert_eq!(ids(&answers).len(), 2);
    assert_eq!(service.results_made().await, 3);
}
