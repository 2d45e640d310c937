//! Callers' texts on a terminal and in a pipe: nothing steers a terminal, and a pipe gets every
//! byte.

use std::time::Duration;

use refract_test_stack::http::within_patience;
use refract_test_stack::service::{Backend, PRISM, Service, example_prism, text};
use refract_test_support::on_both;
use serde_json::{Value, json};

use crate::program::start;
use crate::program::{self, Ended};
use crate::terminal::OnTerminal;

on_both!(what_callers_sent_cannot_steer_a_terminal);

/// Characters that steer a terminal or are invisible: the one-character CSI, DEL, an override and
/// an isolate of the direction, characters without a width.
const HIDDEN: [char; 7] = [
    '\u{9b}', '\u{7f}', '\u{202e}', '\u{2066}', '\u{200b}', '\u{feff}', '\u{ad}',
];

/// A word with all [`HIDDEN`] characters.
fn hostile(word: &str) -> String {
    let hidden: String = HIDDEN.iter().collect();
    format!("{word}{hidden}2J")
}

/// The escaped form of [`HIDDEN`].
const ESCAPED: &str = "\\u009b\\u007f\\u202e\\u2066\\u200b\\ufeff\\u00ad";

/// The output of a command on a wide terminal.
async fn on_terminal(service: &Service, arguments: &[&str]) -> (Option<i32>, String) {
    let url = service.model.url();
    let settings = [
        ("DATABASE_URL", service.database_url.as_str()),
        ("REFRACT_MODEL_URL", url.as_str()),
    ];
    let folder = service.folder.path();
    let mut terminal = OnTerminal::start(folder, 400, &settings, arguments);
    let code = terminal.end().await;
    (code, terminal.seen)
}

#[track_caller]
fn assert_harmless(arguments: &[&str], seen: &str) {
    let found = seen.chars().find(|c| HIDDEN.contains(c));
    assert_eq!(found, None, "{arguments:?}: {seen:?}");
}

/// A service whose prism, names and results contain hidden characters, with the ids of an answered
/// and of a failed result.
async fn hostile_service(backend: Backend) -> (Service, String, String) {
    let service = start(backend).await;
    let mut prism = example_prism();
    prism["name"] = json!(hostile("prism"));
    prism["questions"][0]["text"] = json!(hostile("question"));
    prism["questions"][0]["options"][0] = json!({"key": "billing", "label": hostile("label")});
    let file = service.file("hostile.json", &prism);
    service.run(&["prism", "save", PRISM, &file]).await.done();
    service
        .run(&["account", "create", &hostile("account")])
        .await
        .done();
    service
        .run(&["key", "create", "--name", &hostile("key")])
        .await
        .done();
    prism["name"] = json!(hostile("applied"));
    let file = service.file(&format!("{PRISM}.prism.json"), &prism);
    let note = hostile("note");
    service.run(&["apply", &file, "--note", &note]).await.done();
    let body =
        json!({"text": hostile("text"), "ref": hostile("ref"), "context": hostile("context")});
    let id = text(&service.create(&body).await.value(), "id");
    let failed = service.failed(&body).await;
    let failed = text(&failed.value(), "id");
    let rows = format!(
        "text,ref,{}\n{},{},\n",
        hostile("note"),
        hostile("row"),
        hostile("ref")
    );
    service.write("in.csv", &rows);
    let gold = format!("text,ref,expected_topic\nx,{},other\n", hostile("ref"));
    service.write("gold.csv", gold);
    service.write(
        "marks.csv",
        format!("ref,topic\n{},other\n", hostile("ref")),
    );
    (service, id, failed)
}

async fn what_callers_sent_cannot_steer_a_terminal(backend: Backend) {
    let (service, id, failed) = hostile_service(backend).await;
    // when a key was used is saved a moment later, which would change its row between two lists
    let is_unused = async || {
        let keys = service.run(&["key", "list", "--json"]).await.lines();
        keys.iter().all(|key| key["last_used_at"].is_null())
    };
    let used = async {
        while is_unused().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    within_patience(used).await;
    let by = hostile("marker");
    let tried = hostile("tried");
    for (arguments, shows) in [
        (
            &["marks", "import", PRISM, "marks.csv", "--by", &by][..],
            false,
        ),
        (&["results", "list", PRISM], true),
        (&["results", "list", PRISM, "--json"], true),
        (&["results", "show", &id], true),
        (&["results", "show", &failed], true),
        (&["results", "show", &id, "--json"], true),
        (&["results", "show", &id, "--format", "json"], true),
        (&["results", "show", &id, "--format", "raw"], true),
        (&["results", "show", &id, "--format", "csv"], true),
        (&["results", "show", &id, "--format", "tsv"], true),
        (&["results", "show", &id, "--format", "jsonl"], true),
        (&["results", "export", PRISM], true),
        (&["results", "export", PRISM, "--format", "tsv"], true),
        (&["results", "export", PRISM, "--format", "jsonl"], true),
        (&["marks", "export", PRISM, "--format", "jsonl"], true),
        (&["key", "list"], true),
        (&["key", "list", "--json"], true),
        (&["events"], true),
        (&["events", "--json"], true),
        (&["events", "--by", &tried], true),
        (&["apply", &tried], true),
        (&["account", "list"], true),
        (&["account", "list", "--json"], true),
        (&["prism", "list"], true),
        (&["prism", "list", "--json"], true),
        (&["prism", "show", PRISM], true),
        (&["prism", "show", PRISM, "--json"], true),
        (&["lens", "cutoffs", PRISM, "angry"], false),
        (
            &[
                "lens",
                "preview",
                PRISM,
                refract_test_stack::service::LENS_FILE,
            ],
            false,
        ),
        (&["try", PRISM, "--text", "x", "--ref", &tried], true),
        (
            &[
                "try", PRISM, "--text", "x", "--ref", &tried, "--format", "csv",
            ],
            true,
        ),
        (&["run", PRISM, "in.csv"], true),
        (&["run", PRISM, "in.csv", "--format", "jsonl"], true),
        (&["run", PRISM, "in.csv", "--dry-run"], true),
        (&["check", PRISM, "gold.csv"], true),
        (&["evaluate", PRISM, "--question", "topic"], true),
        (&["evaluate", PRISM, "--question", &tried], true),
        (&["prism", "show", &tried], false),
        (&["results", "export", PRISM, "--output", &tried], true),
        (&["run", PRISM, &tried], true),
        (&[tried.as_str()], true),
        (&["results", "list", PRISM, "--status", &tried], true),
    ] {
        let (_, seen) = on_terminal(&service, arguments).await;
        assert_harmless(arguments, &seen);
        assert_eq!(seen.contains(ESCAPED), shows, "{arguments:?}: {seen:?}");
    }
    json_has_equal_values_and_pipes_equal_bytes(&service, &id, &tried).await;
}

async fn json_has_equal_values_and_pipes_equal_bytes(service: &Service, id: &str, tried: &str) {
    // JSON has equal values on a terminal, equal bytes in a pipe
    let shown = ["results", "show", id, "--json"];
    let (code, seen) = on_terminal(service, &shown).await;
    assert_eq!(code, Some(0), "{seen}");
    let piped = service.run(&shown).await.done();
    assert!(piped.contains(&hostile("ref")), "{piped:?}");
    let read = |json: &str| serde_json::from_str::<Value>(json.trim()).unwrap();
    assert_eq!(read(&seen), read(&piped));
    for (command, word) in [
        (&["events", "--json"][..], "note"),
        (&["key", "list", "--json"], "key"),
    ] {
        let (code, seen) = on_terminal(service, command).await;
        assert_eq!(code, Some(0), "{seen}");
        let piped = service.run(command).await.done();
        let values = |lines: &str| lines.lines().map(read).collect::<Vec<_>>();
        assert_eq!(values(&seen), values(&piped));
        assert!(piped.contains(&hostile(word)), "{piped:?}");
    }
    let exported = service.run(&["results", "export", PRISM]).await.done();
    assert!(exported.contains(&hostile("text")), "{exported:?}");
    // output for people is escaped in a pipe too, which may end on a terminal
    for words in [
        &["results", "list", PRISM][..],
        &["prism", "list"],
        &["key", "list"],
        &["events"],
    ] {
        let listed: Ended = service.run(words).await;
        assert_harmless(words, &listed.done());
    }
    let settings = [("DATABASE_URL", service.database_url.as_str())];
    let wrong = program::run(service.folder.path(), &settings, &[tried]).await;
    assert_harmless(&[tried], &wrong.stderr);
}
