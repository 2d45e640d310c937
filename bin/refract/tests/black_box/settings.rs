//! The configuration: which settings stop the start, and the error for each.

use std::net::TcpListener;

use refract_test_stack::browser::joined;
use refract_test_stack::service::{Backend, PRISM, Service, Setup};

use crate::program;
use crate::program::run;
use crate::program::setup;

const MODEL: (&str, &str) = ("REFRACT_MODEL_URL", "builtin:lexical");
const LISTEN: (&str, &str) = ("REFRACT_LISTEN", "127.0.0.1:0");
const NO_OPS: (&str, &str) = ("REFRACT_OPS_LISTEN", "off");

#[tokio::test]
async fn a_setting_that_cannot_be_used_stops_the_start_with_one_line() {
    let folder = tempfile::tempdir().unwrap();
    for (name, value) in [
        ("REFRACT_MODEL_URL", ""),
        ("REFRACT_MODEL_URL", "model:8000"),
        ("REFRACT_MODEL_URL", "ftp://127.0.0.1/v1"),
        ("REFRACT_MODEL_URL", "builtin:nothing"),
        ("REFRACT_MODEL_URL", "http://a/v1,"),
        ("REFRACT_MODEL_URL", "http://a/v1,http://b/v1,http://a/v1/"),
        ("REFRACT_MODEL_URL", "http://a/v1,builtin:lexical"),
        ("REFRACT_MODEL_URL", "http://a/v1,http://user:secret@b/v1"),
        ("REFRACT_MODEL_URL", "http://a/v1,ftp://secret-host/v1"),
        ("REFRACT_MODEL_PROTOCOL", "morse"),
        ("REFRACT_MODEL_API_KEY", "two\nlines-of-a-secret"),
        ("REFRACT_MODEL_REQUEST_TOKENS", "0"),
        ("REFRACT_MODEL_TIMEOUT_MS", "soon"),
        ("REFRACT_MODEL_TIMEOUT_MS", "0"),
        ("REFRACT_MODEL_CONCURRENCY", "-1"),
        ("REFRACT_MODEL_FOLLOW_UPS", "-1"),
        ("REFRACT_MODEL_PROMPT", "2"),
        ("DATABASE_URL", "mysql://localhost/refract"),
        ("DATABASE_URL", "sqlite:///nowhere/at/all/refract.db"),
        (
            "DATABASE_URL",
            "postgres://u:password-secret@127.0.0.1:1/db",
        ),
        ("REFRACT_DATABASE_POOL", "0"),
        ("REFRACT_LISTEN", "nonsense"),
        ("REFRACT_LISTEN", "127.0.0.1:99999"),
        ("REFRACT_OPS_LISTEN", "nonsense"),
        ("REFRACT_SHUTDOWN_GRACE_MS", "1.5"),
        ("REFRACT_SHUTDOWN_DELAY_MS", "soon"),
        ("REFRACT_BODY_BUDGET_MIB", "31"),
        ("REFRACT_BODY_BUDGET_MIB", "much"),
        ("REFRACT_WORKERS", "0"),
        ("REFRACT_RETENTION_DAYS", "0"),
        ("REFRACT_RETENTION_DAYS", "-1"),
        ("REFRACT_RETENTION_DAYS", "1.5"),
        ("REFRACT_RETENTION_DAYS", "a month"),
        ("REFRACT_RETENTION_UNCHECKED", "yes"),
        ("REFRACT_API_URL", "ftp://refract.example.com/v1"),
        (
            "REFRACT_API_URL",
            "https://user:secret@refract.example.com/v1",
        ),
        ("DATABASE_URL_FILE", "/nowhere/at/all"),
        ("REFRACT_MODEL_API_KEY_FILE", "/nowhere/at/all"),
        ("REFRACT_MODEL_CA_FILE", "/nowhere/at/all"),
        ("REFRACT_MODEL_CA_FILE", "/dev/null"),
        ("REFRACT_LOG", "=="),
        ("REFRACT_LOG_FORMAT", "xml"),
    ] {
        let mut settings = vec![MODEL, LISTEN, NO_OPS];
        settings.retain(|(other, _)| *other != name);
        settings.push((name, value));
        let line = run(folder.path(), &settings, &["serve"]).await.refused();
        // an error names the variable or the flag; an error about the database names the database
        let flag = name.trim_start_matches("REFRACT_").replace('_', "-");
        let words = line.to_uppercase().replace('_', "-");
        let is_named = match name {
            "DATABASE_URL" | "DATABASE_URL_FILE" => {
                words.contains("DATABASE") || words.contains("POSTGRESQL")
            }
            _ => words.contains(&flag),
        };
        assert!(is_named, "{name}={value}: {line}");
        assert!(!line.contains("secret"), "{line}");
    }
}

#[tokio::test]
async fn an_unusable_setting_is_named_as_it_was_given_and_answered_in_plain_words() {
    let folder = tempfile::tempdir().unwrap();
    let (number, days) = (
        "expected a whole number, 1 or more",
        "expected a whole number of days, 1 or more",
    );
    for (variable, flag, value, message) in [
        ("REFRACT_WORKERS", "--workers", "0", number),
        ("REFRACT_DATABASE_POOL", "--database-pool", "many", number),
        ("REFRACT_RETENTION_DAYS", "--retention-days", "0", days),
        (
            "REFRACT_MODEL_TIMEOUT_MS",
            "--model-timeout-ms",
            "15s",
            "expected milliseconds without a unit: 15000",
        ),
        (
            "REFRACT_LOG_FORMAT",
            "--log-format",
            "xml",
            "expected text or json",
        ),
    ] {
        let mut settings = vec![MODEL, LISTEN, NO_OPS, (variable, value)];
        let line = run(folder.path(), &settings, &["serve"]).await.refused();
        let expected = format!("error: {variable} cannot be used: '{value}': {message}");
        assert_eq!(line, expected);
        // the flag takes precedence over the variable, and is named if it was used
        settings.retain(|(name, _)| *name != variable);
        for flags in [vec![flag, value], vec![&*format!("{flag}={value}")]] {
            let arguments = [vec!["serve"], flags].concat();
            let line = run(folder.path(), &settings, &arguments).await.refused();
            let expected = format!("error: {flag} cannot be used: '{value}': {message}");
            assert_eq!(line, expected);
        }
    }
    let flags = ["serve", "--listen", "8080"];
    let line = run(folder.path(), &[MODEL, NO_OPS], &flags).await.refused();
    assert_eq!(
        line,
        "error: --listen cannot be used: '8080' is a port: write an address such as 127.0.0.1:8080"
    );
}

#[tokio::test]
async fn a_variable_that_is_no_setting_is_named_in_one_warning() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [
        MODEL,
        ("REFRACT_RETENTION_DAY", "90-sentinel"),
        ("REFRACT_NONSENSE", "sentinel"),
        ("REFRACT_TEST_POSTGRES_URL", "sentinel"),
        ("REFRACT_SERVICE_HOST", "10.0.0.1"),
        ("REFRACT_LOG", "info"),
    ];
    let node = program::node(folder.path(), &settings).await;
    let log = node.log();
    let warnings: Vec<_> = log
        .iter()
        .filter(|line| line.contains("no setting"))
        .collect();
    let words = "no setting of refract, and ignored: REFRACT_NONSENSE, REFRACT_RETENTION_DAY (did \
         you mean REFRACT_RETENTION_DAYS?)";
    assert_eq!(warnings.len(), 1, "{log:?}");
    assert!(
        warnings[0].ends_with(words) && warnings[0].contains("WARN"),
        "{warnings:?}"
    );
    assert!(!log.concat().contains("sentinel"), "{log:?}");
    node.stop().await;
}

#[tokio::test]
async fn the_api_is_shown_by_the_address_that_callers_type() {
    let folder = tempfile::tempdir().unwrap();
    let url = ("REFRACT_API_URL", "https://refract.example.com/v1");
    for (settings, shown) in [
        (vec![url], url.1),
        (vec![], "http://127.0.0.1:8080/v1"),
        (
            vec![("REFRACT_LISTEN", "0.0.0.0:80")],
            "http://127.0.0.1:80/v1",
        ),
    ] {
        let made = run(folder.path(), &settings, &["key", "create"]).await;
        let last = made.stderr.lines().last();
        assert_eq!(last, Some(&*format!("The API: {shown}")));
        made.object();
    }
    let setup = Setup {
        settings: &[url],
        ..setup()
    };
    let service = Service::with(Backend::Sqlite, setup).await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let page = ada.get(&format!("/prisms/{PRISM}")).await;
    let call = format!("curl -sS '{}/prisms/{PRISM}/results'", url.1);
    let shown = page.body.replace("&#39;", "'").replace("&#x27;", "'");
    assert!(shown.contains(&call), "{page:?}");
    let flags = ["serve", "--api-url", "refract.example.com"];
    let line = run(folder.path(), &[MODEL, LISTEN, NO_OPS], &flags)
        .await
        .refused();
    assert!(
        line.starts_with("error: --api-url cannot be used: it must be http"),
        "{line}"
    );
}

#[tokio::test]
async fn wrong_usage_shows_no_setting_as_if_it_were_required() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [("DATABASE_URL", "sqlite://refract.db"), MODEL];
    for (arguments, usage) in [
        (&["backup"][..], "Usage: refract backup [OPTIONS] <FILE>\n"),
        (
            &["prism", "show"],
            "Usage: refract prism show [OPTIONS] <PRISM>\n",
        ),
        (&["nonsense"], "Usage: refract [OPTIONS] <COMMAND>\n"),
    ] {
        let ended = run(folder.path(), &settings, arguments).await;
        assert!(ended.stderr.contains(usage), "{ended:?}");
    }
}

#[tokio::test]
async fn serving_without_a_model_names_both_choices() {
    let folder = tempfile::tempdir().unwrap();
    let ended = run(folder.path(), &[LISTEN, NO_OPS], &["serve"]).await;
    assert_eq!(
        ended.refused(),
        "error: REFRACT_MODEL_URL is not set: give the address of a model server, such as \
         http://127.0.0.1:8000/v1, or builtin:lexical to try the service without a model"
    );
    assert_eq!(
        folder.path().read_dir().unwrap().count(),
        0,
        "nothing was made"
    );
}

#[tokio::test]
async fn a_taken_port_stops_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for name in ["REFRACT_LISTEN", "REFRACT_OPS_LISTEN"] {
        let mut settings = vec![MODEL, LISTEN, NO_OPS];
        settings.retain(|(other, _)| *other != name);
        settings.push((name, &address));
        let line = run(folder.path(), &settings, &["serve"]).await.refused();
        assert!(line.contains(name) && line.contains(&address), "{line}");
    }
}

#[tokio::test]
async fn every_variable_is_also_a_flag_with_its_default_in_the_help() {
    let folder = tempfile::tempdir().unwrap();
    let help = run(folder.path(), &[], &["serve", "--help"]).await.done();
    for (variable, flag, default) in [
        ("DATABASE_URL", "--database-url", "sqlite://refract.db"),
        ("REFRACT_DATABASE_POOL", "--database-pool", "16"),
        ("REFRACT_LISTEN", "--listen", "127.0.0.1:8080"),
        ("REFRACT_OPS_LISTEN", "--ops-listen", "127.0.0.1:9090"),
        ("REFRACT_MODEL_URL", "--model-url", ""),
        ("REFRACT_MODEL_PROTOCOL", "--model-protocol", "systemone"),
        ("REFRACT_MODEL_NAME", "--model-name", "jev-latest over"),
        ("REFRACT_MODEL_API_KEY", "--model-api-key", ""),
        (
            "REFRACT_MODEL_KEY_HEADER",
            "--model-key-header",
            "x-goog-api-key",
        ),
        (
            "REFRACT_MODEL_REQUEST_TOKENS",
            "--model-request-tokens",
            "52000",
        ),
        ("REFRACT_MODEL_TIMEOUT_MS", "--model-timeout-ms", "15000"),
        ("REFRACT_MODEL_CONCURRENCY", "--model-concurrency", "1024"),
        ("REFRACT_MODEL_FOLLOW_UPS", "--model-follow-ups", "26"),
        ("REFRACT_MODEL_PROMPT", "--model-prompt", "4"),
        ("REFRACT_SHUTDOWN_GRACE_MS", "--shutdown-grace-ms", "35000"),
        ("REFRACT_SHUTDOWN_DELAY_MS", "--shutdown-delay-ms", "0"),
        ("REFRACT_BODY_BUDGET_MIB", "--body-budget-mib", "256"),
        ("REFRACT_WORKERS", "--workers", "one per core"),
        ("REFRACT_RETENTION_DAYS", "--retention-days", "never"),
        (
            "REFRACT_RETENTION_UNCHECKED",
            "--retention-unchecked",
            "off",
        ),
        ("REFRACT_API_URL", "--api-url", "http:// and the listener"),
        ("DATABASE_URL_FILE", "--database-url-file", ""),
        ("REFRACT_MODEL_API_KEY_FILE", "--model-api-key-file", ""),
        ("REFRACT_MODEL_CA_FILE", "--model-ca-file", ""),
        ("REFRACT_LOG", "--log", "info"),
        ("REFRACT_LOG_FORMAT", "--log-format", "text"),
    ] {
        assert!(help.contains(&format!("[env: {variable}")), "{variable}");
        assert!(help.contains(&format!("{flag} <")), "{flag}");
        assert!(help.contains(default), "{default}");
    }
}

#[tokio::test]
async fn a_flag_comes_before_its_variable() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [MODEL, ("REFRACT_LISTEN", "nonsense"), NO_OPS];
    let flags = ["serve", "--listen", "127.0.0.1:70000"];
    let line = run(folder.path(), &settings, &flags).await.refused();
    assert!(line.contains("127.0.0.1:70000"), "{line}");
}

#[tokio::test]
async fn a_blank_variable_counts_as_not_set() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [
        MODEL,
        ("DATABASE_URL_FILE", ""),
        ("REFRACT_CONFIG", ""),
        ("REFRACT_MODEL_API_KEY_FILE", " "),
        ("REFRACT_MODEL_CA_FILE", "\t"),
        ("REFRACT_MODEL_NAME", " "),
        ("REFRACT_BODY_BUDGET_MIB", ""),
        ("REFRACT_WORKERS", " "),
        ("REFRACT_LOG", " "),
    ];
    let node = program::node(folder.path(), &settings).await;
    assert_eq!(node.ops("/healthz").await.status, 200);
    assert!(!node.log().is_empty());
    node.stop().await;
}

#[tokio::test]
async fn the_log_is_text_unless_json_is_asked_for_and_names_the_addresses() {
    let folder = tempfile::tempdir().unwrap();
    for format in ["text", "json"] {
        let node = program::node(folder.path(), &[MODEL, ("REFRACT_LOG_FORMAT", format)]).await;
        assert_eq!(node.ops("/healthz").await.status, 200);
        for line in node.log() {
            assert_eq!(line.starts_with('{'), format == "json", "{line}");
            assert!(!line.contains('\u{1b}'), "no colours in a file: {line}");
        }
        node.stop().await;
    }
}

#[tokio::test]
async fn wrong_usage_ends_with_2_and_help_with_0() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &[][..],
        &["nonsense"],
        &["serve", "--nonsense"],
        &["prism", "create"],
        &["key", "revoke"],
        &["lens", "show"],
    ] {
        let ended = run(folder.path(), &[], arguments).await;
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert_eq!(ended.stdout, "", "{arguments:?}");
        assert_ne!(ended.stderr, "");
    }
    for arguments in [&["--help"][..], &["--version"], &["prism", "--help"]] {
        let ended = run(folder.path(), &[], arguments).await;
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        assert_ne!(ended.stdout, "");
    }
}

#[tokio::test]
async fn a_flag_that_cannot_be_used_is_named_as_it_was_given() {
    let folder = tempfile::tempdir().unwrap();
    let database = [("DATABASE_URL", "sqlite://refract.db")];
    let invite = ["person", "invite", "b@example.com", "--app-url", "ftp://x"];
    let line = run(folder.path(), &database, &invite).await.refused();
    assert!(line.contains("--app-url cannot be used"), "{line}");
}
