//! `refract model check`: what it asks, what it shows, how it ends.

use refract_test_support::model_server::{ChatModel, ModelServer, Reply};

use crate::program::run;

const CHECK: [&str; 3] = ["model", "check", "--json"];

#[tokio::test]
async fn every_question_type_and_255_outcomes_are_asked_over_every_protocol() {
    let stated = Reply::body(r#"{"choices":[{"message":{"content":"{}"}}]}"#);
    for (protocol, reply, can_serve) in [
        ("systemone", Reply::answers(), true),
        ("chat", ChatModel::new(vec![1.0; 255]).reply(), true),
        ("stated", stated, false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let server = ModelServer::start(reply);
        let url = server.url();
        let settings = [
            ("REFRACT_MODEL_URL", url.as_str()),
            ("REFRACT_MODEL_PROTOCOL", protocol),
        ];
        let ended = run(folder.path(), &settings, &CHECK).await;
        if !can_serve {
            assert_eq!(
                ended.refused(),
                "error: this model cannot serve (yes_no): The model gave no usable answer to the \
                 question late."
            );
            continue;
        }
        assert!(ended.stderr.contains(protocol), "{ended:?}");
        let lines = ended.lines();
        let calls: Vec<&str> = lines
            .iter()
            .map(|line| line["call"].as_str().unwrap())
            .collect();
        assert_eq!(
            calls,
            [
                "yes_no",
                "scale of 3",
                "choice of 4",
                "choice of 4, reversed",
                "choice of 255"
            ]
        );
        assert!(
            lines.iter().all(|line| line["took_ms"].is_u64()),
            "{lines:?}"
        );
        let database = folder.path().join("refract.db");
        assert!(!database.exists());
    }
}

#[tokio::test]
async fn a_model_that_cannot_serve_ends_it_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let server = ModelServer::start(Reply::status(401));
    let url = server.url();
    let settings = [("REFRACT_MODEL_URL", url.as_str())];
    let line = run(folder.path(), &settings, &CHECK).await.refused();
    assert_eq!(
        line,
        "error: this model cannot serve (yes_no): The model server answered with status 401."
    );
}

#[tokio::test]
async fn the_built_in_scorer_is_said_to_be_for_trying_only() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [("REFRACT_MODEL_URL", "builtin:lexical")];
    let ended = run(folder.path(), &settings, &["model", "check"]).await;
    assert!(ended.stderr.contains("for trying"), "{ended:?}");
    assert!(ended.done().contains("choice of 255"));
}
