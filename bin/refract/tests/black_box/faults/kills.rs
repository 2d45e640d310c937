//! Nodes that are killed (SIGKILL) repeatedly while calls are in flight.

use crate::faults::load::{Load, assert_kept, cluster, service};

/// The number of kills on each database: 100 in `make test-faults`, 5 in `make test`.
fn kills() -> usize {
    let number = std::env::var("REFRACT_TEST_KILLS");
    number.map_or(5, |number| number.parse().expect("a number"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_postgres_every_acknowledged_result_outlives_its_node() {
    let cluster = cluster(&[]);
    kill_again_and_again(Some(cluster.url())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_sqlite_every_acknowledged_result_outlives_its_node() {
    kill_again_and_again(None).await;
}

async fn kill_again_and_again(url: Option<String>) {
    let mut service = service(url, 1, "10000").await;
    let mut made = 0;
    for round in 0..kills() {
        let load = Load::start(&service, &format!("kill-{round}"), 8);
        // each round kills at another moment
        load.until_more(1 + round * 7 % 29).await;
        let mut node = service.nodes.remove(0);
        node.signal("KILL").await;
        assert_eq!(node.exit_code().await, None, "it was killed");
        service
            .start_node(&[("REFRACT_LOG", "warn,refract=info")])
            .await;
        load.turn_to(&service);
        let acknowledged = load.stop().await;
        assert_kept(&service, &acknowledged).await;
        made += acknowledged.len();
        assert_eq!(service.results_made().await, made, "round {round}");
    }
    println!(
        "{} kills, {made} results acknowledged, {made} there",
        kills()
    );
}
