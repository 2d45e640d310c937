//! `refract model check`: its requests, its output and its exit status.

use refract_test_support::model_server::{
    ChatModel, Continues, ModelServer, ReceivedRequest, ScriptedReply, tokens_reply,
};
use serde_json::{Value, json};

use crate::program::{Ended, run};

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

/// The labels of the right outcomes, one for each question of the check.
const RIGHT: [&str; 4] = ["Yes", "Very", "Delivery", "Parcel 137"];

fn is_right(words: &str) -> bool {
    let label = words.split(": ").next().unwrap_or_default();
    RIGHT.contains(&label)
}

/// The codes in a prompt, and whether each is the code of the right outcome.
fn codes(request: &ReceivedRequest) -> Vec<(String, bool)> {
    let body = request.json();
    let user = body["messages"][1]["content"].as_str().unwrap().to_owned();
    let lines = user.lines().filter_map(|line| line.split_once(") "));
    lines
        .map(|(code, words)| (code.to_owned(), is_right(words)))
        .collect()
}

/// A `chat` model that gives 0.9 to the right outcome and 0.1 to another.
fn knowing_chat() -> ScriptedReply {
    ScriptedReply::with(|request| {
        let codes = codes(request);
        let of = |right: bool| codes.iter().find(|(_, is)| *is == right).unwrap().0.clone();
        let (right, other) = (of(true), of(false));
        let is_cut = right.len() == 2 && right.starts_with(char::is_uppercase);
        let cut = |code: &str| code.chars().map(String::from).collect::<Vec<_>>();
        let positions = if is_cut {
            let (right, other) = (cut(&right), cut(&other));
            let digit = vec![(right[1].clone(), 1.0)];
            vec![
                vec![(right[0].clone(), 0.9), (other[0].clone(), 0.1)],
                digit,
            ]
        } else {
            vec![
                vec![("\n".to_owned(), 1.0)],
                vec![(right, 0.9), (other, 0.1)],
            ]
        };
        tokens_reply(&positions, 20)
    })
}

/// A `stated` model that states 90 percent for the right outcome.
fn knowing_stated() -> ScriptedReply {
    ScriptedReply::with(|request| {
        let body = request.json();
        let schema = &body["response_format"]["json_schema"]["schema"]["properties"];
        let (key, schema) = schema.as_object().unwrap().iter().next().unwrap();
        let properties = schema["properties"].as_object().unwrap();
        let codes = codes(request);
        let right = codes.iter().find(|(_, is_right)| *is_right).unwrap();
        let stated = |name: &String| match name.as_str() {
            "code_1" => json!(right.0),
            "percent_1" => json!(90),
            "percent_others" => json!(10),
            name if name.starts_with("code_") => json!(""),
            name => json!(if name == right.0 { 90 } else { 0 }),
        };
        let answer: Value = properties
            .keys()
            .map(|name| (name.clone(), stated(name)))
            .collect::<serde_json::Map<_, _>>()
            .into();
        json!({"model": "stating-1", "choices": [{"message": {"content": json!({key: answer}).to_string()}}]})
    })
}

/// A `systemone` model that gives the right outcome and leaves out the others.
fn knowing_system_one() -> ScriptedReply {
    ScriptedReply::with(|request| {
        let body = request.json();
        let (key, question) = body["questions"]
            .as_object()
            .unwrap()
            .iter()
            .next()
            .unwrap();
        let criteria = &question["criteria"];
        let answer = match question["type"].as_str().unwrap() {
            "choice" => {
                let mut criteria = criteria.as_object().unwrap().iter();
                let right = criteria.find(|(_, words)| is_right(words.as_str().unwrap()));
                let right = right.unwrap().0;
                json!({"type": "choice", "choice": right, "probabilities": {right: 1}})
            }
            "score" => json!({"type": "score", "probabilities": {"0": 0, "1": 0, "2": 1}}),
            _ => json!({"type": "noul", "noul": 0.9}),
        };
        json!({"model": "knowing-1", "answers": {key: answer}})
    })
}

const CALLS: [&str; 5] = [
    "yes_no",
    "scale of 3",
    "choice of 4",
    "choice of 4, reversed",
    "choice of 255",
];

#[tokio::test]
async fn every_question_type_and_255_outcomes_are_asked_over_every_protocol() {
    for (protocol, reply, model, readable) in [
        (
            "systemone",
            knowing_system_one(),
            "knowing-1",
            [2, 3, 1, 1, 1],
        ),
        ("chat", knowing_chat(), "scripted-chat-1", [2, 2, 2, 2, 1]),
        ("stated", knowing_stated(), "stating-1", [2, 3, 4, 4, 1]),
    ] {
        let server = ModelServer::start(reply);
        let ended = check(&server, protocol, &["--json"]).await;
        assert!(ended.stderr.contains(protocol), "{ended:?}");
        assert!(ended.stderr.contains(model), "{ended:?}");
        let last = ended.stderr.lines().last();
        assert_eq!(last, Some("The model can serve."), "{ended:?}");
        let lines = ended.lines();
        for (line, (call, readable)) in lines.iter().zip(CALLS.iter().zip(readable)) {
            assert_eq!(line["call"], *call);
            assert_eq!(line["right"], true, "{line}");
            assert!(line["probability"].as_f64().unwrap() > 0.89, "{line}");
            assert_eq!(line["readable"], readable, "{line}");
            assert!(line["took_ms"].is_u64(), "{line}");
            assert_eq!(line["on_codes"].is_f64(), protocol == "chat", "{line}");
        }
        assert_eq!(lines.len(), CALLS.len());
        assert_eq!(lines[4]["outcomes"], 255);
    }
}

#[tokio::test]
async fn the_table_tells_how_codes_are_cut_and_what_falls_on_them() {
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
async fn what_a_model_is_weak_at_is_said() {
    // a model that always picks the first outcome
    let first = ChatModel::new([vec![1.0], vec![0.01; 254]].concat());
    let server = ModelServer::start(first.reply());
    let ended = check(&server, "chat", &[]).await;
    assert!(
        ended.stderr.contains("got an easy question wrong"),
        "{ended:?}"
    );
    assert!(ended.stderr.contains("probability by 0.961."), "{ended:?}");
    // a server that cannot continue an answer, so what follows the letters is never seen
    let even = ChatModel {
        continues: Continues::Never,
        ..ChatModel::new(vec![1.0; 255])
    };
    let server = ModelServer::start(even.reply());
    let ended = check(&server, "chat", &[]).await;
    let words = "Of the 255 outcomes of `choice of 255` 10 had a probability of their own: the \
                 others share what is left.";
    assert!(ended.stderr.contains(words), "{ended:?}");
}

#[tokio::test]
async fn a_model_that_cannot_serve_ends_it_with_the_reason_and_what_to_do() {
    let mut no_log_probabilities = tokens_reply(&[vec![("yes".to_owned(), 1.0)]], 20);
    no_log_probabilities["choices"][0]["logprobs"] = Value::Null;
    for (protocol, reply, words) in [
        (
            "systemone",
            ScriptedReply::status(401),
            "The model server answered with status 401. Check REFRACT_MODEL_API_KEY.",
        ),
        (
            "systemone",
            ScriptedReply::status(404),
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
            "stated",
            ScriptedReply::body(r#"{"choices":[{"message":{"content":"{}"}}]}"#),
            "The model gave no usable answer to the question late. Use a model that follows \
             instructions, with thinking off.",
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
    let server = ModelServer::start(ScriptedReply::answers());
    for _ in 0..4 {
        server.then_once(ScriptedReply::answers());
    }
    server.then_once(ScriptedReply::status(400));
    let ended = check(&server, "systemone", &["--json"]).await;
    assert_eq!(ended.stdout.lines().count(), 4, "{ended:?}");
    let words = "error: this model cannot serve (choice of 255): The model server answered";
    assert!(ended.stderr.contains(words), "{ended:?}");
    assert_eq!(ended.code, Some(1));
}

#[tokio::test]
async fn the_environments_proxy_is_not_asked() {
    let folder = tempfile::tempdir().unwrap();
    let (server, proxy) = (
        ModelServer::start(knowing_system_one()),
        ModelServer::start(ScriptedReply::status(502)),
    );
    let (url, proxy_url) = (server.url(), proxy.url());
    let names = [
        "http_proxy",
        "HTTP_PROXY",
        "https_proxy",
        "HTTPS_PROXY",
        "ALL_PROXY",
    ];
    let mut settings = names.map(|name| (name, proxy_url.as_str())).to_vec();
    settings.push(("REFRACT_MODEL_URL", url.as_str()));
    let ended = run(folder.path(), &settings, &["model", "check"]).await;
    ended.done();
    assert_eq!(proxy.counts().connections, 0);
}

#[tokio::test]
async fn the_built_in_scorer_is_said_to_be_for_trying_only() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [("REFRACT_MODEL_URL", "builtin:lexical")];
    let ended = run(folder.path(), &settings, &["model", "check"]).await;
    assert!(ended.stderr.contains("for trying"), "{ended:?}");
    assert!(ended.done().contains("choice of 255"));
}
