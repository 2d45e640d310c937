//! File runs of the app whose database or model goes away for a while, and runs that share nodes: each
//! row is answered once, and nobody has to do anything.

use std::time::Duration;

use refract_test_stack::browser::joined;
use refract_test_stack::http::Request;
use refract_test_stack::service::{PRISM, Service, Setup};
use refract_test_support::cluster::Shutdown;
use refract_test_support::model_server::{Script, ScriptedReply};
use refract_test_support::postgres_proxy::{PostgresProxy, StatementFault};
use tokio::task::block_in_place;
use tokio::time::sleep;

use crate::faults::file_runs::{
    assert_whole, file, number, rows, shown, slow_model, slow_reply, start_run, until_done,
};
use crate::faults::load::cluster;
use crate::faults::refusals::limit_files_of;
use crate::program::RUNNER;

/// Seconds that the database is away: 30 in `make test-runs`.
fn seconds_away() -> Duration {
    let seconds = number("REFRACT_TEST_RUN_AWAY_SECONDS", 3);
    Duration::from_secs(u64::try_from(seconds).unwrap())
}

async fn service(url: Option<String>, nodes: usize) -> Service {
    let setup = Setup {
        runner: RUNNER,
        nodes,
        script: slow_model(),
        ..Setup::default()
    };
    Service::on(url, setup).await
}

/// Waits until a run has answered this many rows.
async fn until_answered(service: &Service, run: &str, rows: usize) {
    while shown(service, run).await["answered"].as_u64().unwrap() < u64::try_from(rows).unwrap() {
        sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_goes_on_when_its_database_is_back() {
    let cluster = cluster(&[]);
    let service = service(Some(cluster.url()), 2).await;
    let file = file(1);
    let run = start_run(&service, 1, &file).await;
    until_answered(&service, &run, rows() / 10).await;
    block_in_place(|| cluster.stop(Shutdown::Immediate));
    sleep(seconds_away()).await;
    block_in_place(|| cluster.start_again());
    until_done(&service, &run).await;
    assert_whole(&service, 1, &run, &file).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_goes_on_when_the_disk_of_its_server_has_room_again() {
    let cluster = cluster(&[]);
    let mut service = service(Some(cluster.url()), 0).await;
    let proxy = PostgresProxy::start(cluster.port(), |_, _| None).await;
    service.database_url = cluster.url_at(proxy.port());
    service.start_node(&[]).await;
    let file = file(1);
    let run = start_run(&service, 1, &file).await;
    until_answered(&service, &run, rows() / 10).await;
    proxy.change(|sql, _| {
        let writes = ["INSERT", "UPDATE", "COPY"].iter();
        let mut writes = writes.filter(|statement| sql.starts_with(**statement));
        writes.next().map(|_| StatementFault::Refuse("53100"))
    });
    sleep(seconds_away()).await;
    assert!(proxy.faults() > 0);
    proxy.heal();
    until_done(&service, &run).await;
    assert_whole(&service, 1, &run, &file).await;
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_goes_on_when_the_disk_has_room_again_and_an_upload_is_refused() {
    let service = service(None, 1).await;
    let file = file(1);
    let mut person = joined(&service, "eve@example.com", "editor").await;
    let run = start_run(&service, 1, &file).await;
    until_answered(&service, &run, rows() / 10).await;
    // the write-ahead log is already larger, so every write fails
    limit_files_of(&service.nodes[0], "4096");
    let runs = format!("/prisms/{PRISM}/runs");
    let upload = Request::upload(&runs, "in.csv", file.as_bytes());
    let refused = person.send(upload).await;
    assert_eq!(refused.status, 500, "{refused:?}");
    sleep(seconds_away()).await;
    limit_files_of(&service.nodes[0], "unlimited");
    until_done(&service, &run).await;
    assert_whole(&service, 1, &run, &file).await;
    let runs = service.run(&["runs", "list", "--json"]).await.lines();
    assert_eq!(
        runs.len(),
        1,
        "of a refused upload nothing is left: {runs:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_waits_for_a_model_that_is_away_and_retries_what_failed() {
    // so few rows are left that all of them are on their way before the failures are noticed
    let answered = vec![slow_reply(); rows() - 100];
    let setup = Setup {
        runner: RUNNER,
        nodes: 1,
        script: Script::first(answered)
            .then(ScriptedReply::status(404))
            .unrecorded(),
        ..Setup::default()
    };
    let service = Service::on(None, setup).await;
    let file = file(1);
    let run = start_run(&service, 1, &file).await;
    // many rows fail one after the other before the run waits
    while shown(&service, &run).await["failed"].as_u64().unwrap() < 50 {
        sleep(Duration::from_millis(100)).await;
    }
    service.model.then_always(ScriptedReply::answers());
    until_done(&service, &run).await;
    let asked_again = assert_whole(&service, 1, &run, &file).await;
    assert_eq!(asked_again["failed"], 0, "{asked_again}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_runs_share_two_nodes_of_which_one_is_killed() {
    let cluster = cluster(&[]);
    let mut service = service(Some(cluster.url()), 2).await;
    let files = [1, 2, 3].map(file);
    let mut runs = Vec::new();
    for (number, file) in (1..).zip(&files) {
        runs.push(start_run(&service, number, file).await);
    }
    until_answered(&service, &runs[2], rows() / 4).await;
    for run in &runs[..2] {
        let answered = shown(&service, run).await["answered"].as_u64().unwrap();
        assert!(answered > 0, "every run goes on: {answered}");
    }
    let mut node = service.nodes.remove(0);
    node.signal("KILL").await;
    node.exit_code().await;
    for run in &runs {
        until_done(&service, run).await;
    }
    for (number, (run, file)) in (1..).zip(runs.iter().zip(&files)) {
        assert_whole(&service, number, run, file).await;
    }
}
