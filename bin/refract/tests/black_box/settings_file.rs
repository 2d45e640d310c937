//! Settings in a TOML file: every key, what overrides it, and the error for a mistake.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;

use crate::program::{self, run};

const EXAMPLE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/deploy/refract.toml"
);
const CONFIG: (&str, &str) = ("REFRACT_CONFIG", "refract.toml");

fn write(folder: &Path, text: &str) {
    let path = folder.join("refract.toml");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
}

/// All settings as `refract settings --json` shows them.
async fn settings(folder: &Path, variables: &[(&str, &str)], flags: &[&str]) -> Vec<Value> {
    let arguments = [&["settings", "--json"], flags].concat();
    run(folder, variables, &arguments).await.lines()
}

/// The value and the source of one setting.
fn shown<'a>(settings: &'a [Value], key: &str) -> (&'a Value, &'a str, &'a Value) {
    let setting = settings.iter().find(|setting| setting["setting"] == key);
    let setting = setting.expect(key);
    let from = setting["from"].as_str().unwrap();
    (&setting["value"], from, &setting["place"])
}

/// A value that the setting takes.
fn sample(setting: &Value) -> String {
    let key = setting["setting"].as_str().unwrap();
    if let Some(default) = setting["value"].as_str() {
        return default.to_owned();
    }
    let is_number = ["workers", "_days", "_minute", "_mib", "_ms"]
        .iter()
        .any(|end| key.ends_with(end));
    if is_number {
        "7".to_owned()
    } else {
        "words".to_owned()
    }
}

#[tokio::test]
async fn every_setting_has_a_key_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let all = settings(folder.path(), &[], &[]).await;
    assert!(all.len() > 30, "{all:?}");
    let of = |key: &str| all.iter().any(|setting| setting["setting"] == key);
    let mut text = String::new();
    for setting in &all {
        assert_eq!(setting["from"], "default");
        let key = setting["setting"].as_str().unwrap();
        // a secret is given in one form
        if key.strip_suffix("_file").is_none_or(|other| !of(other)) {
            writeln!(text, "{key} = '{}'", sample(setting)).unwrap();
        }
    }
    write(folder.path(), &text);
    let given = settings(folder.path(), &[CONFIG], &[]).await;
    assert_eq!(given.len(), all.len());
    for (line, row) in text.lines().zip(1..) {
        let (key, value) = line.split_once(" = ").unwrap();
        let (shown, from, place) = shown(&given, key);
        assert_eq!(
            (from, place),
            ("file", &Value::from(format!("refract.toml:{row}")))
        );
        let value = value.trim_matches('\'');
        let is_hidden = ["model_api_key", "oidc_client_secret"].contains(&key);
        let expected = if is_hidden { Value::Null } else { value.into() };
        assert_eq!(*shown, expected, "{key}");
    }
}

#[tokio::test]
async fn the_example_has_only_keys_that_there_are_with_values_that_can_be_used() {
    let folder = tempfile::tempdir().unwrap();
    let example = fs::read_to_string(EXAMPLE).unwrap();
    let is_commented = |line: &&str| line.starts_with('#') && !line.starts_with("# ");
    let lines = example.lines().filter(is_commented);
    let lines = lines.map(|line| line.trim_start_matches('#'));
    // its other form is in the example too
    let lines = lines.filter(|line| !line.starts_with("database_url ="));
    let lines: Vec<_> = lines.collect();
    assert!(lines.len() > 20, "{lines:?}");
    write(folder.path(), &lines.join("\n"));
    let given = settings(folder.path(), &[CONFIG], &[]).await;
    for line in lines {
        let (key, _) = line.split_once(" = ").unwrap();
        assert_eq!(shown(&given, key).1, "file", "{line}");
    }
    // as it is, it sets nothing
    write(folder.path(), &example);
    let given = settings(folder.path(), &[CONFIG], &[]).await;
    assert!(given.iter().all(|setting| setting["from"] == "default"));
}

#[tokio::test]
async fn a_flag_comes_before_a_variable_and_a_variable_before_the_file() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "log = 'warn'\nlog_format = 'json'\nmodel_api_key = 'sk-sentinel'\ndatabase_url = 'sqlite://x.db'",
    );
    let given = settings(folder.path(), &[CONFIG], &[]).await;
    assert_eq!(
        shown(&given, "log"),
        (&"warn".into(), "file", &"refract.toml:1".into())
    );
    assert_eq!(shown(&given, "database_url").0, "sqlite://x.db");
    let variables = [
        CONFIG,
        ("REFRACT_LOG", "error"),
        ("DATABASE_URL_FILE", "url"),
    ];
    let given = settings(folder.path(), &variables, &[]).await;
    assert_eq!(
        shown(&given, "log"),
        (&"error".into(), "variable", &"REFRACT_LOG".into())
    );
    // the file's address gives way to the variable that names a file with it
    assert_eq!(shown(&given, "database_url").1, "default");
    let flags = ["--log", "info", "--config=refract.toml"];
    let given = settings(folder.path(), &variables[1..2], &flags).await;
    assert_eq!(
        shown(&given, "log"),
        (&"info".into(), "flag", &"--log".into())
    );
    assert_eq!(shown(&given, "log_format").0, "json");
    let table = run(folder.path(), &[CONFIG], &["settings"]).await.done();
    assert!(
        table.contains("(hidden)") && !table.contains("sentinel"),
        "{table}"
    );
}

#[tokio::test]
async fn commands_and_nodes_take_their_settings_from_the_file() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "database_url = 'sqlite://other.db'\nmodel_url = 'builtin:lexical'\nlog_format = 'json'\n\
         api_url = 'https://refract.example.com'",
    );
    let made = run(folder.path(), &[CONFIG], &["key", "create"]).await;
    let last = made.stderr.lines().last();
    assert_eq!(last, Some("The API: https://refract.example.com/v1"));
    assert!(folder.path().join("other.db").exists());
    let node = program::node(folder.path(), &[CONFIG]).await;
    let log = node.log();
    assert!(log.iter().all(|line| line.starts_with('{')), "{log:?}");
    assert!(!log.concat().contains("may read"), "{log:?}");
    node.stop().await;
}

#[tokio::test]
async fn a_mistake_in_the_file_is_named_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    for (text, message) in [
        (
            "model_url = 'builtin:lexical'\nworkers = 0",
            "workers (refract.toml:2) cannot be used: '0': expected a whole number, 1 or more",
        ),
        (
            "listen = '8080'\nmodel_url = 'builtin:lexical'",
            "listen (refract.toml:1) cannot be used: '8080' is a port: write an address such as \
             127.0.0.1:8080",
        ),
        (
            "workrs = 1",
            "refract.toml:1: `workrs` is no setting: did you mean `workers`?",
        ),
        (
            "database_url = 'sqlite://a.db'\ndatabase_url_file = 'url'",
            "database_url (refract.toml:1) and database_url_file (refract.toml:2) are both given: \
             leave one of them out",
        ),
        (
            "model_url = 'https://h/v1'\nmodel_client_cert_file = 'tls.crt'",
            "model_client_cert_file (refract.toml:2) is set without \
             REFRACT_MODEL_CLIENT_KEY_FILE: set both, or none",
        ),
        (
            "model_url = 'https://h/v1'\nmodel_client_cert_file = '/nowhere'\n\
             model_client_key_file = '/nowhere'",
            "model_client_cert_file (refract.toml:2) cannot be used: cannot read /nowhere: No such \
             file or directory",
        ),
    ] {
        write(folder.path(), text);
        let line = run(folder.path(), &[CONFIG], &["serve"]).await.refused();
        assert_eq!(line, format!("error: {message}"));
    }
    let flags = ["key", "list", "--config", "missing.toml"];
    let line = run(folder.path(), &[], &flags).await.refused();
    let expected = "error: cannot read the settings in missing.toml: No such file or directory";
    assert_eq!(line, expected);
    // help needs no settings
    let missing = [("REFRACT_CONFIG", "missing.toml")];
    run(folder.path(), &missing, &["--help"]).await.done();
}

#[tokio::test]
async fn a_secret_in_the_file_is_never_shown_and_everybodys_file_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let text = "model_api_key = 'sk-sentinel'\nmodel_url = 'http://127.0.0.1:1/v1'";
    write(folder.path(), text);
    let help = run(folder.path(), &[CONFIG], &["serve", "--help"])
        .await
        .done();
    assert!(
        help.contains("http://127.0.0.1:1/v1") && !help.contains("sentinel"),
        "{help}"
    );
    let path = folder.path().join("refract.toml");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let node = program::node(folder.path(), &[CONFIG]).await;
    let log = node.log().concat();
    assert!(log.contains("every user of this machine may read model_api_key in refract.toml"));
    assert!(!log.contains("sentinel"), "{log}");
    node.stop().await;
    for text in [
        "model_api_key = sk-sentinel",
        "model_api_key = 'two\\nsentinel'",
    ] {
        write(folder.path(), text);
        let ended = run(folder.path(), &[CONFIG], &["serve"]).await;
        assert!(!ended.stderr.contains("sentinel"), "{ended:?}");
    }
}
