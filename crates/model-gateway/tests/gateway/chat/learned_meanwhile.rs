//! What a server takes is learned by one call while others are under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use refract_model_gateway::ModelReply;
use refract_test_support::model_server::{ChatModel, Script, ScriptedReply};

use super::*;

const CALLS: usize = 6;

/// The replies to calls whose first requests are all sent before any is answered. The first call ends
/// before the others get an answer.
async fn ask_meanwhile(
    reply: impl Fn(&Value) -> (u16, Value) + Clone + Send + Sync + 'static,
) -> Vec<ModelReply> {
    let reply = || {
        let reply = reply.clone();
        ScriptedReply::answering(move |request| reply(&request.json()))
    };
    let first = (0..CALLS).map(|_| reply().held());
    let server = ModelServer::start(Script::first(first).then(reply()));
    let model = model(&server);
    let version = &yes_no();
    let submission = submission(version, "Hello", None);
    let calls = (0..CALLS).map(|_| async {
        let reply = model.answer(version, &submission).await;
        server.release_all();
        reply
    });
    let begin = async {
        server.wait_until(|counts| counts.requests == CALLS).await;
        server.release(1);
    };
    let (replies, ()) = tokio::join!(join_all(calls), begin);
    replies
}

fn refused(message: &str) -> (u16, Value) {
    (400, json!({"error": {"message": message, "code": 400}}))
}

#[actix_rt::test]
async fn a_begun_answer_is_refused() {
    let model = ChatModel::new(vec![3.0, 1.0]);
    let replies = ask_meanwhile(move |body| match body["messages"][2]["role"].as_str() {
        Some("assistant") => refused("Expected last role User or Tool but got assistant"),
        Some(_) | None => model.answer_to(body),
    });
    for reply in replies.await {
        let answers = reply.outcome.unwrap();
        assert_eq!(probabilities(only(&answers)), [0.75, 0.25]);
    }
}

#[actix_rt::test]
async fn no_code_follows_a_begun_answer() {
    let codes = ChatModel::new(vec![3.0, 1.0]);
    let others = ChatModel {
        on_codes: 0.01,
        ..codes.clone()
    };
    let replies = ask_meanwhile(move |body| {
        let is_begun = body["messages"][2]["role"] == "assistant";
        let model = if is_begun { &others } else { &codes };
        model.answer_to(body)
    });
    for reply in replies.await {
        let answers = reply.outcome.unwrap();
        assert_eq!(probabilities(only(&answers)), [0.75, 0.25]);
    }
}

#[actix_rt::test]
async fn a_small_limit_is_refused_under_each_name() {
    const NAMES: [&str; 3] = ["max_tokens", "max_completion_tokens", "max_output_tokens"];
    // the names that the server takes, and the one that its refusals have
    for (taken, named) in [
        (&NAMES[..2], NAMES[0]),
        (&NAMES[..2], NAMES[1]),
        (&NAMES[..2], NAMES[2]),
        (&NAMES[..1], NAMES[0]),
        (&NAMES[1..2], NAMES[0]),
        (&NAMES[1..2], NAMES[1]),
    ] {
        let model = ChatModel::new(vec![3.0, 1.0]);
        let replies = ask_meanwhile(move |body| {
            let limit = |name: &&str| body.get(name)?.as_u64();
            match taken.iter().find_map(limit) {
                Some(16..) => model.answer_to(body),
                Some(_) => refused(&format!("Invalid '{named}': expected a value >= 16")),
                None => refused("Unsupported parameter: 'max_tokens', 'max_completion_tokens'"),
            }
        });
        for reply in replies.await {
            let answers = reply.outcome;
            assert!(answers.is_ok(), "{taken:?} {named}: {answers:?}");
        }
    }
}

#[actix_rt::test]
async fn another_model_behind_the_address_is_asked_for_no_thinking_again() {
    let refusal = json!({"error": {"message": "unsupported", "param": "chat_template_kwargs"}});
    let codes = ChatModel::new(vec![3.0, 1.0]);
    let before = [
        ScriptedReply::json(&refusal).with_status(400),
        codes.clone().reply(),
    ];
    let thinking = ScriptedReply::with(move |request| {
        let mut reply = codes.answer_to(&request.json()).1;
        if request.json().get("chat_template_kwargs").is_none() {
            let choice = &mut reply["choices"][0];
            choice["message"] = json!({"content": "", "reasoning_content": "A parcel"});
            choice["finish_reason"] = json!("length");
            choice["logprobs"] = Value::Null;
        }
        reply
    });
    let server = ModelServer::start(Script::first(before).then(thinking));
    let model = model(&server);
    let version = yes_no();
    let submission = submission(&version, "Hello", None);
    let mut ends = Vec::new();
    for _ in 0..4 {
        let reply = model.answer(&version, &submission).await;
        ends.push(reply.outcome.map_err(|failure| failure.kind()).err());
    }
    assert_eq!(ends, [None, Some("thinking"), None, None]);
}

#[actix_rt::test]
async fn servers_that_refuse_different_limits_take_turns_behind_one_address() {
    let codes = ChatModel::new(vec![3.0, 1.0]);
    let served_by = Arc::new(AtomicUsize::new(0));
    let of_server = Arc::clone(&served_by);
    let reply = ScriptedReply::answering(move |request| {
        let refuses = ["max_tokens", "max_completion_tokens"][of_server.load(Ordering::Relaxed)];
        let body = request.json();
        match body.get(refuses) {
            Some(_) => refused(&format!("Unsupported parameter: '{refuses}'")),
            None => codes.answer_to(&body),
        }
    });
    let server = ModelServer::start(reply);
    let model = model(&server);
    let version = yes_no();
    let submission = submission(&version, "Hello", None);
    for call in 0..10 {
        served_by.store(call % 2, Ordering::Relaxed);
        let reply = model.answer(&version, &submission).await;
        assert!(reply.outcome.is_ok(), "call {call}: {:?}", reply.outcome);
    }
}
