//! Every command that changes something has its event, or a reason why it has none: a walk over the
//! manual, which has a page for each command.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::json;

use crate::events_of_app::events;
use crate::program;
use crate::service::{Backend, LENS_FILE, PRISM, PRISM_FILE, Service, text};

on_both!(every_changing_command_has_its_event);

/// Commands that have no event, and why. A command that is neither here nor done by the walk fails the
/// test: decide which it is.
const WITHOUT: [(&str, &str); 23] = [
    (
        "serve",
        "what it changes has its events: see the app and the purges",
    ),
    ("health", "asks a node"),
    ("migrate", "changes the schema, which belongs to no account"),
    ("backup", "copies the file of all accounts, as `cp` does"),
    ("completions", "writes a script"),
    ("model check", "asks a model and saves nothing"),
    ("account list", "reads"),
    ("key list", "reads"),
    ("person list", "reads"),
    ("prism list", "reads"),
    ("prism show", "reads"),
    ("prism lint", "reads a file"),
    ("lens show", "reads"),
    ("lens preview", "reads"),
    ("lens cutoffs", "reads"),
    ("results list", "shows what is stored on a terminal"),
    ("results show", "shows what is stored on a terminal"),
    (
        "results retry",
        "makes results, each of which says that the terminal made it",
    ),
    (
        "try",
        "makes a result, which says that the terminal made it",
    ),
    ("evaluate", "reads and prints measures"),
    ("compare", "reads and prints measures"),
    ("events", "reads what the operator may read in the database"),
    ("demo", "has a database of its own: a test of its own below"),
];

/// The commands by the pages of their manual, without those that only hold others.
async fn commands(folder: &Path) -> BTreeSet<String> {
    program::run(folder, &[], &["man", "manual"]).await.done();
    let pages: BTreeSet<String> = std::fs::read_dir(folder.join("manual"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .map(|name| name.strip_suffix(".1").unwrap().to_owned())
        .collect();
    let holds_others = |page: &String| {
        let beginning = format!("{page}-");
        pages.iter().any(|other| other.starts_with(&beginning))
    };
    let leaves = pages.iter().filter(|page| !holds_others(page));
    leaves
        .map(|page| page.strip_prefix("refract-").unwrap().replace('-', " "))
        .collect()
}

struct Walk<'a> {
    service: &'a Service,
    known: usize,
    done: BTreeSet<String>,
}

impl Walk<'_> {
    async fn added(&mut self) -> Vec<String> {
        let mut added = events(self.service).await;
        let all = added.len();
        added.truncate(all - self.known);
        self.known = all;
        added.reverse();
        for event in &added {
            assert_eq!(
                (&event["by"], &event["by_kind"]),
                (&json!("operator"), &json!("operator"))
            );
            assert_eq!(event["request_id"], json!(null), "a command has no request");
        }
        added.iter().map(|event| text(event, "action")).collect()
    }

    /// Runs a command, whose name is the first words of its arguments, and expects these events.
    async fn run(&mut self, words: usize, arguments: &[&str], expected: &[&str]) {
        let ended = self.service.run(arguments).await;
        assert_eq!(ended.code, Some(0), "{arguments:?}: {ended:?}");
        assert_eq!(self.added().await, expected, "{arguments:?}");
        self.done.insert(arguments[..words].join(" "));
    }
}

async fn every_changing_command_has_its_event(backend: Backend) {
    let service = Service::start(backend).await;
    let first: Vec<_> = events(&service).await;
    let first: Vec<_> = first
        .iter()
        .rev()
        .map(|event| text(event, "action"))
        .collect();
    assert_eq!(first, ["account_created", "key_created", "prism_created"]);
    let made = service
        .create(&json!({"text": "a text", "ref": "r-1"}))
        .await;
    let result = text(&made.value(), "id");
    let gold = service.folder.path().join("gold.csv");
    std::fs::write(&gold, "text,expected_angry\nWhere is it?,no\n").unwrap();
    let gold = gold.to_str().unwrap();
    let marks = service.folder.path().join("marks.csv");
    std::fs::write(&marks, format!("result_id,angry\n{result},yes\n")).unwrap();
    let marks = marks.to_str().unwrap();
    let mut walk = Walk {
        service: &service,
        known: first.len(),
        done: BTreeSet::new(),
    };
    walk.run(2, &["key", "create", "--name", "one"], &["key_created"])
        .await;
    let revoke = ["key", "revoke", &service.key_id];
    walk.run(2, &revoke, &["key_revoked"]).await;
    walk.run(2, &revoke, &[]).await;
    walk.run(2, &["prism", "create", PRISM_FILE], &["prism_created"])
        .await;
    walk.run(2, &["prism", "save", PRISM, PRISM_FILE], &["version_saved"])
        .await;
    let rename = ["prism", "rename", PRISM, "Inbox"];
    walk.run(2, &rename, &["prism_renamed"]).await;
    walk.run(2, &rename, &[]).await;
    for (command, action) in [("archive", "prism_archived"), ("restore", "prism_restored")] {
        walk.run(2, &["prism", command, PRISM], &[action]).await;
        walk.run(2, &["prism", command, PRISM], &[]).await;
    }
    let set = ["lens", "set", PRISM, LENS_FILE];
    walk.run(2, &set, &["lens_set"]).await;
    walk.run(2, &set, &[]).await;
    walk.run(2, &["lens", "reset", PRISM], &["lens_reset"])
        .await;
    let invite = ["person", "invite", "ada@example.com", "--role", "owner"];
    walk.run(2, &invite, &["person_invited"]).await;
    let invite = ["person", "invite", "ada@example.com", "--role", "editor"];
    walk.run(2, &invite, &["person_invited", "role_set"]).await;
    walk.run(
        2,
        &["person", "reset", "ada@example.com"],
        &["link_renewed"],
    )
    .await;
    walk.run(
        2,
        &["person", "remove", "ada@example.com"],
        &["person_removed"],
    )
    .await;
    walk.run(2, &["results", "export", PRISM], &["results_exported"])
        .await;
    let import = ["marks", "import", PRISM, marks];
    walk.run(2, &["marks", "import", PRISM, marks, "--dry-run"], &[])
        .await;
    walk.run(2, &import, &["marks_imported"]).await;
    walk.run(2, &import, &[]).await;
    walk.run(2, &["marks", "export", PRISM], &["marks_exported"])
        .await;
    let of_run = ["file_run_started", "file_run_ended"];
    walk.run(1, &["run", PRISM, gold], &of_run).await;
    walk.run(1, &["check", PRISM, gold], &of_run).await;
    walk.run(1, &["run", PRISM, gold, "--dry-run"], &[]).await;
    walk.run(
        2,
        &["results", "erase", "--ref", "r-1"],
        &["results_erased"],
    )
    .await;
    let purge = [
        "results",
        "purge",
        PRISM,
        "--before",
        "2100-01-01T00:00:00Z",
    ];
    let dry: Vec<_> = purge.into_iter().chain(["--dry-run"]).collect();
    walk.run(2, &dry, &[]).await;
    walk.run(2, &purge, &["results_purged"]).await;
    walk.run(2, &purge, &[]).await;
    let create = service.run(&["account", "create", "other"]).await;
    create.done();
    assert_eq!(walk.added().await, [""; 0], "another account's");
    let theirs = ["events", "--json", "--account", "other"];
    let theirs = service.run(&theirs).await.lines();
    assert_eq!(theirs.len(), 1);
    assert_eq!(theirs[0]["action"], "account_created");
    assert_eq!(theirs[0]["target"], "other");
    walk.done.insert("account create".to_owned());

    let reasons = WITHOUT.iter().map(|(command, _)| (*command).to_owned());
    let decided: BTreeSet<String> = walk.done.iter().cloned().chain(reasons).collect();
    let all = commands(service.folder.path()).await;
    assert!(all.len() > 30, "{all:?}");
    let undecided: Vec<_> = all.difference(&decided).collect();
    assert_eq!(undecided, [""; 0], "commands without an event or a reason");
    let gone: Vec<_> = decided.difference(&all).collect();
    assert_eq!(gone, [""; 0], "there are no such commands");
}

#[tokio::test]
async fn the_demo_writes_down_what_it_makes() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [
        ("REFRACT_LISTEN", "127.0.0.1:0"),
        ("REFRACT_OPS_LISTEN", "off"),
    ];
    program::run(folder.path(), &settings, &["demo", "--once"])
        .await
        .done();
    let database = [("DATABASE_URL", "sqlite://refract-demo.db")];
    let events = program::run(folder.path(), &database, &["events", "--json"]).await;
    let mut actions: Vec<_> = events
        .lines()
        .iter()
        .map(|event| text(event, "action"))
        .collect();
    actions.reverse();
    assert_eq!(actions, ["account_created", "prism_created", "key_created"]);
}
