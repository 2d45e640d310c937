//! A node that is killed (SIGKILL) while it asks about the texts of a retest: another one goes on in
//! time, and asks about no text twice that was not in flight.

use std::time::{Duration, Instant};

use refract_test_stack::browser::{PlainBrowser, joined};
use refract_test_stack::service::{PRISM, Service, Setup};
use serde_json::json;

use crate::faults::file_runs::slow_model;
use crate::faults::load::cluster;
use crate::program::RUNNER;

/// The longest that a retest may stand still after its node was killed.
const TAKEN_OVER: Duration = Duration::from_secs(30);
/// Stored texts.
const TEXTS: usize = 300;
/// Most texts in flight at a node.
const IN_FLIGHT: usize = 32;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_postgres_a_retest_outlives_its_node() {
    let cluster = cluster(&[]);
    outlive(Some(cluster.url())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_sqlite_a_retest_outlives_its_node() {
    outlive(None).await;
}

async fn outlive(url: Option<String>) {
    let setup = Setup {
        runner: RUNNER,
        script: slow_model(),
        ..Setup::default()
    };
    let mut service = Service::on(url, setup).await;
    let rows = (0..TEXTS).map(|number| json!({"text": format!("text {number}")}));
    let rows: Vec<_> = rows.collect();
    service.ask_rows("stored", &rows).await;
    let before = service.asked();
    let retest = {
        let mut ada = joined(&service, "ada@example.com", "editor").await;
        let typed = [("texts", "300"), ("model", "m2"), ("version", "")];
        let list = format!("/prisms/{PRISM}/retests");
        let answer = ada.post(&list, &typed).await;
        let retest = answer.header("location").expect("a retest").to_owned();
        while asked(&mut ada, &retest).await.0 < TEXTS / 4 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        retest
    };
    let mut node = service.nodes.remove(0);
    node.signal("KILL").await;
    assert_eq!(node.exit_code().await, None, "it was killed");
    service.start_node(&[]).await;
    let mut eve = joined(&service, "eve@example.com", "reviewer").await;
    let (mut done, mut moved_at) = asked(&mut eve, &retest).await;
    assert!(done < TEXTS, "it was killed in time");
    while done < TEXTS {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let (now, at) = asked(&mut eve, &retest).await;
        if now != done {
            (done, moved_at) = (now, at);
        }
        assert!(
            moved_at.elapsed() < TAKEN_OVER,
            "nobody works on it: {done} texts"
        );
    }
    let asked = service.asked() - before;
    assert!(
        (TEXTS..=TEXTS + IN_FLIGHT).contains(&asked),
        "{asked} requests for {TEXTS} texts"
    );
}

/// Texts that were asked about, and when they were counted.
async fn asked(person: &mut PlainBrowser<'_>, retest: &str) -> (usize, Instant) {
    let part = person.get(&format!("{retest}/progress")).await.body;
    let (_, value) = part.split_once(" value=\"").expect(&part);
    let asked = value.split('"').next().unwrap().parse().unwrap();
    (asked, Instant::now())
}
