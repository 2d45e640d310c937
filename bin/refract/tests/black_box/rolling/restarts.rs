//! The run itself: nodes stop and start in turn, while callers make calls.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use refract_test_stack::node::Node;
use refract_test_stack::service::{PRISM, Service, Setup, text};
use refract_test_support::cluster::Cluster;
use tokio::sync::watch;
use tokio::task::block_in_place;

use crate::program;
use crate::program::RUNNER;
use crate::rolling::balancer::{self, Balancer, NodePorts};
use crate::rolling::callers::Callers;
use crate::rolling::counted_model::{self, Asked};

/// The number of nodes.
const NODES: usize = 3;
/// The interval between two restarts.
const EVERY: Duration = Duration::from_secs(15);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_call_fails_and_none_is_asked_twice_while_every_node_is_restarted() {
    let Ok(minutes) = std::env::var("REFRACT_TEST_ROLLING_MINUTES") else {
        println!("NOT RUN: `make test-rolling` sets REFRACT_TEST_ROLLING_MINUTES");
        return;
    };
    assert!(balancer::is_installed().await, "HAProxy is needed");
    let length = Duration::from_secs_f64(minutes.parse::<f64>().expect("minutes") * 60.0);
    let cluster = block_in_place(|| Cluster::start(&[]));
    let asked = Asked::default();
    let setup = Setup {
        runner: RUNNER,
        nodes: 0,
        script: asked.script(),
        settings: &[],
    };
    let service = Service::on(Some(cluster.url()), setup).await;
    let mut ports = free_ports();
    let places: Vec<NodePorts> = (0..NODES).map(|_| place(&mut ports)).collect();
    let mut nodes = Vec::new();
    for place in &places {
        nodes.push(start(&service, *place).await);
    }
    let balancer = Balancer::start(service.folder.path(), &places, place(&mut ports)).await;
    let balancer = Arc::new(balancer);
    let callers = Callers::new(Arc::clone(&balancer), &service.key);
    let (stop, stopped) = watch::channel(false);
    let calling = tokio::spawn(Arc::clone(&callers).call_until(stopped));
    let run = async {
        let restarts = restart_in_turn(&service, &mut nodes, length).await;
        stop.send_replace(true);
        (restarts, calling.await.unwrap())
    };
    let (restarts, failed) = tokio::select! {
        ended = run => ended,
        () = counted_model::think(&service.model) => panic!("it thinks for ever"),
    };

    {
        let tally = callers.tally.lock().unwrap();
        println!("{restarts} restarts of {NODES} nodes in {length:?}, {failed} calls failed");
        println!(
            "{} calls: {:?}",
            tally.calls.values().sum::<usize>(),
            tally.calls
        );
        let [half, most, last] = [0.5, 0.99, 1.0].map(|part| tally.within(part));
        println!("half within {half:.0?}, 99 of 100 within {most:.0?}, all within {last:.0?}");
    }
    for series in ["redispatch_warnings_total", "retry_warnings_total"] {
        let series = format!("haproxy_backend_{series}{{proxy=\"api\"}}");
        println!("{series} {}", balancer.metric(&series).await);
    }
    assert_eq!(failed, 0, "calls failed");
    for node in nodes {
        node.stop().await;
    }
    let saved = saved(&service).await;
    let tally = callers.tally.lock().unwrap();
    tally.assert_exact(&asked.counts(), &saved);
    println!(
        "{} results saved, each acknowledged once; {} texts asked about, each once for a create or retry",
        saved.len(),
        tally.texts.len()
    );
}

/// Restarts the nodes in turn for this long, and returns the number of restarts.
async fn restart_in_turn(service: &Service, nodes: &mut Vec<Node>, length: Duration) -> usize {
    let begin = Instant::now();
    let mut ticks = tokio::time::interval(EVERY);
    ticks.tick().await;
    let mut restarts = 0;
    let mut longest = Duration::ZERO;
    while begin.elapsed() + EVERY <= length {
        ticks.tick().await;
        let mut node = nodes.remove(0);
        let place = NodePorts {
            api: node.api,
            app: node.app,
            ops: node.ops,
        };
        let signalled = Instant::now();
        node.signal("TERM").await;
        assert_eq!(node.exit_code().await, Some(0), "{:?}", node.log());
        longest = longest.max(signalled.elapsed());
        nodes.push(start(service, place).await);
        restarts += 1;
    }
    tokio::time::sleep(length.saturating_sub(begin.elapsed())).await;
    println!("the longest stop took {longest:.1?}, of which the delay is 5 s");
    restarts
}

/// Starts a node with the settings of `docs/deploy`.
async fn start(service: &Service, place: NodePorts) -> Node {
    let [api, app, ops] = [place.api, place.app, place.ops].map(|address| address.to_string());
    let model = service.model.url();
    let settings = [
        ("DATABASE_URL", service.database_url.as_str()),
        ("REFRACT_MODEL_URL", model.as_str()),
        ("REFRACT_LISTEN", api.as_str()),
        ("REFRACT_APP_LISTEN", app.as_str()),
        ("REFRACT_OPS_LISTEN", ops.as_str()),
        ("REFRACT_SHUTDOWN_DELAY_MS", "5000"),
        ("REFRACT_WORKERS", "2"),
        ("REFRACT_LOG", "warn,refract=info"),
    ];
    program::node(service.folder.path(), &settings).await
}

/// The ids of all results in the database.
async fn saved(service: &Service) -> Vec<String> {
    let export = ["results", "export", PRISM, "--format", "jsonl"];
    let rows = service.run(&export).await.lines();
    rows.iter().map(|row| text(row, "result_id")).collect()
}

/// Free ports outside the system's ephemeral range: a restarted node gets its own port back.
fn free_ports() -> impl Iterator<Item = SocketAddr> {
    let first = 10_000 + u16::try_from(std::process::id() % 8_000).unwrap();
    let addresses =
        (first..first + 2_000).map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    addresses.filter(|address| TcpListener::bind(address).is_ok())
}

fn place(ports: &mut impl Iterator<Item = SocketAddr>) -> NodePorts {
    let mut next = || ports.next().expect("a free port");
    NodePorts {
        api: next(),
        app: next(),
        ops: next(),
    }
}
