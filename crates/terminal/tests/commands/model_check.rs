//! `refract model check`: its requests, its output and its exit status.

use refract_test_stack::knowing_models::{
    knowing_chat, knowing_decisions, knowing_gemini, knowing_stated, knowing_system_one,
};
use refract_test_stack::program::{Ended, run};
use refract_test_support::model_server::{
    ChatModel, Continues, ModelServer, Script, ScriptedReply, tokens_reply,
};
use serde_json::Value;

/// Runs `refract model check` with more arguments against a server.
async fn check(server: &ModelServer, protocol: &str, more: &[&str]) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    let url = server.url();
    let settings = [
        ("REFRACT_MODEL_URL", url.as_str()),
        ("REFRACT_MODEL_PROTOCOL", protocol),
    ];
    let ended = run(
        folder.path(),
        &settings,
        &[&["model", "check"], more].concat(),
    )
    .await;
    assert!(!folder.path().join("refract.db").exists());
    ended
}

const CALLS: [&str; 8] = [
    "yes_no",
    "scale of 3",
    "choice of 4",
    "choice of 4, reversed",
    "choice of 255",
    "draw from 20",
    "draw from 62",
    "draw from 255",
];

#[tokio::test]
async fn every_question_type_and_255_outcomes_are_asked_over_every_protocol() {
    for (protocol, reply, model, reading, readable) in [
        (
            "systemone",
            knowing_system_one(),
            "knowing-1",
            "the probabilities are the server's own",
            [2, 3, 1, 1, 1],
        ),
        (
            "decisions",
            knowing_decisions(),
            "deciding-1",
            "the probabilities are the server's own",
            [2, 3, 1, 1, 1],
        ),
        (
            "gemini",
            knowing_gemini(),
            // the format's answers name no model
            "gemini",
            "the probabilities are the server's own",
            [2, 3, 1, 1, 1],
        ),
        (
            "chat",
            knowing_chat(),
            "scripted-chat-1",
            "probabilities are read from the log-probabilities of codes",
            [2, 2, 2, 2, 1],
        ),
        (
            "stated",
            knowing_stated(),
            "stating-1",
            "the probabilities are the model's opinion",
            [2, 3, 4, 4, 1],
        ),
    ] {
        let server = ModelServer::start(reply);
        let ended = check(&server, protocol, &["--json"]).await;
        assert!(ended.stderr.contains(protocol), "{ended:?}");
        assert!(ended.stderr.contains(model), "{ended:?}");
        let last = ended.stderr.lines().last();
        assert_eq!(last, Some("The model can serve."), "{ended:?}");
        assert!(ended.stderr.contains(reading), "{ended:?}");
        let shows_distance = ended.stderr.contains("Probabilities are off by at most ");
        assert_eq!(shows_distance, protocol == "chat", "{ended:?}");
        let lines = ended.lines();
        for (line, (call, readable)) in lines.iter().zip(CALLS.iter().zip(readable)) {
            assert_eq!(line["call"], *call);
            assert_eq!(line["right"], true, "{line}");
            assert!(line["probability"].as_f64().unwrap() > 0.89, "{line}");
            assert_eq!(line["readable"], readable, "{line}");
            assert!(line["took_ms"].is_u64(), "{line}");
            assert_eq!(line["on_codes"].is_f64(), protocol == "chat", "{line}");
            assert_eq!(line["unread"].is_f64(), protocol == "chat", "{line}");
        }
        assert_eq!(lines[4]["outcomes"], 255);
        let draws = &lines[5..];
        for (line, (call, outcomes)) in draws.iter().zip(CALLS[5..].iter().zip([20, 62, 255])) {
            assert_eq!(line["call"], *call);
            assert_eq!(line["right"], Value::Null, "{line}");
            assert_eq!(line["outcomes"], outcomes, "{line}");
        }
        // only probabilities read from codes can be unread
        assert_eq!(draws.len(), if protocol == "chat" { 3 } else { 0 });
    }
}

#[tokio::test]
async fn the_table_shows_how_codes_are_cut_and_what_falls_on_them() {
    let server = ModelServer::start(knowing_chat());
    let ended = check(&server, "chat", &[]).await;
    let words = "moved the right one's probability by 0.000.";
    assert!(ended.stderr.contains(words), "{ended:?}");
    let table = ended.done();
    let row = |call: &str| {
        let row = table
            .lines()
            .find(|line| line.trim_start().starts_with(call));
        row.unwrap_or_else(|| panic!("{table}")).to_owned()
    };
    for (call, cells) in [
        ("yes_no", ["2 of 2", "1 token after 1", "1.000"]),
        ("choice of 255", ["1 of 255", "2 tokens", "1.000"]),
    ] {
        for cell in cells {
            assert!(row(call).contains(cell), "{table}");
        }
    }
}

#[tokio::test]
async fn what_a_model_is_weak_at_is_reported() {
    // a model that always picks the first outcome
    let first = ChatModel::new([vec![1.0], vec![0.01; 254]].concat());
    let server = ModelServer::start(first.reply());
    let ended = check(&server, "chat", &[]).await;
    assert!(
        ended.stderr.contains("got an easy question wrong"),
        "{ended:?}"
    );
    assert!(ended.stderr.contains("probability by 0.961."), "{ended:?}");
    let words = "preferred one outcome in `draw from 20`, `draw from 62`: flatter answers may be";
    assert!(ended.stderr.contains(words), "{ended:?}");
    // a model that leaves out outcomes
    let server = ModelServer::start(knowing_system_one());
    let ended = check(&server, "systemone", &[]).await;
    let words = "Of the 255 outcomes of `choice of 255` 1 had a probability of their own: the \
                 others count as 0.";
    assert!(ended.stderr.contains(words), "{ended:?}");
}

#[tokio::test]
async fn what_is_left_unread_bounds_how_far_off_probabilities_are() {
    // a server that cannot continue an answer, so that codes of other letters are never seen
    let unseen = ChatModel {
        continues: Continues::Never,
        ..ChatModel::new(vec![1.0; 255])
    };
    let server = ModelServer::start(unseen.reply());
    let ended = check(&server, "chat", &["--json"]).await;
    let words = "Probabilities are off by at most 0.000 (total variation distance) for up to 20 \
                 outcomes, 0.839 for up to 62, 0.961 for up to 255, as measured on questions \
                 without an obvious answer.\nFor more than 20 outcomes that is much: use a server";
    assert!(ended.stderr.contains(words), "{ended:?}");
    assert!(!ended.stderr.contains("preferred"), "{ended:?}");
    for (line, unread) in ended.lines()[5..].iter().zip([0.0, 0.838_710, 0.960_784]) {
        assert_eq!(line["unread"], unread, "{line}");
    }
    // the last letters are never written, and all others can be followed up
    let two_letters = [vec![1.0; 20], vec![0.0; 235]].concat();
    let server = ModelServer::start(ChatModel::new(two_letters).reply());
    let ended = check(&server, "chat", &[]).await;
    let words = "Probabilities are off by at most 0.000 (total variation distance) for up to 255 \
                 outcomes, as measured on questions without an obvious answer.\n";
    assert!(ended.stderr.contains(words), "{ended:?}");
    assert!(!ended.stderr.contains("is much"), "{ended:?}");
}

#[tokio::test]
async fn a_model_that_cannot_serve_ends_it_with_the_reason_and_what_to_do() {
    let mut no_log_probabilities = tokens_reply(&[vec![("yes".to_owned(), 1.0)]], 20);
    no_log_probabilities["choices"][0]["logprobs"] = Value::Null;
    for (protocol, reply, words) in [
        (
            "systemone",
            ScriptedReply::status(401),
            "The model server answered with status 401. The server says: \"status 401\". Check \
             REFRACT_MODEL_API_KEY.",
        ),
        (
            "systemone",
            ScriptedReply::status(404),
            "The model server answered with status 404. The server says: \"status 404\". The server \
             or its model lacks the endpoint of this protocol: set REFRACT_MODEL_PROTOCOL=chat, or \
             check REFRACT_MODEL_URL and REFRACT_MODEL_NAME. `refract model detect` shows what the \
             server speaks.",
        ),
        (
            "chat",
            ScriptedReply::body("").with_status(404),
            "The model server answered with status 404. Check REFRACT_MODEL_URL, \
             REFRACT_MODEL_NAME and REFRACT_MODEL_PROTOCOL.",
        ),
        (
            "chat",
            ScriptedReply::json(&no_log_probabilities),
            "The model gave no usable answer to the question late: its server sent no \
             log-probabilities, which REFRACT_MODEL_PROTOCOL `chat` needs. Try `stated`.",
        ),
        (
            "decisions",
            ScriptedReply::body(r#"{"answers":[{"type":"refusal","name":"late"}]}"#),
            "The model refused to answer the question late. Use another model.",
        ),
        (
            "decisions",
            ScriptedReply::answers(),
            "The model server answered with something that is not Decisions JSON. Check \
             REFRACT_MODEL_URL, REFRACT_MODEL_NAME and REFRACT_MODEL_PROTOCOL.",
        ),
        (
            "stated",
            ScriptedReply::body(r#"{"choices":[{"message":{"content":"{}"}}]}"#),
            "The model gave no usable answer to the question late. Use a model that follows \
             instructions (no base model), with its own chat template and thinking off.",
        ),
    ] {
        let server = ModelServer::start(reply);
        let line = check(&server, protocol, &["--json"]).await.refused();
        assert_eq!(
            line,
            format!("error: this model cannot serve (yes_no): {words}")
        );
    }
}

#[tokio::test]
async fn what_was_answered_before_a_failure_is_shown() {
    // no number of outcomes is taken
    let answered = [(); 4].map(|()| ScriptedReply::answers());
    let server = ModelServer::start(Script::first(answered).then(ScriptedReply::status(400)));
    let ended = check(&server, "systemone", &["--json"]).await;
    assert_eq!(ended.stdout.lines().count(), 4, "{ended:?}");
    let words = "error: this model cannot serve (choice of 20): The model server answered";
    assert!(ended.stderr.contains(words), "{ended:?}");
    assert_eq!(ended.code, Some(1));
}

#[tokio::test]
async fn the_built_in_scorer_is_labelled_as_for_trying_only() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [("REFRACT_MODEL_URL", "builtin:lexical")];
    let ended = run(folder.path(), &settings, &["model", "check"]).await;
    assert!(ended.stderr.contains("for trying"), "{ended:?}");
    assert!(ended.done().contains("choice of 255"));
}
