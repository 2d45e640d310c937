//! Refusals of hosted models and gateways: inside an answer with status 200, for used-up credit, and
//! by a content filter. And what they put around an answer.

use refract_domain::answer::Answer;
use refract_domain::key::QuestionKey;
use refract_domain::prism::PrismVersion;
use refract_model_gateway::{ModelError, ModelGateway, ModelReply, Protocol};
use refract_test_support::model_server::{
    ChatModel, ModelServer, Script, ScriptedReply, tokens_reply,
};
use serde_json::{Value, json};

use crate::submission;

/// One yes/no question.
fn version() -> PrismVersion {
    let questions = json!([{"key": "angry", "type": "yes_no", "text": "Is the writer angry?"}]);
    let json = json!({"fields": [{"key": "text", "label": "Message"}], "questions": questions});
    serde_json::from_value(json).unwrap()
}

async fn ask(server: &ModelServer, protocol: Protocol) -> ModelReply {
    let settings = crate::settings(&server.url(), protocol, "m");
    let model = ModelGateway::new(settings).unwrap().model();
    let version = version();
    model
        .answer(&version, &submission(&version, "Hello", None))
        .await
}

/// The failure of a `chat` call to a server that always replies so, and the requests that it cost.
async fn failure(reply: ScriptedReply) -> (ModelError, usize) {
    let server = ModelServer::start(reply);
    let call = ask(&server, Protocol::Chat).await;
    (call.outcome.unwrap_err(), server.requests().len())
}

fn probability_of_yes(call: ModelReply) -> f64 {
    match call.outcome.unwrap().as_slice()[0].1 {
        Answer::YesNo { probability } => probability.to_f64(),
        Answer::Choice { .. } | Answer::Scale { .. } => f64::NAN,
    }
}

fn answer_of(protocol: Protocol) -> ScriptedReply {
    match protocol {
        Protocol::SystemOne => ScriptedReply::answers(),
        Protocol::Decisions => ScriptedReply::decisions(),
        Protocol::Gemini => ScriptedReply::gemini(),
        Protocol::Chat => ChatModel::new(vec![3.0, 1.0]).reply(),
        Protocol::Stated => {
            let content = r#"{"angry":{"yes":75,"no":25}}"#;
            ScriptedReply::json(&json!({"choices": [{"message": {"content": content}}]}))
        }
    }
}

#[actix_rt::test]
async fn a_rate_inside_an_answer_is_tried_again_in_every_protocol() {
    let empty = json!([{"finish_reason": null, "message": {"role": "assistant", "content": null}}]);
    for protocol in [
        Protocol::SystemOne,
        Protocol::Decisions,
        Protocol::Gemini,
        Protocol::Chat,
        Protocol::Stated,
    ] {
        for body in [
            json!({"error": {"message": "upstream", "code": 429}}),
            json!({"error": {"message": "upstream", "code": 503}, "choices": empty}),
        ] {
            let refused = ScriptedReply::json(&body).header("Retry-After", "0");
            let server = ModelServer::start(Script::first([refused]).then(answer_of(protocol)));
            let call = ask(&server, protocol).await;
            assert!(
                call.outcome.is_ok(),
                "{protocol:?} {body} {:?}",
                call.outcome
            );
            assert_eq!(call.report.attempts, 2, "{protocol:?} {body}");
        }
    }
    let refused = json!({"choices": [{"error": {"code": 429, "message": "upstream"}}]});
    let refused = ScriptedReply::json(&refused).header("Retry-After", "0");
    let (failure, requests) = failure(refused).await;
    assert!(failure.is_for_the_rate());
    assert_eq!((failure, requests), (ModelError::Status(429), 2));
}

#[actix_rt::test]
async fn used_up_credit_is_asked_once_and_is_no_rate() {
    let error = |code: &str| json!({"error": {"message": "no", "type": code, "code": code}});
    let reply = |status, body: &Value| ScriptedReply::json(body).with_status(status);
    for (reply, status) in [
        (reply(429, &error("insufficient_quota")), 429),
        (reply(429, &error("billing_hard_limit_reached")), 429),
        (
            reply(429, &error("slow_down")).header("Retry-After", "86400"),
            429,
        ),
        (reply(402, &json!({})), 402),
        (
            reply(
                500,
                &json!({"error": {"message": "insufficient balance (1008)"}}),
            ),
            500,
        ),
        (
            reply(200, &json!({"error": {"message": "no", "code": 402}})),
            402,
        ),
    ] {
        let (failure, requests) = failure(reply).await;
        assert!(!failure.is_for_the_rate());
        assert!(ModelError::is_about_used_up_credit(&failure.to_string()));
        assert_eq!((failure, requests), (ModelError::CreditUsedUp(status), 1));
    }
}

#[actix_rt::test]
async fn a_withheld_answer_is_blamed_on_the_filter_and_a_refusal_on_the_model() {
    let ended = |finish: &str, message: Value| json!({"choices": [{"finish_reason": finish, "logprobs": null, "message": message}]});
    let refused = ModelError::Refused(QuestionKey::parse("angry").unwrap());
    for (body, expected) in [
        (
            ended("content_filter", json!({"content": null})),
            ModelError::Withheld,
        ),
        (
            ended("content_filter: PROHIBITED_CONTENT", Value::Null),
            ModelError::Withheld,
        ),
        (
            ended("sensitive", json!({"content": ""})),
            ModelError::Withheld,
        ),
        (
            ended("guardrail_intervened", json!({"content": "I cannot"})),
            ModelError::Withheld,
        ),
        (
            ended("stop", json!({"content": null, "refusal": "I cannot"})),
            refused.clone(),
        ),
    ] {
        for protocol in [Protocol::Chat, Protocol::Stated] {
            let server = ModelServer::start(ScriptedReply::json(&body));
            let failure = ask(&server, protocol).await.outcome.unwrap_err();
            assert_eq!(failure, expected, "{protocol:?} {body}");
            assert_eq!((failure.kind(), server.requests().len()), ("withheld", 1));
        }
    }
    let filtered = json!({"error": {"code": "content_filter", "param": "prompt", "message": "no",
                                    "innererror": {"code": "ResponsibleAIPolicyViolation"}}});
    let filtered = ScriptedReply::json(&filtered).with_status(400);
    assert_eq!(failure(filtered).await, (ModelError::Withheld, 1));
}

#[actix_rt::test]
async fn an_answer_with_probabilities_counts_whatever_its_end_is_called() {
    let mut body = tokens_reply(
        &[vec![("yes".to_owned(), 0.75), ("no".to_owned(), 0.25)]],
        20,
    );
    body["choices"][0]["finish_reason"] = json!("content_filter");
    let server = ModelServer::start(ScriptedReply::json(&body));
    let found = probability_of_yes(ask(&server, Protocol::Chat).await);
    assert!((found - 0.75).abs() < 0.001);
}

#[actix_rt::test]
async fn only_the_tokens_of_the_content_are_read() {
    let token = |text: &str, others: &[(&str, f64)]| {
        let others = others
            .iter()
            .map(|(text, share)| ((*text).to_owned(), *share));
        let sum: f64 = others.clone().map(|(_, share)| share).sum();
        std::iter::once((text.to_owned(), 1.0 - sum))
            .chain(others)
            .collect::<Vec<_>>()
    };
    // the thoughts begin with a code
    let positions = [
        token("no", &[("yes", 0.1)]),
        token(" way", &[]),
        token("yes", &[("no", 0.25)]),
    ];
    let mut body = tokens_reply(&positions, 20);
    body["choices"][0]["message"] = json!({"content": "yes", "reasoning_content": "no way"});
    let server = ModelServer::start(ScriptedReply::json(&body));
    let found = probability_of_yes(ask(&server, Protocol::Chat).await);
    assert!((found - 0.75).abs() < 0.001, "{found}");

    body["choices"][0]["message"] = json!({"content": "maybe"});
    let failure = failure(ScriptedReply::json(&body)).await.0;
    let key = QuestionKey::parse("angry").unwrap();
    assert_eq!(failure, ModelError::OtherTokens(key));
}

#[actix_rt::test]
async fn numbers_that_are_no_logarithms_of_probabilities_are_not_read() {
    let mut body = tokens_reply(
        &[vec![("yes".to_owned(), 0.75), ("no".to_owned(), 0.25)]],
        20,
    );
    let listed = &mut body["choices"][0]["logprobs"]["content"][0];
    listed["logprob"] = json!(0.75);
    let failure = failure(ScriptedReply::json(&body)).await.0;
    let key = QuestionKey::parse("angry").unwrap();
    assert_eq!(failure, ModelError::NoLogProbabilities(key));
}

#[actix_rt::test]
async fn an_answer_may_begin_with_a_byte_order_mark_and_hold_its_text_in_parts() {
    let parts = json!([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                       {"type": "text", "text": r#"{"angry":{"yes":75,"no":25}}"#}]);
    let body = json!({"choices": [{"finish_reason": "stop", "message": {"content": parts}}]});
    let server = ModelServer::start(ScriptedReply::body(format!("\u{feff}{body}")));
    let found = probability_of_yes(ask(&server, Protocol::Stated).await);
    assert!((found - 0.75).abs() < 0.001, "{found}");
}
