//! `refract prism lint`: warnings about the wording of a prism file, without a database.

use refract_test_stack::program::{Ended, run};
use refract_test_stack::service::PRISM_FILE;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with `prism.json`, whose choice has two options that differ only in a number.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = json!({
        "name": "Triage",
        "fields": [{ "key": "text", "label": "Message" }],
        "questions": [
            { "key": "calm", "type": "yes_no", "text": "Isn't the writer angry?" },
            {
                "key": "topic", "type": "choice", "text": "What is it about?",
                "options": [{ "label": "Refund" }, { "label": "Refunds" }],
            },
        ],
    });
    std::fs::write(folder.path().join("prism.json"), file.to_string()).unwrap();
    folder
}

async fn lint(folder: &TempDir, arguments: &[&str]) -> Ended {
    // a database that cannot be opened: the command must not try
    let settings = [("DATABASE_URL", "sqlite:///nowhere/at/all.db")];
    let arguments = [&["prism", "lint"], arguments].concat();
    run(folder.path(), &settings, &arguments).await
}

#[tokio::test]
async fn a_warning_is_a_block_with_path_rule_finding_and_reason() {
    let folder = folder();
    let ended = lint(&folder, &["prism.json"]).await;
    assert_eq!(ended.stderr, "prism.json has 2 warnings.\n");
    let words = ended.done();
    let blocks: Vec<&str> = words.trim_end().split("\n\n").collect();
    assert_eq!(blocks.len(), 2, "{words}");
    let expected = "questions.0.text negated-question\n  \
                    the question is a negation, with 'isn't'.\n  People misread negations";
    assert!(blocks[0].starts_with(expected), "{words}");
    let expected = "questions.1.options.1 similar-labels\n  'Refund' and 'Refunds' are nearly";
    assert!(blocks[1].starts_with(expected), "{words}");
    assert!(!words.contains('\u{1b}'), "{words}");
}

#[tokio::test]
async fn warnings_are_json_lines_on_demand() {
    let folder = folder();
    let ended = lint(&folder, &["prism.json", "--json"]).await;
    assert!(
        ended
            .stdout
            .starts_with("{\"rule\":\"negated-question\",\"path\":"),
        "{ended:?}"
    );
    let lines = ended.lines();
    let seen: Vec<_> = lines
        .iter()
        .map(|line| (&line["rule"], &line["path"]))
        .collect();
    assert_eq!(
        seen,
        [
            (&json!("negated-question"), &json!("questions.0.text")),
            (&json!("similar-labels"), &json!("questions.1.options.1")),
        ]
    );
    for line in &lines {
        let keys: Vec<_> = line.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["message", "path", "reason", "rule"]);
        assert!(line.as_object().unwrap().values().all(Value::is_string));
    }
}

#[tokio::test]
async fn a_rule_is_switched_off_by_name() {
    let folder = folder();
    let one = ["prism.json", "--json", "--allow", "similar-labels"];
    let lines = lint(&folder, &one).await.lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(lines[0]["rule"], "negated-question");
    let both = [&one[..], &["--allow", "negated-question", "--strict"]].concat();
    let ended = lint(&folder, &both).await;
    assert_eq!(ended.stderr, "prism.json has no warnings.\n");
    assert_eq!(ended.done(), "");
    let ended = lint(&folder, &["prism.json", "--allow", "similar"]).await;
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(2), ""),
        "{ended:?}"
    );
    for name in ["similar-labels", "two-questions", "descending-scale"] {
        assert!(ended.stderr.contains(name), "{ended:?}");
    }
}

#[tokio::test]
async fn strict_ends_with_1_after_the_warnings() {
    let folder = folder();
    let ended = lint(&folder, &["prism.json", "--json", "--strict"]).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(ended.stdout.lines().count(), 2, "{ended:?}");
    assert_eq!(
        ended.stderr,
        "error: prism.json has 2 warnings: change the wording, or switch a rule off with --allow\n"
    );
}

#[tokio::test]
async fn the_example_prism_passes_and_makes_no_database() {
    let folder = tempfile::tempdir().unwrap();
    let ended = run(
        folder.path(),
        &[],
        &["prism", "lint", PRISM_FILE, "--strict"],
    )
    .await;
    assert!(ended.stderr.ends_with(" has no warnings.\n"), "{ended:?}");
    assert_eq!(ended.done(), "");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn an_invalid_file_is_refused_as_create_refuses_it() {
    let folder = folder();
    let wrong = json!({ "name": "", "fields": [], "questions": [], "colour": 1 });
    std::fs::write(folder.path().join("wrong.json"), wrong.to_string()).unwrap();
    let linted = lint(&folder, &["wrong.json"]).await.refused();
    run(folder.path(), &[], &["migrate"]).await.done();
    let created = run(folder.path(), &[], &["prism", "create", "wrong.json"]).await;
    assert_eq!(linted, created.refused());
    assert!(linted.starts_with("error: Invalid request: "), "{linted}");
    let missing = lint(&folder, &["missing.json"]).await.refused();
    assert!(
        missing.starts_with("error: cannot read missing.json: "),
        "{missing}"
    );
}
