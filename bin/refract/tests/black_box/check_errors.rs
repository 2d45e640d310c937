//! What `refract check` refuses before the model is asked, and how it stops.

use refract_test_stack::http::within_patience;
use refract_test_stack::runs::GOLD;
use refract_test_stack::runs::numbered;
use refract_test_stack::service::{Backend, PRISM, Service, Setup};
use refract_test_support::model_server::{Script, ScriptedReply};
use refract_test_support::on_both;

use crate::program;
use crate::program::setup;
use crate::terminal::OnTerminal;

on_both!(a_check_goes_on_where_it_was_stopped);

/// A service whose model holds back every answer.
async fn held(backend: Backend) -> Service {
    let setup = Setup {
        nodes: 0,
        script: Script::from(ScriptedReply::answers().held()),
        ..setup()
    };
    Service::with(backend, setup).await
}

async fn a_check_goes_on_where_it_was_stopped(backend: Backend) {
    let service = held(backend).await;
    let rows = numbered(20).replace("text,ref", "text,expected_topic");
    let rows = rows.lines().map(|row| match row.split_once(',') {
        Some((text, "expected_topic")) => format!("{text},expected_topic\n"),
        Some((text, _)) => format!("{text},billing\n"),
        None => panic!("{row}"),
    });
    service.write("gold.csv", rows.collect::<String>());
    let url = service.model.url();
    let settings = [
        ("DATABASE_URL", service.database_url.as_str()),
        ("REFRACT_MODEL_URL", url.as_str()),
    ];
    let arguments = [
        "check",
        PRISM,
        "gold.csv",
        "--concurrency",
        "2",
        "--junit",
        "check.xml",
    ];
    let mut terminal = OnTerminal::start(service.folder.path(), 90, &settings, &arguments);
    service.model.release(5);
    terminal.wait_for("5 of 20 rows").await;
    program::signal(&terminal.child, "INT").await;
    terminal.wait_for("Stopping").await;
    service.model.release_all();
    assert_eq!(terminal.end().await, Some(1));
    assert!(
        terminal
            .seen
            .contains("error: gold.csv: it was stopped; everything that was answered is saved"),
        "{}",
        terminal.seen
    );
    assert!(
        !terminal.seen.contains("accuracy"),
        "nothing is measured of a part: {}",
        terminal.seen
    );
    let report = service.written("check.xml");
    assert!(report.contains("gold.csv: it was stopped;"), "{report}");
    let asked = service.asked();
    assert!(asked < 20, "{asked}");
    service
        .check("gold.csv", &["--require", "topic.accuracy>=1"])
        .await
        .done();
    assert_eq!(service.asked(), 20, "none twice");
}

#[tokio::test]
async fn other_orders_can_be_stopped_and_the_measures_are_shown() {
    let service = held(Backend::Sqlite).await;
    service.write("gold.csv", GOLD);
    let url = service.model.url();
    let settings = [
        ("DATABASE_URL", service.database_url.as_str()),
        ("REFRACT_MODEL_URL", url.as_str()),
    ];
    let mut arguments = vec!["check", PRISM, "gold.csv", "--orders", "5"];
    arguments.extend(["--junit", "check.xml"]);
    let mut terminal = OnTerminal::start(service.folder.path(), 90, &settings, &arguments);
    service.model.release(3);
    within_patience(service.model.wait_until(|counts| counts.requests > 3)).await;
    program::signal(&terminal.child, "INT").await;
    assert_eq!(terminal.end().await, Some(1));
    for expected in [
        "accuracy 0.667",
        "error: other orders were not all asked: it was stopped",
    ] {
        assert!(
            terminal.seen.contains(expected),
            "{expected}: {}",
            terminal.seen
        );
    }
    let report = service.written("check.xml");
    let report = quick_junit::Report::deserialize_from_str(&report).unwrap();
    assert_eq!((report.tests, report.failures), (2, 1));
}
