//! Several nodes on one database, with callers that share idempotency keys and retry each other's
//! results: together the nodes keep the specification's promises.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use refract_test_stack::expected::Saved;
use refract_test_stack::http::Request;
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::service::{PRISM, Service, Setup, TEXT};
use refract_test_support::model_server::{Script, ScriptedReply};
use serde_json::json;
use tokio::task::JoinSet;

use crate::faults::load::cluster;
use crate::program::RUNNER;

/// The number of callers, which all send the same calls.
const CALLERS: usize = 6;
/// The number of idempotency keys that the callers share.
const KEYS: usize = 60;

/// A model that leaves every third request unanswered.
fn moody() -> Script {
    let count = std::sync::atomic::AtomicUsize::new(0);
    let reply = ScriptedReply::with(move |request| {
        let number = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        if number.is_multiple_of(3) {
            json!({"answers": {}})
        } else {
            refract_test_support::model_server::system_one_answers(request)
        }
    });
    Script::from(reply).unrecorded()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_are_as_one() {
    share_keys_and_retries(2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_nodes_are_as_one() {
    share_keys_and_retries(4).await;
}

async fn share_keys_and_retries(nodes: usize) {
    let cluster = cluster(&[]);
    let setup = Setup {
        runner: RUNNER,
        nodes,
        script: moody(),
        settings: &[
            ("REFRACT_DATABASE_POOL", "8"),
            ("REFRACT_LOG", "warn,refract=info"),
        ],
    };
    let service = Service::on(Some(cluster.url()), setup).await;
    let addresses: Vec<SocketAddr> = service.nodes.iter().map(|node| node.api).collect();
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let (addresses, bearer) = (addresses.clone(), service.key.clone());
        callers.spawn(async move {
            let mut seen = Vec::new();
            for key in 0..KEYS {
                let node = addresses[(caller + key) % addresses.len()];
                seen.extend(call_and_retry(node, &bearer, key).await);
            }
            seen
        });
    }
    let seen: Vec<Seen> = callers.join_all().await.into_iter().flatten().collect();
    assert_consistent(&service, &seen).await;
}

/// A result that a caller saw for a key, and the failed result that it retries.
struct Seen {
    key: usize,
    id: String,
    is_ok: bool,
    retry_of: Option<String>,
}

/// Creates a result, then retries it by id until the result is `ok`.
async fn call_and_retry(node: SocketAddr, bearer: &str, key: usize) -> Vec<Seen> {
    let body = json!({"text": TEXT, "idempotency_key": format!("shared {key}")});
    let create = Request::post(&format!("/prisms/{PRISM}/results"));
    let mut answer = create.bearer(bearer).json(&body).send(node).await;
    let mut seen = Vec::new();
    let mut retry_of: Option<String> = None;
    loop {
        let id = match already_retried(&answer) {
            Some(id) => id,
            None => Saved::of(&answer).id,
        };
        let read = Request::get(&format!("/results/{id}")).bearer(bearer);
        let read = read.send(node).await;
        let is_ok = Saved::of(&read).error.is_none();
        seen.push(Seen {
            key,
            id: id.clone(),
            is_ok,
            retry_of: retry_of.take(),
        });
        if is_ok {
            return seen;
        }
        let retry = Request::post(&format!("/results/{id}/retry")).bearer(bearer);
        answer = retry.send(node).await;
        retry_of = Some(id);
    }
}

/// The id in a 409 answer; `None` for other answers.
fn already_retried(answer: &HttpAnswer) -> Option<String> {
    if answer.status != 409 {
        assert!(matches!(answer.status, 200 | 502), "{answer:?}");
        return None;
    }
    let message = answer.value()["error"]["message"].as_str()?.to_owned();
    let named = message.strip_prefix("This result was already retried as ");
    Some(named?.trim_end_matches('.').to_owned())
}

async fn assert_consistent(service: &Service, seen: &[Seen]) {
    let mut ids = BTreeSet::new();
    let mut ok_of_key: BTreeMap<usize, &str> = BTreeMap::new();
    let mut retry_of: BTreeMap<&str, &str> = BTreeMap::new();
    for it in seen {
        ids.insert(it.id.as_str());
        if it.is_ok {
            let first = *ok_of_key.entry(it.key).or_insert(&it.id);
            assert_eq!(first, it.id, "two results for key {}", it.key);
        }
        if let Some(failed) = &it.retry_of {
            let first = *retry_of.entry(failed).or_insert(&it.id);
            assert_eq!(first, it.id, "two retries of {failed}");
        }
    }
    assert_eq!(ok_of_key.len(), KEYS);
    assert!(retry_of.len() > KEYS / 6, "there were retries");
    // a create call may have retried a failed result before any caller saw the failed result
    assert!(service.results_made().await >= ids.len());
    for (key, id) in ok_of_key {
        let body = json!({"text": TEXT, "idempotency_key": format!("shared {key}")});
        let again = service.create(&body).await;
        assert_eq!(Saved::of(&again).id, id, "the key is with the last result");
    }
}
