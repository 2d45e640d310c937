//! `refract retest` that is stopped by a signal.

use refract_test_stack::http::within_patience;
use refract_test_stack::runs::numbered;
use refract_test_stack::service::{Backend, PRISM, Service, Setup};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::on_both;

use crate::program;
use crate::program::setup;
use crate::terminal::OnTerminal;

on_both!(a_retest_goes_on_where_it_was_stopped);

async fn a_retest_goes_on_where_it_was_stopped(backend: Backend) {
    let setup = Setup {
        nodes: 0,
        ..setup()
    };
    let service = Service::with(backend, setup).await;
    service.write("in.csv", numbered(20));
    service.run_file("in.csv", &[]).await.done();
    service.model.then_always(ScriptedReply::answers().held());
    let url = service.model.url();
    let settings = [
        ("DATABASE_URL", service.database_url.as_str()),
        ("REFRACT_MODEL_URL", url.as_str()),
    ];
    let mut arguments = vec!["retest", PRISM, "--output", "flips.csv"];
    arguments.extend(["--concurrency", "2"]);
    let mut terminal = OnTerminal::start(service.folder.path(), 90, &settings, &arguments);
    service.model.release(5);
    terminal.wait_for("5 of 20 texts").await;
    within_patience(
        service
            .model
            .wait_until(|counts| counts.requests == 20 + 5 + 2),
    )
    .await;
    program::signal(&terminal.child, "INT").await;
    terminal.wait_for("Stopping").await;
    service.model.release_all();
    assert_eq!(terminal.end().await, Some(1));
    for expected in [
        "error: not all texts were asked: it was stopped",
        "run the same command again to go on",
    ] {
        assert!(terminal.seen.contains(expected), "{}", terminal.seen);
    }
    // the two calls under way were finished, and their answers kept
    assert_eq!(service.asked(), 20 + 5 + 2);
    let kept = service.written("flips.csv.answers.jsonl");
    assert_eq!(kept.lines().count(), 1 + 5 + 2);
    let ended = service.run(&arguments).await;
    let words = "about 13 texts again (7 texts were asked before)";
    assert!(ended.stderr.contains(words), "{}", ended.stderr);
    ended.done();
    assert_eq!(service.asked(), 20 + 20, "none twice");
    assert_eq!(service.files_named("answers"), [""; 0]);
    let rows = service.written("flips.csv");
    assert_eq!(rows.lines().count(), 1, "the same answers: {rows}");
}
