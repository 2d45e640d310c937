//! The SQLite file: where it is created, how it is watched while open, and limits on its size.

use std::fs;
use std::path::Path;

use refract_test_stack::expected::Saved;
use refract_test_stack::http::{HttpConnection, within_patience};
use refract_test_stack::service::{Backend, LENS_FILE, PRISM, PRISM_FILE, Service, Setup, TEXT};
use serde_json::json;

use crate::program::run;
use crate::program::setup;

/// Commands that need existing data.
const ABOUT_STORED: [&[&str]; 23] = [
    &["account", "list"],
    &["key", "list"],
    &["key", "revoke", "0190b8f2-0000-7000-8000-0000000000aa"],
    &["person", "list"],
    &["person", "remove", "ada@example.com"],
    &["person", "reset", "ada@example.com"],
    &["prism", "list"],
    &["prism", "show", PRISM],
    &["prism", "save", PRISM, PRISM_FILE],
    &["lens", "show", PRISM],
    &["lens", "set", PRISM, LENS_FILE],
    &["results", "list", PRISM],
    &["results", "export", PRISM],
    &["results", "erase", "--ref", "ada"],
    &["results", "purge", "--before", "2026-05-04T09:00:00Z"],
    &["results", "retry", PRISM, "--failed"],
    &["try", PRISM, "--text", "x"],
    &["marks", "export", PRISM],
    &["evaluate", PRISM],
    &["backup", "copy.db"],
    &["events"],
    &["usage"],
    &["migrate", "--dry-run"],
];

fn names(folder: &Path) -> Vec<String> {
    let names = folder
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    names
        .map(|name| name.to_string_lossy().into_owned())
        .collect()
}

#[tokio::test]
async fn commands_that_meet_at_a_new_file_all_find_its_tables() {
    let folder = tempfile::tempdir().unwrap();
    let create = async |name: &str| {
        let arguments = ["key", "create", "--name", name];
        run(folder.path(), &[], &arguments).await.done();
    };
    tokio::join!(
        create("a"),
        create("b"),
        create("c"),
        create("d"),
        create("e")
    );
    let listed = run(folder.path(), &[], &["key", "list", "--json"]).await;
    assert_eq!(listed.done().lines().count(), 5);
}

#[tokio::test]
async fn a_command_about_what_is_stored_makes_no_database() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().canonicalize().unwrap();
    let there = format!("there is no database refract.db in {}", place.display());
    for arguments in ABOUT_STORED {
        let model = ("REFRACT_MODEL_URL", "builtin:lexical");
        let line = run(&place, &[model], arguments).await.refused();
        assert!(
            line.starts_with(&format!("error: {there}; DATABASE_URL is not set: ")),
            "{line}"
        );
        assert!(line.contains("`refract migrate`"), "{line}");
        assert_eq!(names(&place), [""; 0], "{arguments:?}");
    }
    let url = ("DATABASE_URL", "sqlite://elsewhere.db");
    let line = run(&place, &[url], &["prism", "list"]).await.refused();
    assert!(line.contains("no database elsewhere.db") && line.contains("which DATABASE_URL names"));
    let flags = ["prism", "list", "--database-url", "sqlite://elsewhere.db"];
    let line = run(&place, &[], &flags).await.refused();
    assert!(line.contains("which --database-url names"), "{line}");
    assert_eq!(names(&place), [""; 0]);
}

#[tokio::test]
async fn a_command_that_makes_the_first_rows_makes_the_database() {
    for arguments in [
        &["migrate"][..],
        &["account", "create", "acme"],
        &["key", "create"],
        &["prism", "create", PRISM_FILE],
        &["person", "invite", "ada@example.com"],
    ] {
        let folder = tempfile::tempdir().unwrap();
        run(folder.path(), &[], arguments).await.done();
        assert!(
            names(folder.path()).contains(&"refract.db".to_owned()),
            "{arguments:?}"
        );
        run(folder.path(), &[], &["prism", "list"]).await.done();
    }
}

#[tokio::test]
async fn nothing_is_acknowledged_that_a_deleted_file_would_lose() {
    // one thread with an open connection: another thread would have to open the file
    let setup = Setup {
        settings: &[("REFRACT_WORKERS", "1")],
        ..setup()
    };
    let mut service = Service::with(Backend::Sqlite, setup).await;
    let body = |key: &str| json!({"text": TEXT, "idempotency_key": key});
    let before = Saved::of(&service.create(&body("before")).await);
    let path = service.folder.path().join("refract.db");
    let aside = service.folder.path().join("aside.db");
    fs::rename(&path, &aside).unwrap();
    let node = &service.nodes[0];
    assert_eq!(node.ops("/readyz").await.status, 503);
    assert_eq!(node.ops("/healthz").await.status, 200);
    let mut waiting = HttpConnection::open(service.api()).await;
    let create = service.create_request(PRISM, &body("meanwhile"));
    waiting.send(&create.bytes()).await;
    let failed = "refract_result_saves_failed_total";
    within_patience(async { while node.metric(failed).await < 2.0 {} }).await;
    fs::rename(&aside, &path).unwrap();
    // the call that waited is saved now
    let meanwhile = waiting.answer().await;
    assert_eq!(meanwhile.status, 200, "{meanwhile:?}");
    assert_eq!(node.ops("/readyz").await.status, 200);
    let log = node.log();
    let reports: Vec<_> = log
        .iter()
        .filter(|line| line.contains("the database file"))
        .collect();
    assert_eq!(
        reports.len(),
        2,
        "once that it is gone, once that it is back: {reports:?}"
    );
    assert!(
        reports[0].contains("\"ERROR\"") && reports[1].contains("\"INFO\""),
        "{reports:?}"
    );
    service.nodes.remove(0).stop().await;
    service.start_node(&[]).await;
    for saved in [before, Saved::of(&meanwhile)] {
        assert_eq!(service.read(&saved.id, "").await.status, 200);
    }
}

#[tokio::test]
async fn a_limit_of_the_files_size_fails_saves_and_not_the_node() {
    let setup = Setup {
        nodes: 0,
        ..setup()
    };
    let mut service = Service::with(Backend::Sqlite, setup).await;
    let mut command = tokio::process::Command::new("sh");
    // in blocks of 512 bytes: the write-ahead log reaches this size after some results
    command
        .args(["-c", "ulimit -f 2000 && exec \"$0\" serve"])
        .arg(env!("CARGO_BIN_EXE_refract"))
        .env_clear()
        .kill_on_drop(true)
        .envs([
            ("DATABASE_URL", service.database_url.as_str()),
            ("REFRACT_MODEL_URL", service.model.url().as_str()),
            ("REFRACT_LISTEN", "127.0.0.1:0"),
            ("REFRACT_OPS_LISTEN", "127.0.0.1:0"),
            ("REFRACT_APP_LISTEN", "127.0.0.1:0"),
            ("REFRACT_SHUTDOWN_GRACE_MS", "500"),
            ("REFRACT_WORKERS", "2"),
        ]);
    service
        .nodes
        .push(refract_test_stack::node::Node::of(command).await);
    let large = "x".repeat(20_000);
    let mut saved = Vec::new();
    let failed = loop {
        let answer = service.create(&json!({"text": large})).await;
        if answer.status != 200 {
            break answer;
        }
        saved.push(Saved::of(&answer).id);
        assert!(saved.len() < 1000, "the file grows without end");
    };
    failed.assert_error(500, "internal_error", "Internal server error");
    for id in &saved {
        assert_eq!(service.read(id, "").await.status, 200);
    }
}
