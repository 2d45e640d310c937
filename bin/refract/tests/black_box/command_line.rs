//! What all commands have in common: help, exit statuses, lists, closed pipes.

use std::path::Path;
use std::process::Stdio;

use refract_test_stack::http::within_patience;
use refract_test_stack::service::{Backend, PRISM, Service, TEXT};
use serde_json::json;
use tokio::process::Command;

use crate::program::start;
use crate::program::{self, Ended, run};

/// The commands that print data from the database.
const PRINTING: [&[&str]; 10] = [
    &["account", "list"],
    &["key", "list"],
    &["prism", "list"],
    &["prism", "show", PRISM],
    &["lens", "show", PRISM],
    &["lens", "cutoffs", PRISM, "angry"],
    &["results", "list", PRISM],
    &["results", "export", PRISM],
    &["results", "retry", PRISM, "--failed"],
    &["marks", "export", PRISM],
];

async fn with_stdout(service: &Service, arguments: &[&str], stdout: Stdio) -> Ended {
    let url = service.model.url();
    let settings = [
        ("DATABASE_URL", service.database_url.as_str()),
        ("REFRACT_MODEL_URL", url.as_str()),
    ];
    let mut command = program::command(service.folder.path(), &settings, arguments);
    let mut child = command
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // closes the reading end where stdout is a pipe
    drop(child.stdout.take());
    let output = within_patience(child.wait_with_output()).await.unwrap();
    Ended {
        code: output.status.code(),
        stdout: String::new(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[tokio::test]
async fn a_closed_pipe_ends_a_command_quietly_and_a_full_disk_with_a_line() {
    let service = start(Backend::Sqlite).await;
    service.create(&json!({"text": TEXT})).await;
    for arguments in PRINTING {
        for json in [false, true] {
            let takes_json = arguments.contains(&"list") || arguments.contains(&"cutoffs");
            let mut arguments = arguments.to_vec();
            if json && takes_json {
                arguments.push("--json");
            }
            let ended = with_stdout(&service, &arguments, Stdio::piped()).await;
            assert_eq!(
                (ended.code, ended.stderr.as_str()),
                (Some(0), ""),
                "{arguments:?}"
            );
            let full = std::fs::File::options().write(true).open("/dev/full");
            let ended = with_stdout(&service, &arguments, full.unwrap().into()).await;
            let line = ended.refused();
            let words = "error: cannot write to stdout: No space left on device";
            assert!(line.starts_with(words), "{arguments:?}: {line}");
        }
    }
    for arguments in [&["completions", "bash"][..], &["--help"], &["--version"]] {
        let ended = with_stdout(&service, arguments, Stdio::piped()).await;
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    }
}

#[tokio::test]
async fn a_check_that_nobody_reads_fails_all_the_same_and_writes_its_files() {
    let service = start(Backend::Sqlite).await;
    service.write("gold.csv", "text,expected_topic\none,other\n");
    let required = ["--require", "topic.accuracy>=1"];
    let files = ["--junit", "check.xml", "--html", "check.html"];
    let check = [&["check", PRISM, "gold.csv"][..], &required, &files].concat();
    let ended = with_stdout(&service, &check, Stdio::piped()).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let line = ended.stderr.lines().last().unwrap();
    assert_eq!(line, "error: topic.accuracy is 0, required >=1");
    for name in ["check.xml", "check.html"] {
        assert!(service.folder.path().join(name).exists(), "{name}");
    }
}

#[tokio::test]
async fn every_list_has_json_lines() {
    let service = start(Backend::Sqlite).await;
    service.create(&json!({"text": TEXT})).await;
    let lists = PRINTING
        .iter()
        .filter(|arguments| arguments.contains(&"list"));
    for arguments in lists {
        let table = service.run(arguments).await.done();
        let header = table.lines().next().unwrap();
        assert!(
            header.contains("ID") && header == header.to_uppercase(),
            "{table}"
        );
        let mut arguments = arguments.to_vec();
        arguments.push("--json");
        let lines = service.run(&arguments).await.lines();
        assert_eq!(lines.len(), table.lines().count() - 1, "{arguments:?}");
        assert!(lines.iter().all(|line| line["id"].is_string()), "{lines:?}");
    }
}

#[tokio::test]
async fn wrong_usage_is_2_with_a_proposal_and_a_mistyped_prism_is_1_with_one() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, proposal) in [
        (&["prisn", "list"][..], "prism"),
        (&["results", "exprot", "x"], "export"),
        (&["results", "export", "x", "--ouput", "y"], "--output"),
        (&["results", "export", "x", "--status", "fail"], "failed"),
    ] {
        let ended = run(folder.path(), &[], arguments).await;
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(2), ""),
            "{ended:?}"
        );
        assert!(ended.stderr.contains(proposal), "{ended:?}");
    }
    let service = start(Backend::Sqlite).await;
    let file = service.file("prism.json", &refract_test_stack::service::example_prism());
    for arguments in [
        &["prism", "show", "support-triaje"][..],
        &["prism", "save", "support-triaje", &file],
        &["prism", "rename", "support-triaje", "x"],
        &["prism", "archive", "support-triaje"],
        &["prism", "restore", "support-triaje"],
        &["lens", "show", "support-triaje"],
        &["lens", "reset", "support-triaje"],
        &["lens", "cutoffs", "support-triaje", "angry"],
        &["try", "support-triaje", "--text", TEXT],
        &["results", "list", "support-triaje"],
        &["results", "export", "support-triaje"],
        &["results", "retry", "support-triaje", "--failed"],
    ] {
        let line = service.run(arguments).await.refused();
        let words = "error: Prism not found: did you mean `support-triage`?";
        assert_eq!(line, words, "{arguments:?}");
    }
    let line = service.run(&["prism", "show", "zzz"]).await.refused();
    assert_eq!(line, "error: Prism not found: see `refract prism list`");
    let unknown = "0190b8f2-0000-7000-8000-0000000000aa";
    let line = service.run(&["prism", "show", unknown]).await.refused();
    assert_eq!(line, "error: Prism not found: see `refract prism list`");
}

#[tokio::test]
async fn a_wrong_value_is_answered_with_what_is_expected() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, expected) in [
        (&["results", "erase"][..], "<ID|--ref <REF>>"),
        (
            &["results", "list", "x", "--limit", "0"],
            "expected a whole number, 1 or more",
        ),
        (
            &["results", "retry", "x", "--concurrency", "-1"],
            "expected a whole number, 1 or more",
        ),
        (
            &["run", "x", "y", "--concurrency", "many"],
            "expected a whole number, 1 or more",
        ),
        (
            &["run", "x", "y", "--version", "latest"],
            "expected the number of a version, 1 or more",
        ),
        (
            &["prism", "show", "x", "--version", "0"],
            "expected the number of a version, 1 or more",
        ),
        (
            &["evaluate", "x", "--version", "1.5"],
            "expected the number of a version, 1 or more",
        ),
        (
            &["check", "x", "y", "--orders", "65536"],
            "this is more than there can be",
        ),
        (
            &["lens", "preview", "x", "y", "--sample", "0"],
            "expected a whole number, 1 or more",
        ),
        (
            &["lens", "cutoffs", "x", "y", "--step", "51"],
            "expected whole percents from 1 to 50",
        ),
        (
            &["results", "purge", "--before", "May"],
            "expected a date such as 2026-05-04",
        ),
        (
            &["results", "export", "x", "--format", "xml"],
            "expected csv, tsv, jsonl, xlsx or parquet",
        ),
    ] {
        let ended = run(folder.path(), &[], arguments).await;
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(2), ""),
            "{ended:?}"
        );
        assert!(ended.stderr.contains(expected), "{ended:?}");
    }
}

/// The commands that a help page lists.
fn commands_of(help: &str) -> Vec<String> {
    // commands stand before the options, under one heading or several
    let listed = help
        .lines()
        .skip_while(|line| !line.starts_with("Usage:"))
        .take_while(|line| *line != "Options:");
    // the continuation of a line is indented further
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names
        .filter(|name| name.starts_with(|letter: char| letter.is_ascii_lowercase()))
        .map(ToOwned::to_owned)
        .collect()
}

#[tokio::test]
async fn every_command_has_help_with_examples_a_manual_page_and_completions() {
    let folder = tempfile::tempdir().unwrap();
    let secret = [
        ("DATABASE_URL", "postgres://refract:hush@db/x"),
        ("REFRACT_MODEL_API_KEY", "hush"),
    ];
    run(folder.path(), &secret, &["man", "manual/pages"])
        .await
        .done();
    let completions = run(folder.path(), &secret, &["completions", "bash"])
        .await
        .done();
    let mut commands = vec![vec![]];
    let mut pages = 0;
    while let Some(command) = commands.pop() {
        let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        arguments.push("--help");
        let help = run(folder.path(), &secret, &arguments).await.done();
        assert!(help.contains("\nExamples:\n  "), "{command:?}: {help}");
        assert!(!help.contains("hush"), "{command:?}");
        let name = [&["refract".to_owned()][..], &command].concat();
        let page = folder
            .path()
            .join("manual/pages")
            .join(format!("{}.1", name.join("-")));
        let page = std::fs::read_to_string(page).unwrap();
        assert!(
            page.contains("Examples:") && !page.contains("hush"),
            "{command:?}"
        );
        pages += 1;
        if let Some(last) = command.last() {
            assert!(completions.contains(last.as_str()), "{command:?}");
        }
        for inner in commands_of(&help) {
            commands.push([&command[..], &[inner]].concat());
        }
    }
    assert!(pages > 25, "{pages}");
    for shell in ["zsh", "fish"] {
        let script = run(folder.path(), &[], &["completions", shell])
            .await
            .done();
        assert!(
            script.contains("refract") && script.contains("cutoffs"),
            "{shell}"
        );
    }
    assert_eq!(
        run(folder.path(), &[], &["completions", "cmd"]).await.code,
        Some(2)
    );
    assert!(is_bash(folder.path(), &completions).await);
}

#[tokio::test]
async fn help_is_a_command_too() {
    let folder = tempfile::tempdir().unwrap();
    for command in [&[][..], &["run"], &["results", "export"], &["help"]] {
        let asked = [&["help"][..], command].concat();
        let flagged = [command, &["--help"]].concat();
        let helped = run(folder.path(), &[], &asked).await.done();
        assert_eq!(helped, run(folder.path(), &[], &flagged).await.done());
    }
    let ended = run(folder.path(), &[], &["help", "exprot"]).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(
        ended.stderr.contains("export") || ended.stderr.contains("exprot"),
        "{ended:?}"
    );
    let ended = run(folder.path(), &[], &["help", "results", "exprot"]).await;
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("'export'"), "{ended:?}");
    assert_eq!(
        folder.path().read_dir().unwrap().count(),
        0,
        "nothing was made"
    );
}

/// Whether bash can read a script.
async fn is_bash(folder: &Path, script: &str) -> bool {
    let file = folder.join("completions");
    std::fs::write(&file, script).unwrap();
    let read = Command::new("bash").arg("-n").arg(file).status().await;
    read.is_ok_and(|status| status.success())
}

/// Completes a line in bash by the script of `refract completions`; the last word is at the cursor.
async fn completed(service: &Service, script: &str, words: &[&str]) -> String {
    let program = env!("CARGO_BIN_EXE_refract");
    let complete = "source \"$0\"; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1))\n\
                    _refract_values \"$1\" \"${@: -1}\" \"${@: -2:1}\"; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", complete, script, program])
        .args(words)
        .env("DATABASE_URL", &service.database_url)
        .current_dir(service.folder.path());
    let output = within_patience(bash.output()).await.unwrap();
    assert!(output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn bash_completes_values_from_the_database_and_nothing_without_one() {
    let service = start(Backend::Sqlite).await;
    service
        .run(&["key", "create", "--name", "a laptop"])
        .await
        .done();
    let script = service.run(&["completions", "bash"]).await.done();
    service.write("refract.bash", &script);
    for (words, expected) in [
        (&["try", "sup"][..], "support-triage\n"),
        (&["try", PRISM, "--version", ""], "1\n"),
        (&["try", PRISM, "--version", "=", ""], "1\n"),
        (&["lens", "cutoffs", PRISM, "a"], "angry\n"),
        (&["evaluate", PRISM, "--advise", "u"], "urgency\n"),
        (&["key", "revoke", "a"], "a\\ laptop\n"),
        (&["key", "revoke", "a\\ l"], "a\\ laptop\n"),
        (&["try", PRISM, "--account", "d"], "default\n"),
        // what clap's script knows
        (&["comp"], "compare\ncompletions\n"),
        (&["_"], "\n"),
        (&["try", PRISM, "--vers"], "--version\n"),
    ] {
        let found = completed(&service, "refract.bash", words).await;
        assert_eq!(found, expected, "{words:?}");
    }
    service.run(&["backup", "copy.db"]).await.done();
    let copy = || std::fs::read(service.folder.path().join("copy.db")).unwrap();
    let before = copy();
    let of_copy = ["key", "revoke", "--database-url", "sqlite://copy.db", "a"];
    assert_eq!(
        completed(&service, "refract.bash", &of_copy).await,
        "a\\ laptop\n"
    );
    assert!(copy() == before, "the database is only read");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("empty.db"), "").unwrap();
    for url in [
        "sqlite://missing.db",
        "sqlite://empty.db",
        "nonsense",
        "postgres://127.0.0.1:9/x",
    ] {
        let settings = [("DATABASE_URL", url)];
        let ended = run(folder.path(), &settings, &["__complete", "--", "try", ""]).await;
        let reported = (ended.code, ended.stdout.as_str(), ended.stderr.as_str());
        assert_eq!(reported, (Some(0), "", ""), "{url}");
    }
    assert!(!folder.path().join("missing.db").exists());
    assert_eq!(
        std::fs::metadata(folder.path().join("empty.db"))
            .unwrap()
            .len(),
        0
    );
}
