//! The configuration: which settings stop the start, and the error for each.

use std::net::TcpListener;

use crate::node::Node;
use crate::program::run;

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
        ("REFRACT_LOG", "=="),
        ("REFRACT_LOG_FORMAT", "xml"),
    ] {
        let mut settings = vec![MODEL, LISTEN, NO_OPS];
        settings.retain(|(other, _)| *other != name);
        settings.push((name, value));
        let line = run(folder.path(), &settings, &["serve"]).await.refused();
        // an error names the variable or the flag; one about the database names the database
        let flag = name.trim_start_matches("REFRACT_").replace('_', "-");
        let words = line.to_uppercase().replace('_', "-");
        let is_named = match name {
            "DATABASE_URL" => words.contains("DATABASE") || words.contains("POSTGRESQL"),
            _ => words.contains(&flag),
        };
        assert!(is_named, "{name}={value}: {line}");
        assert!(!line.contains("secret"), "{line}");
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
        ("REFRACT_MODEL_NAME", "--model-name", "default"),
        ("REFRACT_MODEL_API_KEY", "--model-api-key", ""),
        (
            "REFRACT_MODEL_REQUEST_TOKENS",
            "--model-request-tokens",
            "52000",
        ),
        ("REFRACT_MODEL_TIMEOUT_MS", "--model-timeout-ms", "15000"),
        ("REFRACT_MODEL_CONCURRENCY", "--model-concurrency", "1024"),
        ("REFRACT_MODEL_FOLLOW_UPS", "--model-follow-ups", "26"),
        ("REFRACT_SHUTDOWN_GRACE_MS", "--shutdown-grace-ms", "35000"),
        ("REFRACT_SHUTDOWN_DELAY_MS", "--shutdown-delay-ms", "0"),
        ("REFRACT_BODY_BUDGET_MIB", "--body-budget-mib", "256"),
        ("REFRACT_WORKERS", "--workers", "one per core"),
        ("REFRACT_RETENTION_DAYS", "--retention-days", "never"),
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
async fn the_log_is_text_unless_json_is_asked_for_and_says_where_it_listens() {
    let folder = tempfile::tempdir().unwrap();
    for format in ["text", "json"] {
        let node = Node::start(folder.path(), &[MODEL, ("REFRACT_LOG_FORMAT", format)]).await;
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
