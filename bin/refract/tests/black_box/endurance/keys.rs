//! First calls that share idempotency keys, on four nodes over one PostgreSQL.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Instant;

use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::http::{HttpConnection, Request};
use refract_test_stack::service::{PRISM, Service, Setup, text};
use refract_test_support::cluster::Cluster;
use refract_test_support::model_server::{Script, ScriptedReply, system_one_answers};
use serde_json::json;
use tokio::task::{JoinSet, block_in_place};

use crate::endurance::part;
use crate::program::RUNNER;

/// The number of nodes, and of simultaneous callers with the same key.
const NODES: usize = 4;
/// The number of keys in use at the same time.
const AT_ONCE: usize = 8;
/// Texts that begin with this word are left unanswered by the model.
const FAILS: &str = "fails";
/// One in this many keys is used again at the end.
const ASKED_AGAIN: usize = 100;

/// The expected outcome of the calls with one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyUse {
    /// All callers get the same result.
    Plain,
    /// The model leaves the text unanswered: all get 502 with a failed result, or with its retry.
    Failing,
    /// Half of the callers use another prism: either half gets 409.
    TwoPrisms,
}

impl KeyUse {
    fn of(key: usize) -> Self {
        match key % 20 {
            7 => Self::Failing,
            13 => Self::TwoPrisms,
            _ => Self::Plain,
        }
    }
}

/// The answers to the callers.
#[derive(Debug, Default)]
struct SeenResults {
    /// The ids of all results.
    ids: BTreeSet<String>,
    /// Keys to be used again, with their result.
    again: Vec<(usize, String)>,
    conflicts: usize,
    failed: usize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_shared_key_has_one_result_on_four_nodes() {
    let Some(calls) = part::size_of("keys", 1_000_000) else {
        return;
    };
    let cluster = block_in_place(|| Cluster::start(&[]));
    let reply = ScriptedReply::with(|request| {
        let sent = request.json();
        let text = sent["state"]["text"].as_str().unwrap_or_default();
        if text.starts_with(FAILS) {
            json!({"answers": {}})
        } else {
            system_one_answers(request)
        }
    });
    let setup = Setup {
        runner: RUNNER,
        nodes: NODES,
        script: Script::from(reply).unrecorded(),
        settings: &[
            ("REFRACT_DATABASE_POOL", "8"),
            ("REFRACT_LOG", "warn,refract=info"),
        ],
    };
    let service = Service::on(Some(cluster.url()), setup).await;
    let other = service.another_prism("Another prism").await;
    let keys = calls / NODES;
    let begin = Instant::now();
    let mut groups = JoinSet::new();
    for group in 0..AT_ONCE {
        let nodes: Vec<SocketAddr> = service.nodes.iter().map(|node| node.api).collect();
        let (bearer, other) = (service.key.clone(), other.clone());
        groups.spawn(async move {
            let mut seen = SeenResults::default();
            let mut callers = Vec::new();
            for node in nodes {
                callers.push(HttpConnection::open(node).await);
            }
            for key in (group..keys).step_by(AT_ONCE) {
                share(&mut callers, &bearer, &other, key, &mut seen).await;
                // rotates the callers, so that another node is asked first
                callers.rotate_left(1);
            }
            seen
        });
    }
    let mut seen = SeenResults::default();
    for mut group in groups.join_all().await {
        let results = seen.ids.len() + group.ids.len();
        seen.ids.append(&mut group.ids);
        assert_eq!(seen.ids.len(), results, "two keys have one result");
        seen.again.append(&mut group.again);
        seen.conflicts += group.conflicts;
        seen.failed += group.failed;
    }
    println!(
        "{} calls with {keys} keys on {NODES} nodes in {:.0?}: {} results, {} answers 409, {} answers 502; \
         the model was asked {} times",
        keys * NODES,
        begin.elapsed(),
        seen.ids.len(),
        seen.conflicts,
        seen.failed,
        service.asked()
    );
    // every saved result was an answer to some caller
    assert_eq!(service.results_made().await, seen.ids.len());
    let asked = service.asked();
    for (key, id) in seen.again {
        let answer = service.create(&body(key, "another text")).await;
        assert_eq!(text(&answer.value(), "id"), id, "key {key}");
    }
    assert_eq!(service.asked(), asked, "a repeat asks nobody");
    for node in service.nodes {
        node.stop().await;
    }
}

fn body(key: usize, text: &str) -> serde_json::Value {
    json!({"text": text, "idempotency_key": format!("shared {key}")})
}

/// Sends calls with one key to all nodes simultaneously, and checks the answers.
async fn share(
    callers: &mut [HttpConnection],
    bearer: &str,
    other: &str,
    key: usize,
    seen: &mut SeenResults,
) {
    let key_use = KeyUse::of(key);
    let words = if key_use == KeyUse::Failing {
        FAILS
    } else {
        "text"
    };
    let body = body(key, &format!("{words} {key}"));
    for (number, caller) in callers.iter_mut().enumerate() {
        let is_other = key_use == KeyUse::TwoPrisms && number.is_multiple_of(2);
        let prism = if is_other { other } else { PRISM };
        let request = Request::post(&format!("/prisms/{prism}/results"));
        caller
            .send(&request.bearer(bearer).json(&body).bytes())
            .await;
    }
    let mut answers = Vec::new();
    for caller in callers.iter_mut() {
        answers.push(caller.answer().await);
    }
    let conflicts = answers.iter().filter(|answer| answer.status == 409);
    let conflicts = conflicts.count();
    let ids = ids_of(&answers);
    match key_use {
        KeyUse::Plain => assert_eq!((ids.len(), conflicts), (1, 0), "{key}: {answers:?}"),
        KeyUse::Failing => assert!(conflicts == 0 && ids.len() <= NODES, "{key}: {answers:?}"),
        KeyUse::TwoPrisms => {
            assert_eq!((ids.len(), conflicts), (1, NODES / 2), "{key}: {answers:?}");
        }
    }
    let expected = if key_use == KeyUse::Failing { 502 } else { 200 };
    for answer in &answers {
        match answer.status {
            409 => answer.assert_error(
                409,
                "conflict",
                "This idempotency key was already used for another prism.",
            ),
            status => assert_eq!(status, expected, "{key}: {answer:?}"),
        }
    }
    if key_use == KeyUse::Plain && key.is_multiple_of(ASKED_AGAIN) {
        seen.again.extend(ids.iter().map(|id| (key, id.clone())));
    }
    seen.conflicts += conflicts;
    seen.failed += if key_use == KeyUse::Failing { NODES } else { 0 };
    seen.ids.extend(ids);
}

/// The ids of the results in these answers.
fn ids_of(answers: &[HttpAnswer]) -> BTreeSet<String> {
    let results = answers.iter().filter(|answer| answer.status != 409);
    results.map(|answer| text(&answer.value(), "id")).collect()
}
