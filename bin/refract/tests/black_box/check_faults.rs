//! What `refract check` refuses before the model is asked, and how it stops.

use refract_test_support::model_server::{Script, ScriptedReply};

use crate::check::GOLD;
use crate::http::within_patience;
use crate::program;
use crate::run::{numbered, service};
use crate::service::{Backend, PRISM, Service, Setup};
use crate::terminal::OnTerminal;

on_both!(
    a_gold_file_that_is_wrong_asks_nothing,
    a_check_goes_on_where_it_was_stopped
);

#[track_caller]
fn last_line(ended: &program::Ended) -> &str {
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(1), ""),
        "{ended:?}"
    );
    ended.stderr.lines().last().unwrap()
}

async fn a_gold_file_that_is_wrong_asks_nothing(backend: Backend) {
    let service = service(backend).await;
    let misspelt = GOLD.replace("expected_topic", "expected_topics");
    service.write("gold.csv", misspelt);
    assert_eq!(
        last_line(&service.check("gold.csv", &[]).await),
        "error: gold.csv: the column expected_topics is of no question of the prism: did you mean \
         `expected_topic`?"
    );
    service.write(
        "gold.jsonl",
        "{\"text\": \"a\", \"expected_angri\": \"yes\"}\n",
    );
    let ended = service.check("gold.jsonl", &[]).await;
    assert!(
        last_line(&ended).contains("did you mean `expected_angry`?"),
        "{ended:?}"
    );
    service.write("gold.csv", "text,ref\nmy secret text,r1\n");
    assert_eq!(
        last_line(&service.check("gold.csv", &[]).await),
        "error: gold.csv: it says of no row what is right: it needs a column such as \
         expected_topic, expected_angry, expected_urgency"
    );
    let wrong = GOLD
        .replace("r1,billing,yes", "r1,a secret,maybe")
        .replace("Today", "today!");
    service.write("gold.csv", wrong);
    let ended = service.check("gold.csv", &[]).await;
    assert_eq!(
        last_line(&ended),
        "error: gold.csv: 3 cells name no outcome of the question, so nothing was asked"
    );
    for line in [
        "  line 2: the expected answer of question topic names no outcome",
        "  line 2: the expected answer of question angry names no outcome",
        "  line 4: the expected answer of question urgency names no outcome",
        "  topic has billing, delivery, product, other, insufficient_information",
        "  urgency has can_wait, this_week, today",
    ] {
        assert!(
            ended.stderr.lines().any(|said| said == line),
            "{line}: {ended:?}"
        );
    }
    assert!(!ended.stderr.contains("secret"), "{ended:?}");
    service.write("gold.csv", GOLD.to_owned() + "torn\n");
    let ended = service.check("gold.csv", &[]).await;
    assert!(
        last_line(&ended).contains("line 5 has 1 cell, the header has"),
        "{ended:?}"
    );
    assert_eq!(service.asked(), 0);
}

#[tokio::test]
async fn a_requirement_that_cannot_be_checked_asks_nothing() {
    let service = service(Backend::Sqlite).await;
    service.write("gold.csv", "text,expected_topic\na,billing\n");
    for (requirement, expected) in [
        (
            "topc.accuracy>=0.9",
            "--require: the prism has no question topc: did you mean `topic`?",
        ),
        (
            "topic.refunds.recall>0.5",
            "--require: question `topic` has no outcome `refunds`; there are billing,",
        ),
        (
            "topic.within_one>0.5",
            "--require: `within_one` is for scales, and question `topic` is none",
        ),
        (
            "angry.accuracy>0.5",
            "--require: the gold file says of no row what is right for question angry",
        ),
    ] {
        let ended = service.check("gold.csv", &["--require", requirement]).await;
        assert!(
            last_line(&ended).contains(expected),
            "{requirement}: {ended:?}"
        );
    }
    for (requirement, expected) in [
        ("topic.accuracy", "has no operator"),
        (
            "topic.luck>=0.9",
            "`luck` is no measure of a question; there are accuracy,",
        ),
        (
            "topic.billing.luck>=0.9",
            "`luck` is no measure of an outcome",
        ),
        ("topic.accuracy>=high", "is no number"),
    ] {
        let ended = service.check("gold.csv", &["--require", requirement]).await;
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains(expected), "{requirement}: {ended:?}");
    }
    let ended = service
        .check("gold.csv", &["--map", "topic=expected_topics"])
        .await;
    assert_eq!(
        last_line(&ended),
        "error: --map: 'expected_topics' is no field of the prism: it has text, expected_topic, \
         expected_angry, expected_urgency, and ref and context"
    );
    let ended = service
        .check("gold.csv", &["--junit", "nowhere/check.xml"])
        .await;
    assert!(
        last_line(&ended).contains("cannot write nowhere/check.xml"),
        "{ended:?}"
    );
    assert_eq!(service.asked(), 0);
}

/// A service whose model holds back every answer.
async fn held(backend: Backend) -> Service {
    let setup = Setup {
        nodes: 0,
        script: Script::from(ScriptedReply::answers().held()),
        ..Setup::default()
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
