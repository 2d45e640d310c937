//! Nodes that are killed (SIGKILL) while they work on file runs: another node goes on, every row is
//! answered once, and what is downloaded is what the terminal writes.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use refract_test_stack::browser::PlainBrowser;
use refract_test_stack::http::Request;
use refract_test_stack::service::{PRISM, Service, Setup, text};
use refract_test_support::model_server::{Script, ScriptedReply};
use serde_json::Value;

use crate::faults::load::cluster;
use crate::program::RUNNER;

/// The longest that a run may stand still after its node was killed.
const TAKEN_OVER: Duration = Duration::from_secs(30);

/// The longest that a run may take that is not killed again and again.
const DONE: Duration = Duration::from_mins(10);

/// The number of kills on each database: 200 in `make test-runs`, 2 in `make test`.
fn kills() -> usize {
    number("REFRACT_TEST_RUN_KILLS", 2)
}

/// The rows of a file.
pub(crate) fn rows() -> usize {
    number("REFRACT_TEST_RUN_ROWS", 400)
}

pub(crate) fn number(variable: &str, usual: usize) -> usize {
    let number = std::env::var(variable);
    number.map_or(usual, |number| number.parse().expect("a number"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_postgres_a_run_outlives_its_nodes() {
    let cluster = cluster(&[]);
    outlive(Some(cluster.url())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_sqlite_a_run_outlives_its_nodes() {
    outlive(None).await;
}

/// Answers one request after the other, so that a run of some hundred rows takes some seconds.
pub(crate) fn slow_model() -> Script {
    Script::from(slow_reply()).unrecorded()
}

/// Answers after 10 milliseconds, in which the model server does nothing else.
pub(crate) fn slow_reply() -> ScriptedReply {
    ScriptedReply::with(|request| {
        std::thread::sleep(Duration::from_millis(10));
        refract_test_support::model_server::system_one_answers(request)
    })
}

async fn outlive(url: Option<String>) {
    let setup = Setup {
        runner: RUNNER,
        nodes: if url.is_none() { 1 } else { 2 },
        script: slow_model(),
        ..Setup::default()
    };
    let mut service = Service::on(url, setup).await;
    let (mut killed, mut runs) = (0, 0);
    while killed < kills() {
        runs += 1;
        killed += kill_until_done(&mut service, runs, kills() - killed).await;
    }
    println!("{killed} kills in {runs} runs of {} rows", rows());
}

/// Runs a file and kills the nodes one after the other until it is done, at most so often. Returns
/// how often.
async fn kill_until_done(service: &mut Service, number: usize, most: usize) -> usize {
    let file = file(number);
    let run = start_run(service, number, &file).await;
    let mut killed = 0;
    let mut done = 0;
    let mut moved_at = Instant::now();
    loop {
        let shown = shown(service, &run).await;
        let count = |name: &str| shown[name].as_u64().unwrap();
        let now = count("answered") + count("failed") + count("refused");
        if now != done {
            (done, moved_at) = (now, Instant::now());
        }
        assert!(moved_at.elapsed() < TAKEN_OVER, "nobody works on {shown}");
        let state = text(&shown, "state");
        if state == "done" {
            break;
        }
        assert_eq!(state, "running", "{shown}");
        let is_due = usize::try_from(now).unwrap() > killed * rows() / (most + 1);
        if killed < most && is_due && now > 0 {
            let mut node = service.nodes.remove(0);
            node.signal("KILL").await;
            assert_eq!(node.exit_code().await, None, "it was killed");
            service.start_node(&[]).await;
            killed += 1;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_whole(service, number, &run, &file).await;
    killed
}

/// The file of the run with this number.
pub(crate) fn file(number: usize) -> String {
    let lines = (1..=rows()).map(|row| format!("{number}-{row},text {row} of {number}\n"));
    format!("ref,text\n{}", lines.collect::<String>())
}

/// Uploads a file, starts its run, and returns the run's id.
pub(crate) async fn start_run(service: &Service, number: usize, file: &str) -> String {
    let mut person = PlainBrowser::new(service);
    let email = format!("ada{number}@example.com");
    let invited = ["person", "invite", &email, "--role", "editor"];
    let link = text(&service.run(&invited).await.object(), "link");
    assert_eq!(person.join(&link, "Ada").await.status, 303);
    let runs = format!("/prisms/{PRISM}/runs");
    let upload = Request::upload(&runs, "in.csv", file.as_bytes());
    let uploaded = person.send(upload).await;
    let address = uploaded.header("location").expect("a run").to_owned();
    assert_eq!(
        person.post(&format!("{address}/check"), &[]).await.status,
        303
    );
    let begun = Instant::now();
    while person.post(&format!("{address}/start"), &[]).await.status != 303 {
        assert!(begun.elapsed() < TAKEN_OVER, "the file is not checked");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    address.rsplit('/').next().unwrap().to_owned()
}

/// A run as `refract runs show` prints it.
pub(crate) async fn shown(service: &Service, run: &str) -> Value {
    let ended = service.run(&["runs", "show", run, "--json"]).await;
    ended.object()
}

/// Waits until a run is done, which must go on in time.
pub(crate) async fn until_done(service: &Service, run: &str) {
    let begun = Instant::now();
    loop {
        let shown = shown(service, run).await;
        if text(&shown, "state") == "done" {
            return;
        }
        assert!(begun.elapsed() < DONE, "{shown}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Every row has one answer, and the terminal writes them in the order of the file without asking.
/// Returns the run.
pub(crate) async fn assert_whole(service: &Service, number: usize, run: &str, file: &str) -> Value {
    let exported = [
        "results", "export", PRISM, "--format", "jsonl", "--status", "ok",
    ];
    let results = service.run(&exported).await.done();
    let own = format!("\"ref\":\"{number}-");
    let results = results.lines().filter(|line| line.contains(&own)).count();
    assert_eq!(results, rows(), "one answer for each row");
    let asked = service.asked();
    service.write("in.csv", file);
    let ended = service.run_file("in.csv", &["--output", "out.csv"]).await;
    ended.done();
    assert_eq!(service.asked(), asked, "every row is answered");
    let written = service.written("out.csv");
    let references: Vec<_> = written
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(1).unwrap())
        .collect();
    let expected: Vec<_> = (1..=rows()).map(|row| format!("{number}-{row}")).collect();
    assert_eq!(references, expected, "in the order of the file");
    let ids: BTreeSet<_> = written.lines().map(|line| line.split(',').next()).collect();
    assert_eq!(ids.len(), rows() + 1);
    let shown = shown(service, run).await;
    let answered = shown["answered"].as_u64().unwrap();
    assert_eq!(usize::try_from(answered).unwrap(), rows(), "{shown}");
    assert_eq!(shown["answered_before"], 0, "all by this run: {shown}");
    let requests = shown["model_requests"].as_u64().unwrap();
    assert!(usize::try_from(requests).unwrap() >= rows(), "{shown}");
    shown
}
