//! `PgBouncer` between nodes and server, in session mode and in transaction mode.

use std::process::Command;

use refract_test_support::cluster::Shutdown;
use refract_test_support::pgbouncer::PgBouncer;
use tokio::task::block_in_place;

use crate::faults::load::{Load, assert_kept, cluster, service};

/// The first version that supports prepared statements in transaction mode.
const PREPARED_STATEMENTS_SINCE: (u32, u32) = (1, 21);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pooler_in_session_mode_is_like_none() {
    if PgBouncer::installed().is_none() {
        println!("NOT RUN: pgbouncer is not installed");
        return;
    }
    serve_through(&[
        "pool_mode = session",
        "default_pool_size = 40",
        "server_login_retry = 1",
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pooler_in_transaction_mode_shares_few_connections() {
    let Some(version) = PgBouncer::installed() else {
        println!("NOT RUN: pgbouncer is not installed");
        return;
    };
    if version < PREPARED_STATEMENTS_SINCE {
        println!("NOT RUN: pgbouncer {version:?} has no prepared statements in transaction mode");
        return;
    }
    serve_through(&[
        "pool_mode = transaction",
        "default_pool_size = 4",
        "max_prepared_statements = 100",
        "server_login_retry = 1",
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pooler_that_loses_prepared_statements_is_named_at_the_start() {
    if PgBouncer::installed().is_none() {
        println!("NOT RUN: pgbouncer is not installed");
        return;
    }
    let cluster = cluster(&[]);
    // a later version loses them where it is set to keep none
    let none = "max_prepared_statements = 0";
    // a pooler that just started has no session of the server yet, and opens those of the trial
    let starts = std::iter::repeat_n(("transaction", false), 5).chain([("session", true)]);
    for (mode, is_good) in starts {
        let mut settings = vec![format!("pool_mode = {mode}")];
        if PgBouncer::installed() >= Some(PREPARED_STATEMENTS_SINCE) {
            settings.push(none.to_owned());
        }
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let pooler = block_in_place(|| PgBouncer::start(&cluster, &settings));
        let mut migrate = Command::new(env!("CARGO_BIN_EXE_refract"));
        migrate
            .arg("migrate")
            .env("DATABASE_URL", cluster.url_at(pooler.port()));
        let ended = block_in_place(|| migrate.output()).unwrap();
        let words = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.success(), is_good, "{mode}: {words}");
        assert_eq!(
            words.contains("loses prepared statements"),
            !is_good,
            "{words}"
        );
    }
}

async fn serve_through(settings: &[&str]) {
    let cluster = cluster(&[]);
    let pooler = block_in_place(|| PgBouncer::start(&cluster, settings));
    let service = service(Some(cluster.url_at(pooler.port())), 2, "20000").await;
    let load = Load::start(&service, "pooled", 16);
    load.until_more(200).await;
    block_in_place(|| {
        cluster.stop(Shutdown::Fast);
        cluster.start_again();
    });
    load.until_more(200).await;
    let acknowledged = load.stop().await;
    assert_kept(&service, &acknowledged).await;
    assert_eq!(service.results_made().await, acknowledged.len());
}
