//! The primary dies and its synchronous standby is promoted.

use std::time::Instant;

use refract_test_support::cluster::Shutdown;
use tokio::task::block_in_place;

use crate::load::{Load, assert_kept, cluster, service};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_promoted_standby_has_everything_and_the_service_goes_on_with_it() {
    let primary = cluster(&[]);
    let standby = block_in_place(|| primary.standby());
    primary.configure(&["synchronous_standby_names = 'standby'"]);
    block_in_place(|| primary.reload());
    // the node connects to the one of both that takes writes
    let url = format!(
        "postgres://refract:{}@127.0.0.1:{},127.0.0.1:{}/postgres?sslmode=disable\
         &target_session_attrs=read-write",
        primary.password(),
        primary.port(),
        standby.port()
    );
    let service = service(Some(url), 2, "20000").await;
    let load = Load::start(&service, "failover", 16);
    load.until_more(200).await;
    block_in_place(|| primary.stop(Shutdown::Immediate));
    let begin = Instant::now();
    block_in_place(|| standby.promote());
    let promoted = begin.elapsed();
    load.until_more(200).await;
    let took = begin.elapsed();
    assert!(took.as_secs() < 15, "{took:?}");
    let acknowledged = load.stop().await;
    println!(
        "promoted {promoted:.0?} after the primary died, 200 answers after {took:.0?}; \
         all {} acknowledged results are there",
        acknowledged.len()
    );
    drop(primary);
    assert_kept(&service, &acknowledged).await;
    assert_eq!(service.results_made().await, acknowledged.len());
}
