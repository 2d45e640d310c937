//! The server's message about a failure, and the failures that it causes.

use refract_model_gateway::ModelReply;
use refract_test_support::model_server::{ModelServer, Script, ScriptedReply};

use super::*;

/// llama.cpp's answer to `/v1/systemone` if its model is no decision model.
const NO_DECISION_MODEL: &str = r#"{"error":{"code":501,"message":"This model is not a decision model","type":"not_supported_error"}}"#;
/// llama.cpp's answer while it loads the model.
const LOADING: &str =
    r#"{"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#;
/// llama.cpp's answer to a text that is too long.
const TOO_LONG: &str = r#"{"error":{"code":400,"message":"request (9412 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9412,"n_ctx":8192}}"#;

async fn reply(script: impl Into<Script>) -> (ModelReply, usize) {
    let server = ModelServer::start(script);
    let version = yes_no();
    let submission = submission(&version, "Where is my order?");
    let reply = model(&server).answer(&version, &submission).await;
    (reply, server.counts().requests)
}

fn message(reply: &ModelReply) -> Option<String> {
    reply.server_message.as_ref()?.for_terminal(None)
}

fn refusal(status: u16, body: &str) -> ScriptedReply {
    let reply = ScriptedReply::body(body).with_status(status);
    reply.header("Retry-After", "0")
}

#[actix_rt::test]
async fn every_refusal_brings_the_servers_words_with_it() {
    for status in [
        201, 301, 400, 401, 403, 404, 405, 413, 422, 429, 500, 501, 503,
    ] {
        for body in [
            r#"{"error":{"message":"said"}}"#,
            r#"{"detail":"said"}"#,
            "said",
        ] {
            for reply in [refusal(status, body), refusal(status, body).chunked()] {
                let (reply, _) = self::reply(reply).await;
                assert_eq!(message(&reply).as_deref(), Some("said"), "{status} {body}");
            }
        }
    }
    for body in [r#"{"error":{"message":"said"}}"#, r#"{"message":"said"}"#] {
        let (reply, _) = reply(ScriptedReply::body(body)).await;
        assert_eq!(message(&reply).as_deref(), Some("said"), "{body}");
    }
}

#[actix_rt::test]
async fn words_are_the_failures_own() {
    let (reply, _) = reply(Script::first([refusal(503, "first")])).await;
    assert!(reply.outcome.is_ok());
    assert_eq!(message(&reply), None);
    for second in [
        ScriptedReply::answers().cut(),
        ScriptedReply::body(r#"{"answers":{}}"#),
        refusal(500, ""),
    ] {
        let (reply, _) = self::reply(Script::first([refusal(503, "first"), second])).await;
        assert!(reply.outcome.is_err());
        assert_eq!(message(&reply), None);
    }
    let both = [refusal(503, "first"), refusal(500, "second")];
    let (reply, _) = self::reply(Script::first(both)).await;
    assert_eq!(message(&reply).as_deref(), Some("second"));
}

#[actix_rt::test]
async fn words_that_do_not_come_hold_up_neither_the_second_attempt_nor_the_failure() {
    let stalled = |status| refusal(status, "never said").body_held();
    let (reply, requests) = reply(Script::first([stalled(503)])).await;
    assert!(reply.outcome.is_ok());
    assert_eq!(requests, 2);
    assert!(reply.took < Duration::from_secs(5), "{:?}", reply.took);
    let (reply, _) = self::reply(stalled(404)).await;
    assert_eq!(reply.outcome, Err(ModelError::Status(404)));
    assert!(reply.took < Duration::from_secs(5), "{:?}", reply.took);
    // a message that is cut off or too large does not count
    for broken in [
        refusal(404, r#"{"error":"said"}"#).cut(),
        refusal(404, &"x".repeat(70_000)),
    ] {
        let (reply, _) = self::reply(broken).await;
        assert_eq!(reply.outcome, Err(ModelError::Status(404)));
        assert_eq!(message(&reply), None);
    }
}

#[actix_rt::test]
async fn refusals_of_llama_cpp_have_a_sentence_each() {
    for (status, body, sentence, kind, attempts) in [
        (
            501,
            NO_DECISION_MODEL,
            "The model server answered with status 501.",
            "status",
            2,
        ),
        (
            503,
            LOADING,
            "The model server is still loading its model (status 503).",
            "loading",
            2,
        ),
        (
            400,
            TOO_LONG,
            "The text is too long for the model's context (status 400).",
            "context_too_small",
            1,
        ),
    ] {
        let (reply, requests) = reply(refusal(status, body)).await;
        let failure = reply.outcome.unwrap_err();
        assert_eq!(
            (failure.to_string().as_str(), failure.kind()),
            (sentence, kind)
        );
        assert_eq!(requests, attempts, "{body}");
    }
    let (reply, _) = reply(Script::first([refusal(503, LOADING)])).await;
    assert!(reply.outcome.is_ok());
}
