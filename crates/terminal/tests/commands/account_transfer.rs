//! `refract export-account` and `refract import-account`: an account leaves one database and goes on
//! in another.

use std::collections::BTreeMap;
use std::path::Path;

use refract_test_stack::program::{self, Ended};
use refract_test_stack::service::{
    Backend, LENS_FILE, PRISM, PRISM_FILE, Service, Setup, events, text,
};
use refract_test_support::on_both;
use serde_json::{Value, json};

use crate::runs::started_run;

on_both!(
    an_account_goes_on_in_the_other_database,
    what_is_no_whole_export_is_refused,
    an_import_needs_an_empty_account,
);

const ODD: &str = "a\u{0301} \u{1f469}\u{200d}\u{1f680} \u{202e}x\u{2028} \"\\ '); DROP";

fn other(backend: Backend) -> Backend {
    match backend {
        Backend::Sqlite => Backend::Postgres,
        Backend::Postgres => Backend::Sqlite,
    }
}

/// An account with all kinds of rows that commands and the API make.
async fn filled(backend: Backend) -> (Service, Vec<String>) {
    let service = Service::start(backend).await;
    let body = json!({"text": ODD, "ref": "r-1", "context": ODD, "idempotency_key": "k-1"});
    let answered = text(&service.create(&body).await.value(), "id");
    let plain = json!({"text": ODD, "ref": ODD});
    let failed = service.failed(&plain).await.value();
    let failed = text(&failed, "id");
    let retried = text(&service.retry(&failed).await.value(), "id");
    let erased = json!({"text": "gone", "ref": "gone"});
    service.create(&erased).await;
    let marks = format!("result_id,topic,angry\n{answered},billing,yes\n");
    service.write("marks.csv", marks);
    let gold = "text,expected_angry\nWhere is it?,no\n";
    service.write("gold.csv", gold);
    started_run(&service).await;
    let folder = service.folder.path().to_str().unwrap().to_owned();
    let (marks, gold) = (format!("{folder}/marks.csv"), format!("{folder}/gold.csv"));
    for command in [
        &["results", "erase", "--ref", "gone", "--no-rewrite"][..],
        &["marks", "import", PRISM, &marks, "--by", ODD],
        &["examples", "import", PRISM, &gold],
        &["lens", "set", PRISM, LENS_FILE],
        &["prism", "save", PRISM, PRISM_FILE],
        &["person", "invite", "ada@example.com"],
        &["person", "invite", "gone@example.com"],
        &["person", "remove", "gone@example.com"],
        &["key", "create", "--name", "second"],
        &["account", "set", "--budget=200", "--model-prices=1,1,1"],
        &["prism", "create", PRISM_FILE],
        &["prism", "archive", "support-triage-2"],
        // counts what there is
        &["watch", PRISM],
    ] {
        let ended = service.run(command).await;
        assert_eq!(ended.code, Some(0), "{command:?}: {ended:?}");
    }
    (service, vec![answered, failed, retried])
}

/// The files of an export by name, and the manifest.
fn files(folder: &Path) -> (BTreeMap<String, Vec<Value>>, Value) {
    let manifest = std::fs::read(folder.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let listed = manifest["files"].as_array().unwrap();
    let files = listed.iter().map(|listed| {
        let name = text(listed, "file");
        let content = std::fs::read_to_string(folder.join(&name)).unwrap();
        let rows: Vec<Value> = content
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(listed["rows"], rows.len(), "{name}");
        assert_eq!(listed["bytes"], content.len(), "{name}");
        (name, rows)
    });
    (files.collect(), manifest)
}

async fn export(service: &Service, name: &str) -> String {
    let folder = service.folder.path().join(name);
    let folder = folder.to_str().unwrap().to_owned();
    let printed = service.run(&["export-account", &folder]).await.object();
    assert_eq!(printed["format"], 1);
    folder
}

/// Imports into a database that nothing uses yet.
async fn import(service: &Service, database: &str, folder: &str) -> Ended {
    let settings = [("DATABASE_URL", database)];
    let arguments = ["import-account", folder];
    program::run(service.folder.path(), &settings, &arguments).await
}

async fn an_account_goes_on_in_the_other_database(backend: Backend) {
    let (service, results) = filled(backend).await;
    let folder = export(&service, "export").await;
    let (first, manifest) = files(Path::new(&folder));
    assert_eq!(first["results.jsonl"].len(), 3);
    assert_eq!(first["people.jsonl"].len(), 2);
    let all = std::fs::read_dir(&folder).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        std::fs::read_to_string(path).unwrap()
    });
    let all: String = all.collect();
    assert!(
        !all.contains(&service.key) && !all.contains("password"),
        "no secret is exported"
    );

    // a service whose account `default` is another: it is imported beside it
    let setup = Setup {
        nodes: 0,
        ..Setup::default()
    };
    let mut there = Service::with(other(backend), setup).await;
    let arguments = ["import-account", &folder, "--account", "moved"];
    let imported = there.run(&arguments).await;
    assert!(imported.stderr.contains("Not kept:"), "{imported:?}");
    let imported = imported.object();
    assert_eq!(imported["outcome"], "imported");
    assert_eq!(imported["id"], manifest["account"]["id"]);
    let again = there.run(&arguments).await.object();
    assert_eq!(again["outcome"], "unchanged");

    let second = there.folder.path().join("again");
    let second = second.to_str().unwrap().to_owned();
    let arguments = ["export-account", &second, "--account", "moved"];
    there.run(&arguments).await.done();
    let (second, _) = files(Path::new(&second));
    compare(first, second);

    the_api_answers_the_same(&service, &mut there, &results).await;
    let events = ["events", "--json", "--account", "moved"];
    let events = there.run(&events).await.lines();
    let actions: Vec<_> = events.iter().map(|event| text(event, "action")).collect();
    for action in [
        "account_import_started",
        "account_imported",
        "account_exported",
    ] {
        assert!(
            actions.iter().any(|found| found == action),
            "{action}: {actions:?}"
        );
    }
    assert_eq!(actions.last().map(String::as_str), Some("account_created"));
}

/// The API of the other database gives the same bytes, to a key of the imported account alone.
async fn the_api_answers_the_same(service: &Service, there: &mut Service, results: &[String]) {
    let key = ["key", "create", "--account", "moved"];
    let key = text(&there.run(&key).await.object(), "key");
    there.start_node(&[]).await;
    let old_key = std::mem::replace(&mut there.key, service.key.clone());
    assert_eq!(
        there.read(&results[0], "").await.status,
        401,
        "old keys are revoked"
    );
    there.key = old_key;
    assert_eq!(
        there.read(&results[0], "").await.status,
        404,
        "of another account"
    );
    there.key = key;
    for result in results {
        for query in ["", "?format=csv", "?format=jsonl", "?format=raw"] {
            let (here, moved) = (
                service.read(result, query).await,
                there.read(result, query).await,
            );
            assert_eq!(here.status, 200, "{here:?}");
            assert_eq!(here.body, moved.body, "{query}");
        }
    }
    let body = json!({"text": ODD, "ref": "r-1", "context": ODD, "idempotency_key": "k-1"});
    let repeated = there.create(&body).await.value();
    assert_eq!(
        text(&repeated, "id"),
        results[0],
        "an idempotency key stays one"
    );
}

/// Both exports have the same rows, except for what an import replaces.
fn compare(mut first: BTreeMap<String, Vec<Value>>, mut second: BTreeMap<String, Vec<Value>>) {
    let events = second.get_mut("events.jsonl").unwrap();
    let of_import = [
        "account_import_started",
        "account_imported",
        "account_exported",
    ];
    let made_before = first["events.jsonl"].len();
    assert_eq!(events.len(), made_before + of_import.len());
    events.truncate(made_before);
    assert_ne!(
        first["accounts.jsonl"][0]["name"],
        second["accounts.jsonl"][0]["name"]
    );
    for files in [&mut first, &mut second] {
        for (file, replaced) in [
            ("accounts.jsonl", &["name"][..]),
            ("people.jsonl", &["name"]),
            ("api_keys.jsonl", &["revoked_at"]),
            ("file_runs.jsonl", &["state", "ended_at"]),
            ("retests.jsonl", &["state", "ended_at"]),
        ] {
            for row in files.get_mut(file).unwrap() {
                for column in replaced {
                    row[*column] = Value::Null;
                }
            }
        }
    }
    for (file, rows) in &first {
        assert_eq!(rows, &second[file], "{file}");
    }
    let without: Vec<_> = first
        .iter()
        .filter(|(_, rows)| rows.is_empty())
        .map(|(file, _)| file.as_str())
        .collect();
    // the rows of these are imported and exported in a test of `refract-persistence`
    let may_be_empty = [
        "abstentions.jsonl",
        "counted_results.jsonl",
        "drafts.jsonl",
        "example_checks.jsonl",
        "other_marks.jsonl",
        "usage_days.jsonl",
        "retest_answers.jsonl",
        "retests.jsonl",
        "watch_hours.jsonl",
    ];
    for file in without {
        assert!(may_be_empty.contains(&file), "{file} has no row");
    }
}

async fn what_is_no_whole_export_is_refused(backend: Backend) {
    let service = Service::start(backend).await;
    service.create(&json!({"text": ODD})).await;
    let folder = export(&service, "export").await;
    let target = service.folder.path().join("target.db");
    let target = format!("sqlite://{}", target.display());
    let settings = [("DATABASE_URL", target.as_str())];
    let made = program::run(service.folder.path(), &settings, &["migrate"]);
    made.await.done();
    let refused = async |folder: &str, words: &str| {
        let ended = import(&service, &target, folder).await.refused();
        assert!(ended.contains(words), "{words}: {ended}");
        assert!(!ended.contains("DROP"), "no text is repeated: {ended}");
    };
    let taken = service.run(&["export-account", &folder]).await.refused();
    assert!(taken.contains("name a new or empty folder"), "{taken}");
    refused("nowhere", "there is no manifest.json").await;
    let manifest = Path::new(&folder).join("manifest.json");
    let whole = std::fs::read_to_string(&manifest).unwrap();
    let changed = |from: &str, to: &str| {
        assert!(whole.contains(from), "{whole}");
        std::fs::write(&manifest, whole.replace(from, to)).unwrap();
    };
    changed("\"format\": 1", "\"format\": 2");
    refused(&folder, "the export has format 2").await;
    changed("\"texts\": true", "\"texts\": false");
    refused(&folder, "--without-texts").await;
    changed("results.jsonl", "../results.jsonl");
    refused(&folder, "is no file of an export").await;
    std::fs::write(&manifest, "{}").unwrap();
    refused(&folder, "is not the manifest").await;
    std::fs::write(&manifest, &whole).unwrap();
    let results = Path::new(&folder).join("results.jsonl");
    let rows = std::fs::read(&results).unwrap();
    std::fs::write(&results, &rows[1..]).unwrap();
    refused(&folder, "results.jsonl was changed or cut").await;
    std::fs::remove_file(&results).unwrap();
    refused(&folder, "cannot read results.jsonl").await;
    // an export that did not end is made again
    std::fs::remove_file(&manifest).unwrap();
    export(&service, "export").await;

    let whole_folder = folder;
    let folder = service.folder.path().join("part");
    let part = folder.to_str().unwrap();
    let arguments = [
        "export-account",
        part,
        "--since",
        "2026-01-01",
        "--without-texts",
    ];
    service.run(&arguments).await.object();
    let (files, _) = files(&folder);
    assert_eq!(files["results.jsonl"][0]["fields"], Value::Null);
    refused(part, "is a part of an account").await;
    import(&service, &target, &whole_folder).await.object();
    std::fs::write(folder.join("mine.txt"), "").unwrap();
    std::fs::remove_file(folder.join("manifest.json")).unwrap();
    let taken = service.run(&["export-account", part]).await.refused();
    assert!(taken.contains("mine.txt is there already"), "{taken}");
}

async fn an_import_needs_an_empty_account(backend: Backend) {
    let setup = Setup {
        nodes: 0,
        ..Setup::default()
    };
    let service = Service::with(backend, setup).await;
    service
        .run(&["person", "invite", "ada@example.com"])
        .await
        .done();
    let folder = export(&service, "export").await;
    let same = ["import-account", &folder, "--account", "copy"];
    let same = service.run(&same).await.refused();
    assert!(same.contains("as 'default': its ids are in use"), "{same}");
    let full = service.run(&["import-account", &folder]).await.refused();
    assert!(full.contains("is not empty, it has prisms"), "{full}");

    let there = Service::with(
        other(backend),
        Setup {
            nodes: 0,
            ..Setup::default()
        },
    )
    .await;
    let full = there.run(&["import-account", &folder]).await.refused();
    assert!(full.contains("--account NAME"), "{full}");
    there
        .run(&["person", "invite", "ada@example.com"])
        .await
        .done();
    there.run(&["account", "create", "empty"]).await.done();
    let before = events(&there).await;
    let arguments = ["import-account", &folder, "--account", "empty"];
    let imported = there.run(&arguments).await;
    let removed = "their addresses sign in to other accounts: 1 people";
    assert!(imported.stderr.contains(removed), "{imported:?}");
    assert_ne!(imported.object()["id"], before[0]["target"]);
    assert_eq!(
        events(&there).await.len(),
        before.len(),
        "the other account is as it was"
    );
    let people = ["person", "list", "--json", "--account", "empty"];
    assert_eq!(there.run(&people).await.lines().len(), 0);
    let prisms = ["prism", "list", "--json", "--account", "empty"];
    assert_eq!(there.run(&prisms).await.lines().len(), 1);
}

#[tokio::test]
async fn an_archive_goes_to_a_pipe() {
    let setup = Setup {
        nodes: 0,
        ..Setup::default()
    };
    let service = Service::with(Backend::Sqlite, setup).await;
    let ended = service
        .run(&["export-account", "-", "--without-texts"])
        .await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("written to stdout."), "{ended:?}");
    for name in [
        "account/manifest.json",
        "account/prisms.jsonl",
        "account/events.jsonl",
    ] {
        assert!(ended.stdout.contains(name), "{name}");
    }
}
