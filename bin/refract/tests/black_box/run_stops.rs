//! File runs that end early: by a signal, a changed file, an archived prism, a lost database.

use std::io::Write as _;
use std::process::{Output, Stdio};
use std::time::Duration;

use refract_test_stack::http::within_patience;
use refract_test_stack::runs::{numbered, texts};
use refract_test_stack::service::{Backend, PRISM, Service, Setup};
use refract_test_support::model_server::{ModelServer, Script, ScriptedReply};
use tokio::process::Child;

use crate::program;
use crate::program::setup;
use crate::terminal::OnTerminal;

/// The longest time that a run may take to end: it retries failed saves for up to 35 s.
const INSISTENCE: Duration = Duration::from_secs(90);

/// A service whose model holds back every answer until the test releases it.
pub(crate) async fn held(backend: Backend) -> Service {
    let setup = Setup {
        nodes: 0,
        script: Script::from(ScriptedReply::answers().held()),
        ..setup()
    };
    Service::with(backend, setup).await
}

/// Starts a run and waits until the model has received `asked` rows.
pub(crate) async fn begun(service: &Service, arguments: &[&str], asked: usize) -> Child {
    let url = service.model.url();
    let settings = [
        ("DATABASE_URL", service.database_url.as_str()),
        ("REFRACT_MODEL_URL", url.as_str()),
    ];
    let mut all = vec!["run", PRISM, "in.csv"];
    all.extend_from_slice(arguments);
    let mut command = program::command(service.folder.path(), &settings, &all);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = child.spawn().unwrap();
    within_patience(service.model.wait_until(|counts| counts.requests == asked)).await;
    child
}

/// Waits for the end of a run: its exit status and the last line on stderr.
pub(crate) async fn end(child: Child) -> (Option<i32>, String) {
    let ended = tokio::time::timeout(INSISTENCE, child.wait_with_output()).await;
    let Output { status, stderr, .. } = ended.expect("it ends").unwrap();
    let printed = String::from_utf8(stderr).unwrap();
    let last = printed.lines().last().unwrap_or_default().to_owned();
    (status.code(), last)
}

#[tokio::test]
async fn a_stop_finishes_what_is_under_way_and_the_next_run_goes_on() {
    let service = held(Backend::Sqlite).await;
    service.write("in.csv", numbered(20));
    let arguments = ["--output", "out.jsonl", "--concurrency", "3"];
    let child = begun(&service, &arguments, 3).await;
    program::signal(&child, "INT").await;
    // the run waits for the three rows in flight, which are answered now
    service.model.release_all();
    let expected = "error: in.csv: it was stopped; everything that was answered is saved: run \
        the same command again to go on; the rows so far are in out.jsonl.part";
    assert_eq!(end(child).await, (Some(1), expected.to_owned()));
    assert!(!service.folder.path().join("out.jsonl").exists());
    let begun = service.asked();
    assert!((3..20).contains(&begun), "{begun}");
    let rows = texts(&service.written("out.jsonl.part"));
    assert_eq!(rows.len(), begun);
    assert_eq!(rows[0], "row 1");
    service.run_file("in.csv", &arguments).await.done();
    assert_eq!(service.asked(), 20, "none twice");
    assert_eq!(texts(&service.written("out.jsonl")).len(), 20);
    assert!(!service.folder.path().join("out.jsonl.part").exists());
}

#[tokio::test]
async fn a_file_that_changes_meanwhile_stops_the_run() {
    let service = held(Backend::Sqlite).await;
    let path = service.write("in.csv", numbered(1_500));
    let child = begun(&service, &["--concurrency", "4"], 4).await;
    // the run never reads this many rows ahead
    let mut file = std::fs::File::options().append(true).open(path).unwrap();
    file.write_all(b"one more,1\n").unwrap();
    service.model.release_all();
    let expected = "error: in.csv: it was changed while it was read, at line 1025 or before; \
        everything that was answered is saved: run the same command again to go on";
    assert_eq!(end(child).await, (Some(1), expected.to_owned()));
    let asked = service.asked();
    assert_eq!(asked, 1_024);
    service.run_file("in.csv", &[]).await.done();
    assert_eq!(service.asked(), 1_501, "none twice");
}

#[tokio::test]
async fn a_prism_that_is_archived_meanwhile_is_asked_no_more() {
    let service = held(Backend::Sqlite).await;
    service.write("in.csv", numbered(1_500));
    let child = begun(&service, &["--concurrency", "4"], 4).await;
    service.run(&["prism", "archive", PRISM]).await.done();
    service.model.release_all();
    let (code, last) = end(child).await;
    assert_eq!(code, Some(1));
    assert!(
        last.contains("the prism was archived, so it cannot answer"),
        "{last}"
    );
    assert!(service.asked() < 1_000, "{}", service.asked());
}

#[tokio::test]
async fn a_database_that_goes_away_is_reported_with_the_line() {
    let mut service = held(Backend::Postgres).await;
    service.write("in.csv", numbered(20));
    let child = begun(&service, &["--concurrency", "1"], 1).await;
    service.lose_database();
    service.model.release_all();
    let (code, last) = end(child).await;
    assert_eq!(code, Some(1));
    assert!(
        last.starts_with("error: in.csv: line 2: the database is not available: "),
        "{last}"
    );
    assert!(
        last.ends_with(
            "answers that could not be saved are asked for again: run the same command again to go on"
        ),
        "{last}"
    );
}

#[tokio::test]
async fn a_terminal_shows_how_far_it_is_and_a_person_can_stop_it() {
    let service = held(Backend::Sqlite).await;
    service.write("in.csv", numbered(20));
    let url = service.model.url();
    let settings = [
        ("DATABASE_URL", service.database_url.as_str()),
        ("REFRACT_MODEL_URL", url.as_str()),
    ];
    let arguments = ["run", PRISM, "in.csv", "--concurrency", "2"];
    let mut terminal = OnTerminal::start(service.folder.path(), 90, &settings, &arguments);
    service.model.release(5);
    terminal.wait_for("5 of 20 rows").await;
    terminal.wait_for("5 ok").await;
    program::signal(&terminal.child, "INT").await;
    terminal.wait_for("Stopping").await;
    service.model.release_all();
    assert_eq!(terminal.end().await, Some(1));
    // every row is printed on a separate line between the redrawn bars
    let rows = terminal.seen.matches(",Billing,Yes,Can wait").count();
    assert_eq!(rows, service.asked(), "{}", terminal.seen);
    // a second signal stops the run at once
    let arguments = ["run", PRISM, "in.csv", "--name", "again"];
    let held = Script::from(ScriptedReply::answers().held());
    let model = ModelServer::start(held);
    let url = model.url();
    let settings = [settings[0], ("REFRACT_MODEL_URL", url.as_str())];
    let mut terminal = OnTerminal::start(service.folder.path(), 90, &settings, &arguments);
    within_patience(model.wait_until(|counts| counts.requests == 20)).await;
    program::signal(&terminal.child, "INT").await;
    terminal.wait_for("Once more stops at once").await;
    program::signal(&terminal.child, "INT").await;
    assert_eq!(terminal.end().await, Some(1));
    assert!(
        terminal.seen.contains("error: stopped at once"),
        "{}",
        terminal.seen
    );
}
