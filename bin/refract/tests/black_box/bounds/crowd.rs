//! A crowd of hostile clients, together with ordinary callers.

use std::time::Duration;

use refract_test_stack::service::{Backend, Service, Setup};
use tokio::task::JoinSet;

use crate::bounds::callers::OrdinaryCalls;
use crate::bounds::memory::{MemoryLimit, peak_mib};
use crate::bounds::strangers::Stranger;
use crate::program::setup;

/// The memory limit of the container in `docs/deploy/kubernetes`.
const CONTAINER: usize = 1024 * 1024 * 1024;
/// The most memory of the node alone, in MiB.
const PEAK_MIB: usize = 512;
/// The latency within which 990 of 1,000 ordinary calls must be answered.
const P99: Duration = Duration::from_millis(250);

/// Whether this run has full size, on an idle machine.
fn is_full() -> bool {
    std::env::var("REFRACT_TEST_BOUNDS").is_ok_and(|size| size == "full")
}

/// The effect of a crowd on a node.
struct Outcome {
    calls: OrdinaryCalls,
    peak_mib: usize,
    waiting: f64,
}

/// Makes ordinary calls to a node under hostile load, and prints how both fared.
async fn calls_beside(strangers: &[(Stranger, usize)], calls: usize) -> Outcome {
    let setup = Setup {
        settings: &[
            ("REFRACT_MODEL_URL", "builtin:lexical"),
            ("REFRACT_LOG", "warn,refract::commands::serve=info"),
        ],
        ..setup()
    };
    // dropped after the service: the group can be removed only when its node has ended
    let limit;
    let mut service = Service::with(Backend::Sqlite, setup).await;
    limit = MemoryLimit::around(&service.nodes[0], CONTAINER);
    let before = peak_mib(&service.nodes[0]);
    let alone = OrdinaryCalls::make(&service, 80).await;
    let mut crowd = JoinSet::new();
    for (stranger, number) in strangers {
        let (api, app) = (service.nodes[0].api, service.nodes[0].app);
        for _ in 0..*number {
            crowd.spawn(stranger.stay(api, app));
        }
        println!("{number} times {}", stranger.describe());
    }
    let calls = OrdinaryCalls::make(&service, calls).await;
    let node = &service.nodes[0];
    let waiting = node.metric("refract_bodies_waiting").await;
    let reserved = node.metric("refract_body_bytes_reserved").await / 1024.0 / 1024.0;
    let peak_mib = peak_mib(node);
    println!(
        "the node: {before} MiB before, {peak_mib} MiB at its peak; at the end {reserved:.0} MiB \
         reserved, {waiting} waiting"
    );
    match limit.as_ref().map(MemoryLimit::peak_mib) {
        Some(peak) => println!("in a control group of 1,024 MiB, of which {peak:?} were used"),
        None => println!("without a control group: none can be made here"),
    }
    println!("ordinary calls alone: {alone}");
    println!("ordinary calls beside them: {calls}");
    crowd.shutdown().await;
    let log = node.log();
    assert!(!log.iter().any(|line| line.contains("panicked")), "{log:?}");
    service.nodes.remove(0).stop().await;
    Outcome {
        calls,
        peak_mib,
        waiting,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_forms_and_stalled_bodies_neither_kill_a_node_nor_keep_callers_waiting() {
    let (bodies, forms, kept, calls) = if is_full() {
        (5_000, 64, 64, 1_000)
    } else {
        (600, 16, 16, 100)
    };
    let strangers = [
        (Stranger::LargeForm, forms),
        (Stranger::KeptForm, kept),
        (Stranger::StalledBody, bodies),
    ];
    let outcome = calls_beside(&strangers, calls).await;
    assert!(outcome.waiting > 0.0, "the bodies do not fill the budget");
    assert_eq!((outcome.calls.took.len(), outcome.calls.failed), (calls, 0));
    assert!(outcome.peak_mib < PEAK_MIB, "{} MiB", outcome.peak_mib);
    // latency is not measured while other tests run on the machine
    let most = outcome.calls.within(990);
    assert!(!is_full() || most < P99, "{most:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_requests_in_one_write_are_made_one_by_one() {
    let (connections, calls) = if is_full() { (500, 100) } else { (100, 20) };
    let outcome = calls_beside(&[(Stranger::ManyRequests, connections)], calls).await;
    assert_eq!((outcome.calls.took.len(), outcome.calls.failed), (calls, 0));
    // each waiting request takes about 7 KB: all of them together would be gigabytes
    assert!(outcome.peak_mib < 128, "{} MiB", outcome.peak_mib);
}
