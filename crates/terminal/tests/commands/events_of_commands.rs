//! Every command that changes data has an event, or a documented reason for none: a walk over the
//! manual, which has a page for each command.

use std::collections::BTreeSet;
use std::path::Path;

use refract_test_stack::program;
use refract_test_stack::service::events;
use refract_test_stack::service::{
    Backend, LENS_FILE, PRISM, PRISM_FILE, Service, Setup, example_prism, text,
};
use refract_test_support::on_both;
use serde_json::json;

use crate::runs::started_run;

on_both!(every_changing_command_has_its_event);

/// Commands without an event, with the reason. A command that is neither here nor done by the walk
/// fails the test: decide which it is.
const WITHOUT: [(&str, &str); 39] = [
    (
        "serve",
        "what it changes has its events: see the app and the purges",
    ),
    ("health", "asks a node"),
    ("doctor", "tries what a node needs"),
    ("migrate", "changes the schema, which belongs to no account"),
    ("settings", "shows what is set"),
    ("backup", "copies the file of all accounts, as `cp` does"),
    ("completions", "writes a script"),
    ("help", "explains a command"),
    ("model check", "asks a model and saves nothing"),
    ("model detect", "asks a server and saves nothing"),
    (
        "import account",
        "its events are in the account that it fills: see `account_transfer`",
    ),
    ("examples list", "reads"),
    ("lens history", "reads"),
    ("retests list", "reads"),
    ("account list", "reads"),
    ("key list", "reads"),
    ("person list", "reads"),
    ("prism list", "reads"),
    ("prism show", "reads"),
    ("prism init", "prints a file to begin with"),
    ("prism schema", "prints a schema"),
    ("prism lint", "reads a file"),
    ("lens show", "reads"),
    ("lens preview", "reads"),
    ("lens cutoffs", "reads"),
    ("lens schema", "prints a schema"),
    ("marks schema", "prints a schema"),
    ("runs list", "reads"),
    ("runs show", "reads"),
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
    ("watch", "counts results anew and prints what changed"),
    ("usage", "reads and prints sums"),
    ("events", "reads what the operator may read in the database"),
    ("demo", "has a database of its own: a test of its own below"),
];

/// The commands that have a page in the manual, without mere groups of commands.
pub(crate) async fn commands(folder: &Path) -> BTreeSet<String> {
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

    /// Runs a command with arguments, and expects these events.
    async fn run(&mut self, command: &str, arguments: &[&str], expected: &[&str]) {
        let all: Vec<_> = command
            .split(' ')
            .chain(arguments.iter().copied())
            .collect();
        let ended = self.service.run(&all).await;
        assert_eq!(ended.code, Some(0), "{all:?}: {ended:?}");
        assert_eq!(self.added().await, expected, "{all:?}");
        // as the manual names its pages
        self.done.insert(command.replace('-', " "));
    }
}

/// Walks over the commands that change keys, prisms and people.
async fn walk_over_settings(walk: &mut Walk<'_>) {
    const ADA: &str = "ada@example.com";
    walk.run("key create", &["--name", "one"], &["key_created"])
        .await;
    for (budget, events) in [("200", &["budget_set"][..]), ("200.0", &[])] {
        let set = ["--budget", budget, "--model-prices", "1,1,1"];
        walk.run("account set", &set, events).await;
    }
    walk.run("account set", &["--no-budget"], &["budget_set"])
        .await;
    let key = walk.service.key_id.clone();
    let set = [key.as_str(), "--network", "127.0.0.0/8"];
    walk.run("key set", &set, &["key_changed"]).await;
    walk.run("key set", &set, &[]).await;
    let both = ["key_created", "key_changed"];
    walk.run("key rotate", &[&key], &both).await;
    walk.run("key rotate", &[&key], &[]).await;
    walk.run("key revoke", &[&key], &["key_revoked"]).await;
    walk.run("key revoke", &[&key], &[]).await;
    walk.run("prism create", &[PRISM_FILE], &["prism_created"])
        .await;
    let file = [PRISM, PRISM_FILE];
    walk.run("prism save", &file, &["version_saved"]).await;
    let name = [PRISM, "Inbox"];
    walk.run("prism rename", &name, &["prism_renamed"]).await;
    walk.run("prism rename", &name, &[]).await;
    for (command, action) in [
        ("prism archive", "prism_archived"),
        ("prism restore", "prism_restored"),
        ("lens reset", "lens_reset"),
    ] {
        if action == "lens_reset" {
            let file = [PRISM, LENS_FILE];
            walk.run("lens set", &file, &["lens_set"]).await;
            walk.run("lens set", &file, &[]).await;
        }
        walk.run(command, &[PRISM], &[action]).await;
        walk.run(command, &[PRISM], &[]).await;
    }
    walk.run("lens put-back", &[PRISM, "1"], &["lens_set"])
        .await;
    walk.run("lens put-back", &[PRISM, "1"], &[]).await;
    let owner = [ADA, "--role", "owner"];
    walk.run("person invite", &owner, &["person_invited"]).await;
    let editor = [ADA, "--role", "editor"];
    let expected = ["person_invited", "role_set"];
    walk.run("person invite", &editor, &expected).await;
    walk.run("person role", &[ADA, "reviewer"], &["role_set"])
        .await;
    walk.run("person role", &[ADA, "reviewer"], &[]).await;
    walk.run("person reset", &[ADA], &["link_renewed"]).await;
    // a person who has not joined has no codes to remove
    walk.run("person codes", &["--off", ADA], &[]).await;
    walk.run("person remove", &[ADA], &["person_removed"]).await;
    for state in ["on", "off"] {
        let set = ["--require-codes", state];
        let expected = ["codes_requirement_set"];
        walk.run("account set", &set, &expected).await;
        walk.run("account set", &set, &[]).await;
    }
}

/// Walks over the changes made by applied files.
async fn walk_over_applied_files(walk: &mut Walk<'_>) {
    let service = walk.service;
    let mut prism = example_prism();
    let file = service.file("applied.prism.json", &prism);
    let apply = [file.as_str(), "--note", "as reviewed"];
    let dry: Vec<_> = ["apply"]
        .iter()
        .chain(&apply)
        .chain(&["--dry-run"])
        .copied()
        .collect();
    assert_eq!(service.run(&dry).await.code, Some(2));
    assert_eq!(walk.added().await, [""; 0], "a dry run changes nothing");
    walk.run("apply", &apply, &["prism_created"]).await;
    walk.run("apply", &apply, &[]).await;
    prism["name"] = json!("Applied");
    service.file("applied.prism.json", &prism);
    walk.run("apply", &apply, &["prism_renamed"]).await;
    prism["context"] = json!("We sell boats.");
    service.file("applied.prism.json", &prism);
    let lens = std::fs::read(LENS_FILE).unwrap();
    service.write("applied.lens.json", lens);
    let folder = service.folder.path().to_str().unwrap();
    let both = ["version_saved", "lens_set"];
    walk.run("apply", &[folder], &both).await;
    walk.run("apply", &[folder], &[]).await;
    let all = events(service).await;
    let notes: Vec<_> = all[..4].iter().map(|event| &event["note"]).collect();
    let (nothing, reviewed) = (json!(null), json!("as reviewed"));
    assert_eq!(notes, [&nothing, &nothing, &reviewed, &reviewed]);
    // with one fault, nothing is applied
    prism["context"] = json!("We sell cars.");
    service.file("applied.prism.json", &prism);
    service.write("nobody.lens.json", "{\"columns\":[]}");
    assert_eq!(service.run(&["apply", folder]).await.code, Some(1));
    assert_eq!(walk.added().await, [""; 0], "all or nothing");
}

/// Walks over the commands that ask, export and delete.
async fn walk_over_results(walk: &mut Walk<'_>) {
    let service = walk.service;
    let body = json!({"text": "a text", "ref": "r-1"});
    let made = service.create(&body).await;
    let result = text(&made.value(), "id");
    let gold = service.folder.path().join("gold.csv");
    std::fs::write(&gold, "text,expected_angry\nWhere is it?,no\n").unwrap();
    let gold = gold.to_str().unwrap();
    let marks = service.folder.path().join("marks.csv");
    std::fs::write(&marks, format!("result_id,angry\n{result},yes\n")).unwrap();
    let marks = marks.to_str().unwrap();
    walk.run("results export", &[PRISM], &["results_exported"])
        .await;
    walk.run("marks import", &[PRISM, marks, "--dry-run"], &[])
        .await;
    walk.run("marks import", &[PRISM, marks], &["marks_imported"])
        .await;
    walk.run("marks import", &[PRISM, marks], &[]).await;
    walk.run("marks export", &[PRISM], &["marks_exported"])
        .await;
    let of_run = ["file_run_started", "file_run_ended"];
    walk.run("run", &[PRISM, gold], &of_run).await;
    walk.run("check", &[PRISM, gold], &of_run).await;
    walk.run("run", &[PRISM, gold, "--dry-run"], &[]).await;
    walk.run("examples import", &[PRISM, gold], &["examples_uploaded"])
        .await;
    walk.run("examples import", &[PRISM, gold], &[]).await;
    walk.run("examples export", &[PRISM], &["examples_exported"])
        .await;
    let example = ["examples", "list", PRISM, "--json"];
    let example = text(&service.run(&example).await.lines()[0], "id");
    let removed = [PRISM, example.as_str()];
    walk.run("examples remove", &removed, &["example_removed"])
        .await;
    let export = service.folder.path().join("export");
    let export = [export.to_str().unwrap()];
    walk.run("export-account", &export, &["account_exported"])
        .await;
    walk.run("results erase", &["--ref", "r-1"], &["results_erased"])
        .await;
    let old = [PRISM, "--before", "2100-01-01T00:00:00Z"];
    let dry: Vec<_> = old.into_iter().chain(["--dry-run"]).collect();
    walk.run("results purge", &dry, &[]).await;
    walk.run("results purge", &old, &["results_purged"]).await;
    walk.run("results purge", &old, &[]).await;
}

/// Walks where no node works on runs; returns the commands.
async fn walk_over_runs(backend: Backend) -> BTreeSet<String> {
    let setup = Setup {
        nodes: 0,
        ..Setup::default()
    };
    let service = Service::with(backend, setup).await;
    let mut walk = Walk {
        service: &service,
        known: 0,
        done: BTreeSet::new(),
    };
    let run = started_run(&service).await.to_string();
    let made = walk.added().await;
    let of_file = [
        "file_uploaded",
        "file_run_made",
        "file_run_changed",
        "file_run_started",
    ];
    assert!(made.ends_with(&of_file.map(str::to_owned)), "{made:?}");
    walk.run("runs pause", &[&run], &["file_run_changed"]).await;
    walk.run("runs resume", &[&run], &["file_run_changed"])
        .await;
    walk.run("runs cancel", &[&run], &["file_run_ended"]).await;
    walk.run("runs delete-file", &[&run], &["file_deleted"])
        .await;
    walk.run("runs delete-file", &[&run], &[]).await;
    let answered = service.run(&["try", PRISM, "--text", "a text"]).await;
    answered.done();
    walk.run("retest", &[PRISM], &["retest_started"]).await;
    walk.run("retests start", &[PRISM], &["retest_started"])
        .await;
    let retest = ["retests", "list", PRISM, "--json"];
    let retest = text(&service.run(&retest).await.lines()[0], "id");
    walk.run("retests stop", &[&retest], &["retest_stopped"])
        .await;
    walk.run("retests continue", &[&retest], &["retest_continued"])
        .await;
    walk.done
}

async fn every_changing_command_has_its_event(backend: Backend) {
    let service = Service::start(backend).await;
    let mut walk = Walk {
        service: &service,
        known: 0,
        done: BTreeSet::new(),
    };
    let first = walk.added().await;
    assert_eq!(first, ["account_created", "key_created", "prism_created"]);
    // creates its results with the key before it is revoked
    walk_over_results(&mut walk).await;
    walk_over_settings(&mut walk).await;
    walk_over_applied_files(&mut walk).await;
    walk.done.extend(walk_over_runs(backend).await);
    walk.run("account create", &["other"], &[]).await;
    let theirs = ["events", "--json", "--account", "other"];
    let theirs = service.run(&theirs).await.lines();
    assert_eq!(theirs.len(), 1);
    assert_eq!(theirs[0]["action"], "account_created");
    assert_eq!(theirs[0]["target"], "other");

    let reasons = WITHOUT.iter().map(|(command, _)| (*command).to_owned());
    let decided: BTreeSet<String> = walk.done.iter().cloned().chain(reasons).collect();
    let all = commands(service.folder.path()).await;
    assert!(all.len() > 30, "{all:?}");
    let undecided: Vec<_> = all.difference(&decided).collect();
    assert_eq!(undecided, [""; 0], "commands without an event or a reason");
    let gone: Vec<_> = decided.difference(&all).collect();
    assert_eq!(gone, [""; 0], "there are no such commands");
}
