//! Refusals that another form of the request avoids, and thinking models.

use refract_domain::key::QuestionKey;
use refract_test_support::model_server::{
    ChatModel, Continues, ReceivedRequest, Script, ScriptedReply, tokens_reply,
};

use super::*;

/// llama.cpp's answer if a template raises on the system message.
const RAISED: &str = r#"{"error":{"code":500,"message":"\n------------\nWhile executing CallExpression at line 1, column 74 in source:\n...== 'system' %}{{ raise_exception('System role not supported') }}{% endif %}...\n                                           ^\nError: Jinja Exception: System role not supported","type":"server_error"}}"#;
/// vLLM's answer if a template raises on the system message.
const BAD_REQUEST: &str = r#"{"error":{"message":"System role not supported","type":"BadRequestError","param":null,"code":400}}"#;

/// A server's answer `yes` to any request.
fn yes() -> ScriptedReply {
    let position = vec![("yes".to_owned(), 0.75), ("no".to_owned(), 0.25)];
    ScriptedReply::json(&tokens_reply(&[position], 20))
}

fn messages(request: &ReceivedRequest) -> Vec<(String, String)> {
    let body = request.json();
    let messages = body["messages"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    messages
        .map(|message| (text(&message["role"]), text(&message["content"])))
        .collect()
}

#[actix_rt::test]
async fn a_refused_system_message_goes_into_the_users_from_then_on() {
    for (status, body) in [(500, RAISED), (400, RAISED), (400, BAD_REQUEST)] {
        let refusal = ScriptedReply::body(body).with_status(status);
        let server = ModelServer::start(Script::first([refusal]).then(yes()));
        let model = model(&server);
        let version = yes_no();
        let submission = submission(&version, "Hello", None);
        for attempts in [2, 1] {
            let reply = model.answer(&version, &submission).await;
            assert_eq!(probabilities(only(&reply.outcome.unwrap())), [0.75, 0.25]);
            assert_eq!(
                (reply.report.requests, reply.report.attempts),
                (attempts, attempts)
            );
        }
        let sent = server.requests();
        let [first, second, third]: [_; 3] = sent.try_into().unwrap();
        let first = messages(&first);
        let (system, user) = (&first[0], &first[1]);
        assert_eq!((system.0.as_str(), user.0.as_str()), ("system", "user"));
        let joined = ("user".to_owned(), format!("{}\n\n{}", system.1, user.1));
        assert_eq!(messages(&second), [joined, first[2].clone()]);
        assert_eq!(messages(&second), messages(&third));
        assert_eq!(second.json()["max_tokens"], 1, "nothing else was left out");
    }
}

#[actix_rt::test]
async fn a_request_without_a_system_message_is_refused_for_another_reason() {
    let server = ModelServer::start(ScriptedReply::body(RAISED).with_status(500));
    let model = model(&server);
    let version = yes_no();
    let submission = submission(&version, "Hello", None);
    // one request with a system message, then two attempts at a request without one
    for requests in [3, 5] {
        let outcome = model.answer(&version, &submission).await.outcome;
        assert_eq!(outcome, Err(ModelError::Status(500)));
        assert_eq!(server.counts().requests, requests);
    }
}

#[actix_rt::test]
async fn a_server_that_continues_no_thinking_model_is_asked_by_a_schema() {
    let refusal = r#"{"error":{"code":400,"message":"Assistant response prefill is incompatible with enable_thinking.","type":"invalid_request_error"}}"#;
    let model = || ChatModel {
        continues: Continues::Schema,
        ..ChatModel::new((1..=30).map(f64::from).collect())
    };
    let refusal = ScriptedReply::body(refusal).with_status(400);
    let server =
        ModelServer::start(Script::first([model().reply(), refusal]).then(model().reply()));
    let answers = ask(&server, &choice(30)).await.unwrap();
    let stored = probabilities(only(&answers));
    assert!((stored[0] - 1.0 / 465.0).abs() < 0.00001, "{stored:?}");
}

#[actix_rt::test]
async fn an_answer_that_ends_in_its_thinking_is_reported_as_such() {
    let thinking = |message: Value, finish: &str| {
        let position = vec![("A".to_owned(), 0.9), ("Okay".to_owned(), 0.1)];
        let mut reply = tokens_reply(&[position, vec![(" parcel".to_owned(), 1.0)]], 20);
        reply["choices"][0]["message"] = message;
        reply["choices"][0]["finish_reason"] = json!(finish);
        reply
    };
    let kept_apart = json!({"content": "", "reasoning_content": "A parcel"});
    for message in [
        kept_apart.clone(),
        json!({"content": null, "reasoning_content": "A parcel"}),
        json!({"content": "", "reasoning": "A parcel"}),
        json!({"content": "<think>\nA parcel"}),
    ] {
        let mut without = thinking(message.clone(), "length");
        without["choices"][0]["logprobs"] = Value::Null;
        for body in [thinking(message.clone(), "length"), without] {
            let server = ModelServer::start(ScriptedReply::json(&body));
            let failure = ask(&server, &choice(4)).await.unwrap_err();
            let key = QuestionKey::parse("topic").unwrap();
            assert_eq!(failure, ModelError::StillThinking(key), "{message}");
            assert_eq!(failure.kind(), "thinking");
            assert_eq!(
                failure.to_string(),
                "The model gave no usable answer to the question topic: it was still thinking \
                 when its answer ended."
            );
        }
    }
    // this server treats every word as thoughts, even those of a complete answer
    let mut whole = tokens_reply(&[vec![("A".to_owned(), 0.75), ("B".to_owned(), 0.25)]], 20);
    whole["choices"][0]["message"] = json!({"content": null, "reasoning_content": "A"});
    let server = ModelServer::start(ScriptedReply::json(&whole));
    let answers = ask(&server, &choice(4)).await.unwrap();
    assert_eq!(probabilities(only(&answers)), [0.75, 0.25, 0.0, 0.0]);
}

#[actix_rt::test]
async fn a_server_that_is_killed_in_mid_call_has_closed_the_connection() {
    for killed in [
        yes().cut(),
        yes().chunked().cut(),
        yes().until_close().cut(),
        yes().until_close_in_1_1().cut(),
        ScriptedReply::nothing(),
        ScriptedReply::bare("HTTP/1.1 200 OK\r\nContent-Ty"),
    ] {
        let server = ModelServer::start(killed.clone());
        let failure = ask(&server, &yes_no()).await.unwrap_err();
        assert_eq!(failure, ModelError::Disconnected, "{killed:?}");
        assert_eq!(server.counts().requests, 1);
    }
}
