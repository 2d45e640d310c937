use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use refract_test_support::model_server::{ReceivedRequest, Script};
use serde_json::value::RawValue;

use super::*;

/// Characters of a request's state and questions, as the estimate counts them: the state as the
/// JSON that the model reads, the questions as sent.
fn estimated(request: &ReceivedRequest) -> usize {
    #[derive(serde::Deserialize)]
    struct SentRequest {
        input: String,
        questions: Box<RawValue>,
    }
    let sent: SentRequest = serde_json::from_slice(&request.body).unwrap();
    let questions = sent.questions.get().chars().count();
    r#"{"input":,"questions":}"#.len() + sent.input.chars().count() + questions
}

/// The questions of a request as they were sent.
fn questions(request: &ReceivedRequest) -> Vec<Value> {
    request.json()["questions"].as_array().unwrap().clone()
}

/// Questions of alternating types, with texts and descriptions of these lengths.
fn version_of(lengths: &[usize]) -> PrismVersion {
    let described = |key: &str, length| json!({"key": key, "label": "Label", "description": "\"é日\n".repeat(length + 1)});
    let questions = lengths.iter().enumerate().map(|(place, length)| {
        let key = format!("q{place}");
        let outcomes = json!([described("a", *length), described("b", 1)]);
        match place % 3 {
            0 => json!({"key": key, "type": "yes_no", "text": "ü".repeat(length + 1)}),
            1 => json!({"key": key, "type": "choice", "text": "Which?", "options": outcomes}),
            _ => json!({"key": key, "type": "scale", "text": "How?", "levels": outcomes}),
        }
    });
    version(&questions.collect())
}

#[test]
fn any_questions_go_in_the_fewest_requests_that_fit() {
    let system = actix_rt::System::new();
    let strategy = (
        prop::collection::vec(0..200_usize, 1..30),
        "\\PC{0,300}",
        1..2_000_usize,
    );
    TestRunner::new(Config::with_cases(100))
        .run(&strategy, |(lengths, text, request_tokens)| {
            let server = ModelServer::start(ScriptedReply::decisions());
            let version = version_of(&lengths);
            let submission = submission(&version, &text, Some("A \"VIP\"."));
            let gateway = gateway(&server, request_tokens);
            let model = system.block_on(async { gateway.model() });
            let call = system.block_on(model.answer(&version, &submission));
            prop_assert_eq!(call.outcome.unwrap().as_slice().len(), lengths.len());

            // they arrive in any order
            let mut sent = server.requests();
            let first_place = |request: &ReceivedRequest| {
                let name = questions(request)[0]["name"].as_str().unwrap().to_owned();
                name.trim_start_matches('q').parse::<usize>().unwrap()
            };
            sent.sort_by_key(first_place);
            let names = sent.iter().flat_map(questions);
            let names: Vec<Value> = names.map(|question| question["name"].clone()).collect();
            let expected = (0..lengths.len()).map(|place| json!(format!("q{place}")));
            prop_assert_eq!(names, expected.collect::<Vec<_>>());

            for request in &sent {
                prop_assert_eq!(&request.json()["input"], &sent[0].json()["input"]);
                let fits = estimated(request) <= 4 * request_tokens;
                prop_assert!(fits || questions(request).len() == 1);
            }
            for pair in sent.windows(2) {
                let next = questions(&pair[1])[0].to_string();
                let with_next = estimated(&pair[0]) + ",".len() + next.chars().count();
                prop_assert!(with_next > 4 * request_tokens, "another cut would be fewer");
            }
            let state_chars = sent[0].json()["input"].as_str().unwrap().chars().count();
            let cost = gateway.estimator(&version).estimate(state_chars);
            prop_assert_eq!(cost.requests, sent.len());
            Ok(())
        })
        .unwrap();
}

#[actix_rt::test]
async fn a_hundred_questions_of_255_outcomes_are_answered_in_order() {
    let option = |option| json!({"key": format!("o{option}"), "label": format!("Option {option}")});
    let options: Vec<Value> = (0..253).map(option).collect();
    let question = |place| json!({"key": format!("q{place}"), "type": "choice", "text": "Which?", "options": options});
    let version = version(&(0..100).map(question).collect());
    let server = ModelServer::start(ScriptedReply::decisions());
    let submission = submission(&version, &"日本 ".repeat(1000), None);
    let call = model(&server).answer(&version, &submission).await;

    let answers = call.outcome.unwrap();
    let keys = answers.as_slice().iter().map(|(key, _)| key.to_string());
    let expected = (0..100).map(|place| format!("q{place}"));
    assert!(keys.eq(expected));
    let sent = server.requests();
    assert!(sent.len() > 1, "{}", sent.len());
    for question in sent.iter().flat_map(questions) {
        assert_eq!(question["choices"].as_array().unwrap().len(), 255);
    }
    let tokens: usize = sent.iter().map(|sent| sent.body.len() / 4).sum();
    assert_eq!(call.report.input_tokens, u64::try_from(tokens).ok());
    assert_eq!(call.report.output_tokens, Some(1000));
}

#[actix_rt::test]
async fn the_first_request_that_fails_fails_the_call_and_the_others_are_dropped() {
    let held = || ScriptedReply::decisions().held();
    let refused = Script::first([held(), held(), ScriptedReply::status(400)]);
    let server = ModelServer::start(refused.then(held()));
    let version = version_of(&[1; 4]);
    let gateway = gateway(&server, 1);
    let submission = submission(&version, "text", None);
    let call = gateway.model().answer(&version, &submission).await;
    assert_eq!(call.outcome, Err(ModelError::Status(400)));
    server
        .wait_until(|counts| counts.abandoned == counts.requests - 1)
        .await;
    assert_eq!(gateway.in_flight(), 0);
}
