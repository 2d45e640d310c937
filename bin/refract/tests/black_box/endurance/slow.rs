//! Slow and half-open clients together with normal load.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use refract_test_stack::http::within_patience;
use refract_test_stack::service::{Backend, Service, Setup};
use refract_test_support::model_server::{Script, ScriptedReply};
use tokio::task::JoinSet;

use crate::endurance::held::{Held, until_sockets_are_back};
use crate::endurance::part;
use crate::endurance::slow_client::ALL;
use crate::endurance::steady::{SteadyCaller, within};
use crate::program::RUNNER;

/// The interval between two normal calls: 100 per second.
const PACE: Duration = Duration::from_millis(10);
/// The duration of normal calls, first without and then with the slow clients: longer than the
/// deadline for a body.
const LENGTH: Duration = Duration::from_secs(45);
/// Sockets that a node keeps for reuse, apart from those of the normal calls and to the model.
const KEPT: u64 = 32;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn normal_calls_go_on_beside_slow_and_half_open_clients() {
    let Some(clients) = part::size_of("slow", 10_000) else {
        return;
    };
    let most = descriptors_allowed();
    assert!(
        clients + 500 <= most,
        "`ulimit -n` allows {most} descriptors"
    );
    let setup = Setup {
        runner: RUNNER,
        nodes: 1,
        script: Script::from(ScriptedReply::answers()).unrecorded(),
        settings: &[("REFRACT_LOG", "warn,refract=info")],
    };
    let service = Service::with(Backend::Sqlite, setup).await;
    let node = &service.nodes[0];
    let caller = SteadyCaller::of(&service);
    caller.call_every(PACE, LENGTH).await;
    print_calls("alone", &caller);
    let before = Held::by(node);

    let closed = Arc::new(AtomicUsize::new(0));
    let mut slow = JoinSet::new();
    for number in 0..clients {
        let slowness = ALL[number % ALL.len()];
        slow.spawn(slowness.stay(node.api, Arc::clone(&closed)));
    }
    let expected = before.sockets + u64::try_from(clients * 9 / 10).unwrap();
    within_patience(async {
        while Held::by(node).sockets < expected {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    })
    .await;
    caller.call_every(PACE, LENGTH).await;
    print_calls("beside them", &caller);
    let beside = Held::by(node);
    let reopened = closed.load(Ordering::Relaxed);
    slow.shutdown().await;
    let after = until_sockets_are_back(node, before, KEPT + caller.sockets()).await;
    println!("{clients} slow clients, which were closed and came back {reopened} times");
    println!("before: {before}; with them: {beside}; afterwards: {after}");
    assert!(node.log().iter().all(|line| !line.contains("panicked")));
}

fn print_calls(beside: &str, caller: &SteadyCaller) {
    let took = caller.take_durations();
    let [half, most, last] = [500, 990, 1000].map(|part| within(&took, part));
    println!(
        "{} calls {beside}, all answered: p50 {half:.1?}, p99 {most:.1?}, slowest {last:.1?}",
        took.len()
    );
}

/// The limit of file descriptors of this process, which the node inherits.
fn descriptors_allowed() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
    let mut lines = limits.lines();
    let line = lines.find_map(|line| line.strip_prefix("Max open files"));
    let most = line.unwrap().split_whitespace().next().unwrap();
    most.parse().unwrap_or(usize::MAX)
}
