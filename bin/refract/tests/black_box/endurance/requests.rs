//! Millions of broken requests over TCP: no panic, no hang, no status outside the contract, no
//! leak, and valid calls still work.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use refract_test_stack::http::Request;
use refract_test_stack::service::{Backend, PRISM, Service, Setup, text};
use refract_test_support::model_server::{Script, ScriptedReply};
use serde_json::json;
use tokio::task::JoinSet;

use crate::endurance::answers::read_answers;
use crate::endurance::exchange::{Ending, Exchange};
use crate::endurance::fuzzer::{Chance, Known};
use crate::endurance::held::{Held, assert_flat, until_sockets_are_back};
use crate::endurance::part;
use crate::program::RUNNER;

/// Simultaneous connections.
const AT_ONCE: usize = 24;
/// One in this many connections is followed by valid calls.
const VALID_EVERY: u64 = 200;
/// The number of results of each status that the fuzzer reads and retries.
const RESULTS: usize = 50;
/// Sockets that a node keeps for reuse.
const KEPT: u64 = 16;

/// The state shared by the tasks of a run.
struct Run {
    api: SocketAddr,
    known: Known,
    seed: u64,
    size: usize,
    next: AtomicU64,
    sent: AtomicUsize,
}

/// The answers of a run.
#[derive(Debug, Default)]
struct Summary {
    statuses: BTreeMap<u16, usize>,
    connections: usize,
    resets: usize,
    hung_up: usize,
    valid_calls: usize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_broken_request_brings_a_node_down_or_hangs() {
    let Some(size) = part::size_of("requests", 10_000_000) else {
        return;
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seconds = usize::try_from(now.as_secs()).unwrap();
    let seed = part::number("REFRACT_TEST_ENDURANCE_SEED", seconds);
    let first = part::number("REFRACT_TEST_ENDURANCE_FIRST", 0);
    println!("seed {seed}: repeat with SEED={seed}, one connection with FIRST=its number SIZE=1");

    let (service, ids) = service().await;
    let node = &service.nodes[0];
    let before = Held::by(node);
    let run = Arc::new(Run {
        api: node.api,
        known: Known {
            bearer: service.key.clone(),
            ids,
        },
        seed: u64::try_from(seed).unwrap(),
        size,
        next: AtomicU64::new(u64::try_from(first).unwrap()),
        sent: AtomicUsize::new(0),
    });
    let begin = Instant::now();
    let mut samples = Vec::new();
    let watch = async {
        let mut ticks = tokio::time::interval(Duration::from_millis(250));
        loop {
            ticks.tick().await;
            let held = Held::by(node);
            samples.push(held);
            if samples.len().is_multiple_of(240) {
                println!("{} requests: {held}", run.sent.load(Ordering::Relaxed));
            }
        }
    };
    let mut tasks = JoinSet::new();
    let at_once = if size == 1 { 1 } else { AT_ONCE };
    for _ in 0..at_once {
        tasks.spawn(Arc::clone(&run).send());
    }
    let summaries = tokio::select! {
        summaries = tasks.join_all() => summaries,
        () = watch => Vec::new(),
    };
    let mut summary = Summary::default();
    for part in summaries {
        summary.add(part);
    }
    println!(
        "{} requests in {:.0?}: {summary:?}",
        run.sent.load(Ordering::Relaxed),
        begin.elapsed()
    );
    let after = until_sockets_are_back(node, before, KEPT).await;
    println!("before: {before}; afterwards: {after}");
    let log = node.log();
    let complaints: Vec<&String> = log
        .iter()
        .filter(|line| line.contains("panicked") || line.contains(r#""level":"ERROR""#))
        .collect();
    assert!(complaints.is_empty(), "{complaints:?}");
    if size > 1000 {
        assert_flat(&samples);
    }
    for node in service.nodes {
        node.stop().await;
    }
}

/// A service with the built-in scorer, and ids of its results, some of which have failed.
async fn service() -> (Service, Vec<String>) {
    let settings = &[("REFRACT_LOG", "warn,refract=info")];
    let setup = Setup {
        runner: RUNNER,
        nodes: 1,
        script: Script::from(ScriptedReply::answers()),
        settings,
    };
    let mut service = Service::with(Backend::Sqlite, setup).await;
    let mut ids = Vec::new();
    for _ in 0..RESULTS {
        let made = service.create(&json!({"text": "o"})).await;
        ids.push(text(&made.value(), "id"));
        let failed = service.failed(&json!({"text": "o"})).await;
        ids.push(text(&failed.value(), "id"));
    }
    service.nodes.remove(0).stop().await;
    let builtin = [settings[0], ("REFRACT_MODEL_URL", "builtin:lexical")];
    service.start_node(&builtin).await;
    (service, ids)
}

impl Run {
    /// Sends connections of requests until all are sent.
    async fn send(self: Arc<Self>) -> Summary {
        let mut summary = Summary::default();
        while self.sent.load(Ordering::Relaxed) < self.size {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let exchange = Exchange::any(&mut Chance::new(self.seed, number), &self.known);
            self.sent.fetch_add(exchange.requests, Ordering::Relaxed);
            if let Err(problem) = self.exchange(&exchange, &mut summary).await {
                let bytes = &exchange.bytes[..exchange.bytes.len().min(20_000)];
                let (ending, seed) = (exchange.ending, self.seed);
                let bytes = bytes.escape_ascii();
                panic!("{problem}; seed {seed}, connection {number}, {ending:?}: {bytes}");
            }
            if number.is_multiple_of(VALID_EVERY) {
                self.make_valid_calls(number).await;
                summary.valid_calls += 2;
            }
        }
        summary
    }

    /// Carries out an exchange and checks its answers.
    async fn exchange(&self, exchange: &Exchange, summary: &mut Summary) -> Result<(), String> {
        summary.connections += 1;
        let Some(outcome) = exchange.carry_out(self.api).await? else {
            summary.hung_up += 1;
            return Ok(());
        };
        let may_lack_bodies = exchange.bytes.windows(5).any(|bytes| bytes == b"HEAD ");
        summary.resets += usize::from(outcome.was_reset);
        let answers = read_answers(&outcome.received, outcome.was_reset, may_lack_bodies)
            .map_err(|problem| format!("{problem} in {}", outcome.received.escape_ascii()))?;
        let is_complete = answers.statuses.len() == exchange.requests;
        let may_be_fewer = outcome.was_reset || answers.has_close_header;
        if exchange.ending == Ending::LastCall && !is_complete && !may_be_fewer {
            let statuses = &answers.statuses;
            return Err(format!(
                "{} requests are answered {statuses:?}",
                exchange.requests
            ));
        }
        for status in answers.statuses {
            *summary.statuses.entry(status).or_default() += 1;
        }
        Ok(())
    }

    /// Creates and reads a result, as a caller would.
    async fn make_valid_calls(&self, number: u64) {
        let body = json!({"text": format!("Where is order {number}?")});
        let create = Request::post(&format!("/prisms/{PRISM}/results"));
        let create = create.bearer(&self.known.bearer).json(&body);
        let made = create.send(self.api).await;
        assert_eq!(made.status, 200, "{made:?}");
        let id = text(&made.value(), "id");
        let read = Request::get(&format!("/results/{id}")).bearer(&self.known.bearer);
        let read = read.send(self.api).await;
        assert_eq!((read.status, &read.body), (200, &made.body));
    }
}

impl Summary {
    fn add(&mut self, other: Self) {
        for (status, number) in other.statuses {
            *self.statuses.entry(status).or_default() += number;
        }
        self.connections += other.connections;
        self.resets += other.resets;
        self.hung_up += other.hung_up;
        self.valid_calls += other.valid_calls;
    }
}
