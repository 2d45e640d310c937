//! An answer gets no more tokens than the codes of its server need.

use refract_model_gateway::ModelReply;
use refract_test_support::model_server::{ChatModel, Script, ScriptedReply, tokens_reply};

use super::*;

async fn ask_once(model: &Model, version: &PrismVersion) -> ModelReply {
    let submission = submission(version, "Where is my order?", None);
    model.answer(version, &submission).await
}

/// The token limits of all requests so far.
fn limits(server: &ModelServer) -> Vec<u64> {
    let requests = server.requests().into_iter();
    requests
        .map(|request| request.json()["max_tokens"].as_u64().unwrap())
        .collect()
}

/// A server that writes these tokens, as far as the limit of a request lets it.
fn writing(tokens: &'static [&'static [(&'static str, f64)]]) -> ScriptedReply {
    ScriptedReply::with(move |request| {
        let most = request.json()["max_tokens"].as_u64().unwrap();
        let most = usize::try_from(most).unwrap();
        let shown = tokens.iter().take(most).map(|position| {
            let position = position.iter();
            position
                .map(|(text, share)| ((*text).to_owned(), *share))
                .collect()
        });
        let mut reply = tokens_reply(&shown.collect::<Vec<_>>(), 20);
        if most <= tokens.len() {
            reply["choices"][0]["finish_reason"] = json!("length");
        }
        reply
    })
}

#[actix_rt::test]
async fn a_code_that_its_first_token_decides_gets_one_token() {
    let server = ModelServer::start(ChatModel::new(vec![1.0; 30]).reply());
    let model = model(&server);
    for version in [yes_no(), scale(10), choice(20)] {
        ask_once(&model, &version).await.outcome.unwrap();
    }
    assert_eq!(limits(&server), [1, 1, 1]);
}

#[actix_rt::test]
async fn a_code_of_two_characters_gets_two_tokens_and_the_rest_of_one_gets_one() {
    let server = ModelServer::start(ChatModel::new(vec![1.0; 60]).reply());
    let model = model(&server);
    ask_once(&model, &choice(60)).await.outcome.unwrap();
    // the first follow-up request finds out whether the server continues a message
    assert_eq!(limits(&server), [2, 8, 1, 1, 1, 1]);
    let mut after = limits(&server).len();
    ask_once(&model, &choice(60)).await.outcome.unwrap();
    assert_eq!(limits(&server).split_off(after), [2, 1, 1, 1, 1, 1]);
    after = limits(&server).len();
    ask_once(&model, &yes_no()).await.outcome.unwrap();
    assert_eq!(limits(&server).split_off(after), [1]);
}

#[actix_rt::test]
async fn tokens_before_the_code_are_found_out_once() {
    const LINE_BREAK: &[&[(&str, f64)]] = &[&[("\n", 1.0)], &[("yes", 0.75), ("no", 0.25)]];
    const EMPTY_THINKING: &[&[(&str, f64)]] = &[
        &[("<think>", 1.0)],
        &[("\n\n", 1.0)],
        &[("</think>", 1.0)],
        &[("\n\n", 1.0)],
        &[("yes", 0.75), ("no", 0.25)],
        &[("<|im_end|>", 1.0)],
    ];
    for (tokens, needed) in [(LINE_BREAK, 2), (EMPTY_THINKING, 5)] {
        let server = ModelServer::start(writing(tokens));
        let model = model(&server);
        for _ in 0..2 {
            let reply = ask_once(&model, &yes_no()).await;
            assert_eq!(probabilities(only(&reply.outcome.unwrap())), [0.75, 0.25]);
        }
        assert_eq!(limits(&server), [1, 8, needed]);
    }
}

#[actix_rt::test]
async fn a_model_that_thinks_on_gets_the_most_tokens_from_then_on() {
    let server = ModelServer::start(writing(&[
        &[("<think>", 1.0)],
        &[("Hm", 1.0)],
        &[(",", 1.0)],
    ]));
    let model = model(&server);
    for _ in 0..2 {
        let failure = ask_once(&model, &yes_no()).await.outcome.unwrap_err();
        assert_eq!(failure.kind(), "thinking");
    }
    assert_eq!(limits(&server), [1, 8, 8]);
}

#[actix_rt::test]
async fn a_code_that_the_question_lacks_may_begin_a_sentence() {
    let server = ModelServer::start(writing(&[
        &[("I", 0.5), ("A", 0.3), ("B", 0.2)],
        &[(" think", 1.0)],
        &[(" so", 1.0)],
    ]));
    let reply = ask_once(&model(&server), &choice(4)).await.outcome.unwrap();
    assert_eq!(probabilities(only(&reply)), [0.6, 0.4, 0.0, 0.0]);
    assert_eq!(limits(&server), [1, 8]);
    // without a sentence it is an unknown code
    let server = ModelServer::start(writing(&[&[("I", 0.5), ("A", 0.3), ("B", 0.2)]]));
    let reply = ask_once(&model(&server), &choice(4)).await.outcome.unwrap();
    assert!(matches!(only(&reply), Answer::Choice { value: None, .. }));
}

#[actix_rt::test]
async fn an_answer_that_the_model_ended_is_not_asked_for_again() {
    let empty = json!({"choices": [{"finish_reason": "stop", "message": {"content": "\n"},
        "logprobs": {"content": [{"token": "\n", "logprob": -0.1}]}}]});
    let server = ModelServer::start(Script::from(ScriptedReply::json(&empty)));
    ask_once(&material_first(&server), &yes_no())
        .await
        .outcome
        .unwrap_err();
    assert_eq!(limits(&server), [1]);
}

#[actix_rt::test]
async fn a_server_that_refuses_a_small_limit_gets_a_larger_one() {
    let model_behind = ChatModel::new(vec![3.0, 1.0]);
    let server = ModelServer::start(ScriptedReply::answering(move |request| {
        let body = request.json();
        let limit = ["max_tokens", "max_completion_tokens"];
        let limit = limit
            .iter()
            .find_map(|name| Some((*name, body.get(name)?.as_u64()?)));
        match limit {
            Some((name, 0..16)) => {
                let error = json!({"message": "Expected a value >= 16", "param": name});
                (400, json!({"error": error}))
            }
            _ => model_behind.answer_to(&body),
        }
    }));
    let model = model(&server);
    for requests in [3, 4] {
        ask_once(&model, &yes_no()).await.outcome.unwrap();
        assert_eq!(server.counts().requests, requests);
    }
    let last = server.requests().pop().unwrap().json();
    assert_eq!(last["max_tokens"], 16);
}
