//! The events of file runs, with their numbers of rows.

use refract_test_stack::service::events;
use refract_test_stack::service::{Backend, PRISM, Service, Setup, text};
use refract_test_support::on_both;
use serde_json::Value;

on_both!(
    a_file_run_records_how_many_rows_it_had,
    a_run_of_a_stream_has_its_events_as_one_of_a_file,
);

async fn a_file_run_records_how_many_rows_it_had(backend: Backend) {
    let setup = Setup {
        nodes: 0,
        ..Setup::default()
    };
    let service = Service::with(backend, setup).await;
    let rows = service.folder.path().join("rows.csv");
    let long = "a".repeat(120_000);
    std::fs::write(&rows, format!("text\none\n{long}\ntwo\n")).unwrap();
    let ended = service.run(&["run", PRISM, rows.to_str().unwrap()]).await;
    assert_eq!(ended.code, Some(1), "a row was refused");
    assert_eq!(
        newest_runs(&service).await,
        [
            "file_run_ended: version 1: run, to its end, 3 rows, 1 refused, 0 answered before, \
             2 answered, 0 failed",
            "file_run_started: version 1: run, 3 rows, 1 refused",
        ]
    );
}

/// The last two events, both of a file run.
async fn newest_runs(service: &Service) -> Vec<String> {
    let all = events(service).await;
    let row = |event: &Value| {
        let part = |key| text(event, key);
        format!("{}: {}: {}", part("action"), part("to"), part("note"))
    };
    all[..2].iter().map(row).collect()
}

async fn a_run_of_a_stream_has_its_events_as_one_of_a_file(backend: Backend) {
    let setup = Setup {
        nodes: 0,
        ..Setup::default()
    };
    let service = Service::with(backend, setup).await;
    let long = "a".repeat(120_000);
    let rows = format!("text\none\n{long}\n");
    for (rows, ended, started) in [
        (
            rows.clone(),
            "2 rows, 1 refused, 0 answered before, 1 answered, 0 failed",
            "2 rows, 1 refused",
        ),
        (
            format!("{rows}two\n"),
            "3 rows, 1 refused, 1 answered before, 1 answered, 0 failed",
            "3 rows, 1 refused",
        ),
    ] {
        let run = ["run", PRISM, "-", "--output", "out.csv"];
        let done = service.run_with_input(&run, rows.as_bytes()).await;
        assert_eq!(done.code, Some(1), "a row was refused: {done:?}");
        let listed = service.folder.path().join("out.csv.refused.csv");
        let listed = std::fs::read_to_string(listed).unwrap();
        assert_eq!(listed.lines().count(), 2, "the header and the row");
        assert_eq!(
            newest_runs(&service).await,
            [
                format!("file_run_ended: version 1: run, to its end, {ended}"),
                format!("file_run_started: version 1: run, {started}"),
            ]
        );
    }
    let before = events(&service).await.len();
    let gold = "text,expected_angry\none,no\n";
    for (command, file) in [("run", rows.as_str()), ("check", gold)] {
        let dry = [command, PRISM, "-", "--dry-run"];
        let ended = service.run_with_input(&dry, file.as_bytes()).await;
        assert!(ended.stderr.contains(" to ask about"), "{ended:?}");
    }
    let check = ["check", PRISM, "-", "--json"];
    service.run_with_input(&check, gold.as_bytes()).await.done();
    assert_eq!(
        newest_runs(&service).await,
        [
            "file_run_ended: version 1: check, to its end, 1 row, 0 refused, 1 answered before, \
             0 answered, 0 failed",
            "file_run_started: version 1: check, 1 row, 0 refused",
        ]
    );
    assert_eq!(
        events(&service).await.len(),
        before + 2,
        "dry runs have none"
    );
}
