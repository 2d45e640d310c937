//! The primary dies and its synchronous standby is promoted, repeatedly.

use std::time::{Duration, Instant};

use refract_test_stack::http::within_patience;
use refract_test_support::cluster::{Cluster, Shutdown};
use tokio::task::block_in_place;

use crate::faults::load::{Load, assert_kept, cluster, service};

/// The number of promotions: set by `make test-faults`, 2 in `make test`.
fn promotions() -> usize {
    let number = std::env::var("REFRACT_TEST_PROMOTIONS");
    number.map_or(2, |number| number.parse().expect("a number"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_promoted_standby_has_everything_and_the_service_goes_on_with_it() {
    let mut primary = cluster(&[]);
    let mut standby = block_in_place(|| primary.standby());
    // the node connects to whichever server takes writes; a new standby takes the port of the dead
    // primary
    let url = format!(
        "postgres://refract:{}@127.0.0.1:{},127.0.0.1:{}/postgres?sslmode=disable\
         &target_session_attrs=read-write",
        primary.password(),
        primary.port(),
        standby.port()
    );
    let service = service(Some(url), 2, "20000").await;
    let (mut made, mut longest) = (0, Duration::ZERO);
    for round in 0..promotions() {
        until_followed(&primary).await;
        let load = Load::start(&service, &format!("failover-{round}"), 16);
        load.until_more(200).await;
        block_in_place(|| primary.stop(Shutdown::Immediate));
        let begin = Instant::now();
        block_in_place(|| standby.promote());
        load.until_more(200).await;
        let took = begin.elapsed();
        assert!(took.as_secs() < 15, "{took:?}");
        longest = longest.max(took);
        let acknowledged = load.stop().await;
        assert_kept(&service, &acknowledged).await;
        made += acknowledged.len();
        assert_eq!(service.results_made().await, made, "round {round}");
        let port = primary.port();
        drop(primary);
        primary = standby;
        standby = block_in_place(|| primary.standby_on(port));
    }
    println!(
        "{} promotions, 200 answers at most {longest:.1?} after a primary died; \
         all {made} acknowledged results are there",
        promotions()
    );
}

/// Makes a primary's commits wait for its standby.
async fn until_followed(primary: &Cluster) {
    primary.configure(&["synchronous_standby_names = 'standby'"]);
    block_in_place(|| primary.reload());
    within_patience(async {
        while !block_in_place(|| primary.has_synchronous_standby()) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
}
