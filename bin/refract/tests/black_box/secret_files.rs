//! Secrets from files: read at start, and again after a refusal.

use std::fs;

use refract_test_stack::service::{Backend, PRISM, Service, Setup, TEXT};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::on_both;
use serde_json::json;

use crate::program;
use crate::program::setup;

on_both!(the_address_of_the_database_may_be_in_a_file);

async fn the_address_of_the_database_may_be_in_a_file(backend: Backend) {
    let mut service = Service::with(
        backend,
        Setup {
            nodes: 0,
            ..setup()
        },
    )
    .await;
    let file = service.folder.path().join("database-url");
    fs::write(&file, format!("{}\n", service.database_url)).unwrap();
    let file = file.to_str().unwrap().to_owned();
    let settings = [("DATABASE_URL_FILE", file.as_str())];
    let listed = program::run(service.folder.path(), &settings, &["prism", "list"]).await;
    assert!(listed.done().contains(PRISM));
    let flags = ["prism", "list", "--database-url-file", &file];
    let listed = program::run(service.folder.path(), &[], &flags).await;
    assert!(listed.done().contains(PRISM));
    service
        .start_node(&[("DATABASE_URL", ""), settings[0]])
        .await;
    assert_eq!(service.create(&json!({"text": TEXT})).await.status, 200);
}

#[tokio::test]
async fn a_secret_and_a_file_with_it_are_not_given_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let model = ("REFRACT_MODEL_URL", "http://127.0.0.1:1/v1");
    for (variable, file, flag) in [
        ("DATABASE_URL", "DATABASE_URL_FILE", "--database-url-file"),
        (
            "REFRACT_MODEL_API_KEY",
            "REFRACT_MODEL_API_KEY_FILE",
            "--model-api-key-file",
        ),
    ] {
        let both = [model, (variable, "sentinel"), (file, "x")];
        let line = program::run(folder.path(), &both, &["serve"])
            .await
            .refused();
        let words = format!("error: {variable} and {file} are both given: leave one of them out");
        assert_eq!(line, words);
        let given = [model, (variable, "sentinel")];
        let line = program::run(folder.path(), &given, &["serve", flag, "x"]).await;
        assert!(
            line.refused()
                .starts_with(&format!("error: {variable} and {flag} are both"))
        );
        let missing = [model, (file, "/nowhere/secret")];
        let line = program::run(folder.path(), &missing, &["serve"])
            .await
            .refused();
        assert!(line.contains("/nowhere/secret: No such file"), "{line}");
    }
    let unusable = folder.path().join("key");
    fs::write(&unusable, "two words of a secret").unwrap();
    let settings = [
        model,
        ("REFRACT_MODEL_API_KEY_FILE", unusable.to_str().unwrap()),
    ];
    let line = program::run(folder.path(), &settings, &["serve"])
        .await
        .refused();
    assert!(
        line.contains("REFRACT_MODEL_API_KEY_FILE cannot be used"),
        "{line}"
    );
    assert!(!line.contains("words"), "{line}");
}

#[tokio::test]
async fn a_key_of_the_model_that_changes_fails_no_call() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    fs::write(&file, "sk-old\n").unwrap();
    let settings = [("REFRACT_MODEL_API_KEY_FILE", file.to_str().unwrap())];
    let setup = Setup {
        settings: &settings,
        ..setup()
    };
    let service = Service::with(Backend::Sqlite, setup).await;
    assert_eq!(service.create(&json!({"text": TEXT})).await.status, 200);
    fs::write(&file, "sk-new\n").unwrap();
    service.model.then_once(ScriptedReply::status(401));
    assert_eq!(service.create(&json!({"text": TEXT})).await.status, 200);
    let sent = service.model.requests();
    let keys: Vec<_> = sent
        .iter()
        .map(|it| it.header("authorization").unwrap())
        .collect();
    assert_eq!(keys, ["Bearer sk-old", "Bearer sk-old", "Bearer sk-new"]);
    let log = service.nodes[0].log().concat();
    assert!(!log.contains("sk-"), "{log}");
}
