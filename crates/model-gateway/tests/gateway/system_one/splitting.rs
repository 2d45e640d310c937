use refract_model_gateway::ModelSettings;
use refract_test_support::model_server::{ModelServer, Script, ScriptedReply};
use serde_json::{Value, json};

use super::*;

/// A prism with this many choices, each with this many options with descriptions.
fn large(questions: usize, options: usize) -> PrismVersion {
    let options: Vec<Value> = (0..options)
        .map(|option| {
            json!({"key": format!("o{option}"), "label": format!("Option {option}"),
                   "description": "é".repeat(100)})
        })
        .collect();
    let questions: Vec<Value> = (0..questions)
        .map(|question| {
            json!({"key": format!("q{question}"), "type": "choice", "text": "Which?", "options": options})
        })
        .collect();
    let json = json!({"fields": [{"key": "text", "label": "Text"}], "questions": questions});
    version(&json.to_string())
}

fn split_at(server: &ModelServer, request_tokens: usize) -> Model {
    model_with(ModelSettings {
        request_tokens,
        ..settings(&server.url())
    })
}

/// Estimated characters of a request, for its state and its questions.
fn estimated(sent: &str) -> usize {
    sent.chars().count() - r#""model":"jev-latest","#.len()
}

fn questions_of(json: &Value) -> usize {
    json["questions"].as_object().unwrap().len()
}

#[actix_rt::test]
async fn a_hundred_questions_of_255_outcomes_go_in_the_fewest_requests() {
    let server = ModelServer::start(ScriptedReply::answers());
    let version = large(100, 253);
    let text = "日本 ".repeat(1000);
    let call = split_at(&server, 52_000)
        .answer(&version, &submission(&version, &text))
        .await;

    let answers = call.outcome.unwrap();
    let keys: Vec<String> = answers
        .as_slice()
        .iter()
        .map(|(key, _)| key.to_string())
        .collect();
    let expected: Vec<String> = (0..100).map(|question| format!("q{question}")).collect();
    assert_eq!(keys, expected);

    let sent = server.requests();
    let one_question = estimated(&sent[0].text()) / questions_of(&sent[0].json());
    for request in &sent {
        assert!(estimated(&request.text()) <= 4 * 52_000);
        assert_eq!(request.json()["state"]["text"], text);
    }
    let full = sent
        .iter()
        .filter(|sent| estimated(&sent.text()) + one_question > 4 * 52_000);
    assert!(full.count() >= sent.len() - 1, "another cut would be fewer");
    assert_eq!(
        sent.iter()
            .map(|sent| questions_of(&sent.json()))
            .sum::<usize>(),
        100
    );
    assert_eq!(usize::try_from(call.report.requests).unwrap(), sent.len());
    let tokens: usize = sent.iter().map(|sent| sent.body.len() / 4).sum();
    assert_eq!(call.report.input_tokens, u64::try_from(tokens).ok());
    assert_eq!(call.report.output_tokens, Some(1000));
}

#[actix_rt::test]
async fn the_bound_is_met_to_the_character() {
    let version = large(2, 2);
    let text = |padding: usize| format!("text{}", "x".repeat(padding));
    let server = ModelServer::start(ScriptedReply::answers());
    let whole = split_at(&server, 52_000);
    whole
        .answer(&version, &submission(&version, &text(0)))
        .await
        .outcome
        .unwrap();
    let chars = estimated(&server.requests()[0].text());

    let tokens = chars.div_ceil(4);
    let fitting = 4 * tokens - chars;
    for (padding, requests) in [(fitting, 1), (fitting + 1, 2)] {
        let server = ModelServer::start(ScriptedReply::answers());
        let submission = submission(&version, &text(padding));
        split_at(&server, tokens)
            .answer(&version, &submission)
            .await
            .outcome
            .unwrap();
        assert_eq!(server.counts().requests, requests, "{padding}");
    }
}

#[actix_rt::test]
async fn a_question_that_is_over_the_bound_alone_goes_alone() {
    let server = ModelServer::start(ScriptedReply::answers());
    let version = large(3, 2);
    let call = split_at(&server, 1)
        .answer(&version, &submission(&version, "text"))
        .await;
    assert_eq!(call.outcome.unwrap().as_slice().len(), 3);
    let asked: Vec<usize> = server
        .requests()
        .iter()
        .map(|sent| questions_of(&sent.json()))
        .collect();
    assert_eq!(asked, [1, 1, 1]);
}

#[actix_rt::test]
async fn requests_of_one_call_are_under_way_at_the_same_time() {
    let server = ModelServer::start(ScriptedReply::answers().held());
    let version = large(5, 2);
    let model = split_at(&server, 1);
    let submission = submission(&version, "text");
    let release = async {
        server.wait_until(|counts| counts.requests == 5).await;
        server.release_all();
    };
    let (call, ()) = tokio::join!(model.answer(&version, &submission), release);
    assert!(call.outcome.is_ok());
}

#[actix_rt::test]
async fn the_first_request_that_fails_fails_the_call_and_the_others_are_dropped() {
    let held = || ScriptedReply::answers().held();
    let server = ModelServer::start(
        Script::first([held(), held(), ScriptedReply::status(400)]).then(held()),
    );
    let version = large(4, 2);
    let gateway = ModelGateway::new(ModelSettings {
        request_tokens: 1,
        ..settings(&server.url())
    })
    .unwrap();
    let call = gateway
        .model()
        .answer(&version, &submission(&version, "text"))
        .await;
    assert_eq!(call.outcome, Err(ModelError::Status(400)));
    server
        .wait_until(|counts| counts.abandoned == counts.requests - 1)
        .await;
    assert_eq!(gateway.in_flight(), 0);
}

#[actix_rt::test]
async fn a_question_without_an_answer_is_named_whichever_request_it_was_in() {
    let server = ModelServer::start(ScriptedReply::with(|request| {
        let mut answers = json!({});
        for key in request.json()["questions"]
            .as_object()
            .unwrap()
            .keys()
            .filter(|key| *key != "q2")
        {
            answers[key] = json!({"type": "choice", "choice": "o0", "probabilities": {"o0": 1}});
        }
        json!({"answers": answers})
    }));
    let version = large(4, 2);
    let call = split_at(&server, 1)
        .answer(&version, &submission(&version, "text"))
        .await;
    let failure = call.outcome.unwrap_err();
    assert_eq!(
        failure.to_string(),
        "The model gave no usable answer to the question q2."
    );
}
