use std::time::Duration;

use refract_model_gateway::ModelSettings;
use refract_test_support::model_server::{ModelServer, Script, ScriptedReply};

use super::*;

/// A server that ends its first connection after reading a second request from it.
fn closing_server() -> ModelServer {
    let replies = [ScriptedReply::answers(), ScriptedReply::nothing()];
    ModelServer::start(Script::first(replies))
}

#[actix_rt::test]
async fn a_replaced_connection_is_no_second_attempt() {
    let server = closing_server();
    let model = model(&server);
    let version = yes_no();
    for _ in 0..2 {
        let call = model
            .answer(&version, &submission(&version, "a text"))
            .await;
        assert!(call.outcome.is_ok());
        assert_eq!((call.report.requests, call.report.attempts), (1, 1));
    }
    let [_, second, again]: [_; 3] = server.requests().try_into().unwrap();
    assert_eq!(second, again);
    assert_eq!(server.counts().connections, 2);
}

#[actix_rt::test]
async fn a_second_attempt_follows_a_refusal_over_the_new_connection() {
    let replies = [
        ScriptedReply::answers(),
        ScriptedReply::nothing(),
        ScriptedReply::status(503).header("retry-after", "0"),
    ];
    let server = ModelServer::start(Script::first(replies));
    let model = model(&server);
    let version = yes_no();
    for attempts in [1, 2] {
        let call = model
            .answer(&version, &submission(&version, "a text"))
            .await;
        assert!(call.outcome.is_ok());
        assert_eq!(call.report.attempts, attempts);
    }
    assert_eq!(
        (server.counts().connections, server.counts().requests),
        (2, 4)
    );
}

#[actix_rt::test]
async fn a_new_connection_has_the_rest_of_the_attempts_time() {
    let server = closing_server();
    let timeout = Duration::from_millis(300);
    let model = model_with(ModelSettings {
        timeout,
        ..settings(&server.url())
    });
    let version = yes_no();
    let submission = submission(&version, "a text");
    let first = model.answer(&version, &submission).await;
    assert!(first.outcome.is_ok());
    server.then_always(ScriptedReply::answers().held());
    let call = model.answer(&version, &submission).await;
    assert_eq!(call.outcome, Err(ModelError::TimedOut(timeout)));
    assert_eq!(call.report.attempts, 1);
    assert!(call.took < timeout * 2, "{:?}", call.took);
}
