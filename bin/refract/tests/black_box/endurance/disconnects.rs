//! Callers that hang up while the model works: each call is saved, and the model is asked once.

use std::time::Instant;

use refract_test_stack::http::{HttpConnection, within_patience};
use refract_test_stack::node::Node;
use refract_test_stack::service::{PRISM, Service, Setup};
use refract_test_support::cluster::Cluster;
use serde_json::json;
use tokio::task::block_in_place;

use crate::endurance::held::{Held, until_sockets_are_back};
use crate::endurance::part;
use crate::program::RUNNER;
use crate::rolling::counted_model::Asked;

/// The number of simultaneous calls that wait for the model.
const WAVE: usize = 250;
/// Sockets that a node keeps for reuse: one to the model for each call of a wave, and those to the
/// database.
const KEPT: u64 = 250 + 32;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_postgres_every_call_whose_caller_hangs_up_is_saved() {
    let Some(calls) = part::size_of("disconnects", 10_000) else {
        return;
    };
    let cluster = block_in_place(|| Cluster::start(&[]));
    hang_up(Some(cluster.url()), calls).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_sqlite_every_call_whose_caller_hangs_up_is_saved() {
    if let Some(calls) = part::size_of("disconnects", 10_000) {
        hang_up(None, calls).await;
    }
}

async fn hang_up(url: Option<String>, calls: usize) {
    let asked = Asked::default();
    let setup = Setup {
        runner: RUNNER,
        nodes: 1,
        script: asked.script(),
        settings: &[("REFRACT_LOG", "warn,refract=info")],
    };
    let service = Service::on(url, setup).await;
    let node = &service.nodes[0];
    let (begin, before) = (Instant::now(), Held::by(node));
    let (mut made, mut resets) = (0, 0);
    while made < calls {
        let wave = WAVE.min(calls - made);
        let mut callers = Vec::new();
        for number in made..made + wave {
            let mut caller = HttpConnection::open(service.api()).await;
            let body = json!({"text": format!("gone {number} o")});
            caller
                .send(&service.create_request(PRISM, &body).bytes())
                .await;
            callers.push(caller);
        }
        made += wave;
        service
            .model
            .wait_until(|counts| counts.requests == made)
            .await;
        for (number, caller) in callers.into_iter().enumerate() {
            if number.is_multiple_of(2) {
                caller.reset();
                resets += 1;
            } else {
                caller.finish().await;
            }
        }
        // a reset is noticed before the model answers; after a FIN a client may still read
        within_patience(async {
            while given_up(node).await < resets {
                tokio::task::yield_now().await;
            }
        })
        .await;
        assert_eq!(service.model.counts().abandoned, 0, "the model goes on");
        service.model.release(wave);
        node.until_metric("refract_calls_in_flight", 0.0).await;
    }
    let after = until_sockets_are_back(node, before, KEPT).await;
    assert_eq!(service.results_made().await, calls);
    let counts = asked.counts();
    assert_eq!(counts.len(), calls);
    assert!(counts.values().all(|times| *times == 1), "asked again");
    println!(
        "{calls} callers hung up in {:.0?}, {resets} of them by a reset: {calls} results saved, \
         the model asked once for each; before {before}, after {after}",
        begin.elapsed()
    );
}

/// The node's count of requests whose client did not wait.
async fn given_up(node: &Node) -> usize {
    let text = node.ops("/metrics").await.body;
    let samples = text.lines().filter_map(|line| line.rsplit_once(' '));
    let gone = samples.filter(|(series, _)| {
        series.starts_with("refract_http_requests_total{") && series.contains(r#"status="499""#)
    });
    gone.map(|(_, count)| count.parse::<usize>().unwrap()).sum()
}
