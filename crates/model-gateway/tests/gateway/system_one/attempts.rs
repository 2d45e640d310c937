use std::time::{Duration, Instant};

use futures_util::future::join_all;
use refract_model_gateway::{ModelReply, ModelSettings, Unreachable};
use refract_test_support::model_server::{ModelServer, ReceivedRequest, Script, ScriptedReply};

use super::*;

async fn call(model: &Model) -> ModelReply {
    let version = yes_no();
    model
        .answer(&version, &submission(&version, "Where is my order?"))
        .await
}

fn impatient(server: &ModelServer) -> Model {
    let timeout = Duration::from_millis(150);
    model_with(ModelSettings {
        timeout,
        ..settings(&server.url())
    })
}

/// The request without its `Date` header.
fn undated(mut request: ReceivedRequest) -> ReceivedRequest {
    request.headers.retain(|(name, _)| name != "date");
    request
}

#[actix_rt::test]
async fn a_429_or_any_5xx_gets_one_more_attempt() {
    for status in [429, 500, 501, 502, 503, 504, 529, 599] {
        let reply = ScriptedReply::status(status).header("Retry-After", "0");
        let server = ModelServer::start(Script::first([reply]));
        let call = call(&model(&server)).await;
        assert!(call.outcome.is_ok(), "{status}");
        assert_eq!((call.report.requests, call.report.attempts), (1, 2));
        let [first, second]: [_; 2] = server.requests().try_into().unwrap();
        assert_eq!(undated(first), undated(second));
    }
}

#[actix_rt::test]
async fn a_second_refusal_is_the_calls_with_its_own_status() {
    let refusals =
        [429, 503, 500].map(|status| ScriptedReply::status(status).header("retry-after", "0"));
    let server = ModelServer::start(Script::first(refusals));
    let call = call(&model(&server)).await;
    assert_eq!(call.outcome, Err(ModelError::Status(503)));
    assert_eq!(server.counts().requests, 2);
}

#[actix_rt::test]
async fn without_a_retry_after_the_pause_is_short() {
    let server = ModelServer::start(Script::first([ScriptedReply::status(500)]));
    let call = call(&model(&server)).await;
    assert!(call.outcome.is_ok());
    assert!(call.took >= Duration::from_millis(100), "{:?}", call.took);
}

#[actix_rt::test]
async fn the_servers_retry_after_is_waited_for() {
    let reply = ScriptedReply::status(429).header("Retry-After", "1");
    let server = ModelServer::start(Script::first([reply]));
    let call = call(&model(&server)).await;
    assert!(call.outcome.is_ok());
    assert!(call.took >= Duration::from_secs(1), "{:?}", call.took);
}

#[actix_rt::test]
async fn every_other_status_fails_at_once() {
    for status in [201, 202, 204, 400, 401, 403, 404, 408, 413, 422, 499] {
        let server = ModelServer::start(ScriptedReply::status(status).header("Retry-After", "0"));
        let call = call(&model(&server)).await;
        assert_eq!(call.outcome, Err(ModelError::Status(status)));
        assert_eq!(server.counts().requests, 1, "{status}");
    }
}

#[actix_rt::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = ModelServer::start(ScriptedReply::answers());
    for status in [301, 302, 303, 307, 308] {
        let location = format!("{}/systemone", elsewhere.url());
        let server =
            ModelServer::start(ScriptedReply::status(status).header("Location", &location));
        let failure = call(&model(&server)).await.outcome.unwrap_err();
        assert_eq!(
            failure.to_string(),
            format!(
                "The model server answered with a redirect (status {status}), which is not followed."
            )
        );
        assert_eq!(server.counts().requests, 1);
    }
    assert_eq!(elsewhere.counts().connections, 0);
}

#[actix_rt::test]
async fn an_attempt_that_takes_too_long_fails_the_call_wherever_it_stands_still() {
    for reply in [
        ScriptedReply::answers().held(),
        ScriptedReply::answers().body_held(),
        ScriptedReply::answers().chunked().body_held(),
        ScriptedReply::answers().until_close_in_1_1().body_held(),
    ] {
        let server = ModelServer::start(reply);
        let call = call(&impatient(&server)).await;
        let failure = call.outcome.unwrap_err();
        assert_eq!(
            failure.to_string(),
            "The model did not answer within 150 ms."
        );
        assert!(call.took >= Duration::from_millis(150), "{:?}", call.took);
        assert_eq!(call.report.attempts, 1);
        server.wait_until(|counts| counts.abandoned == 1).await;
        assert_eq!(server.counts().requests, 1);
    }
}

#[actix_rt::test]
async fn the_second_attempt_has_its_own_time() {
    let refused = ScriptedReply::status(503).header("Retry-After", "0");
    let server = ModelServer::start(Script::first([refused]).then(ScriptedReply::answers().held()));
    let call = call(&impatient(&server)).await;
    assert_eq!(
        call.outcome,
        Err(ModelError::TimedOut(Duration::from_millis(150)))
    );
    assert_eq!(call.report.attempts, 2);
    assert!(
        call.took < Duration::from_millis(2 * 150 + 1000),
        "{:?}",
        call.took
    );
}

#[actix_rt::test]
async fn a_slow_answer_that_comes_in_time_is_an_answer() {
    let server = ModelServer::start(ScriptedReply::answers().body_held());
    server.release_all();
    assert!(call(&model(&server)).await.outcome.is_ok());
}

#[actix_rt::test]
async fn a_connection_that_breaks_fails_the_call() {
    for reply in [
        ScriptedReply::nothing(),
        ScriptedReply::answers().cut(),
        ScriptedReply::bare(""),
    ] {
        let server = ModelServer::start(reply.clone());
        let call = call(&model(&server)).await;
        assert_eq!(call.outcome, Err(ModelError::Disconnected), "{reply:?}");
        assert_eq!((call.report.attempts, server.counts().requests), (1, 1));
    }
}

#[actix_rt::test]
async fn an_answer_that_ends_early_is_a_broken_connection_however_its_length_is_reported() {
    for reply in [
        ScriptedReply::answers().chunked().cut(),
        ScriptedReply::answers().until_close().cut(),
        ScriptedReply::answers().until_close_in_1_1().cut(),
    ] {
        let server = ModelServer::start(reply.clone());
        assert_eq!(
            call(&model(&server)).await.outcome,
            Err(ModelError::Disconnected),
            "{reply:?}"
        );
    }
}

#[actix_rt::test]
async fn a_whole_answer_whose_chunks_have_no_end_is_read() {
    let answer = r#"{"answers":{"angry":{"type":"noul","noul":0.5}}}"#;
    let chunked = |body: &str| {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        ScriptedReply::bare(&format!("{head}{:x}\r\n{body}\r\n", body.len()))
    };
    let server = ModelServer::start(chunked(answer));
    assert!(call(&model(&server)).await.outcome.is_ok());
    let (half, _) = answer.split_at(answer.len() / 2);
    server.then_always(chunked(half));
    let failure = call(&model(&server)).await.outcome.unwrap_err();
    assert_eq!(failure, ModelError::Disconnected);
    // a body that never was JSON counts as malformed, not as cut off
    server.then_always(chunked("<html>"));
    let failure = call(&model(&server)).await.outcome.unwrap_err();
    assert_eq!(failure, ModelError::NotSystemOne);
}

#[actix_rt::test]
async fn every_way_to_send_the_length_of_an_answer_is_read() {
    for reply in [
        ScriptedReply::answers(),
        ScriptedReply::answers().chunked(),
        ScriptedReply::answers().until_close(),
        ScriptedReply::answers().until_close_in_1_1(),
    ] {
        let server = ModelServer::start(reply.clone());
        let model = model(&server);
        for _ in 0..2 {
            assert!(call(&model).await.outcome.is_ok(), "{reply:?}");
        }
    }
}

#[actix_rt::test]
async fn what_is_not_http_is_called_that() {
    for bytes in [
        "SSH-2.0-OpenSSH_9.2\r\n\r\n",
        "HTTP/9 hello\r\n\r\n",
        "<html></html>\r\n\r\n",
    ] {
        let server = ModelServer::start(ScriptedReply::bare(bytes));
        let failure = call(&model(&server)).await.outcome.unwrap_err();
        assert_eq!(
            failure.to_string(),
            "The model server answered with something that is not HTTP.",
            "{bytes}"
        );
    }
}

#[actix_rt::test]
async fn a_server_that_is_down_is_not_tried_twice() {
    let port = ModelServer::start(ScriptedReply::answers()).port();
    let down = model_with(settings(&format!("http://127.0.0.1:{port}/v1")));
    let before = Instant::now();
    let call = call(&down).await;
    assert_eq!(
        call.outcome,
        Err(ModelError::Unreachable(Unreachable::Refused))
    );
    assert_eq!(call.report.attempts, 1);
    assert!(before.elapsed() < Duration::from_secs(5));
}

#[actix_rt::test]
async fn a_call_after_a_timeout_has_no_more_time_than_the_one_before() {
    let server = ModelServer::start(ScriptedReply::answers().held());
    let model = impatient(&server);
    let before = Instant::now();
    for _ in 0..3 {
        let failure = call(&model).await.outcome.unwrap_err();
        assert_eq!(
            failure.to_string(),
            "The model did not answer within 150 ms."
        );
    }
    // one is sent, and the others wait for their turn
    for reply in join_all((0..4).map(|_| call(&model))).await {
        let failure = reply.outcome.unwrap_err();
        assert!(
            matches!(failure.kind(), "timeout" | "too_busy"),
            "{failure}"
        );
    }
    // half a minute more, if it had
    assert!(before.elapsed() < Duration::from_secs(10));
}

#[actix_rt::test]
async fn an_answer_may_have_four_mebibytes_and_no_more() {
    let most = 4 * 1024 * 1024;
    let answer = r#"{"answers":{"angry":{"type":"noul","noul":0.5}}}"#;
    let padded = |bytes: usize| format!("{answer}{}", " ".repeat(bytes - answer.len()));
    for framed in [
        |reply: ScriptedReply| reply,
        ScriptedReply::chunked,
        ScriptedReply::until_close,
        ScriptedReply::until_close_in_1_1,
    ] {
        let server = ModelServer::start(framed(ScriptedReply::body(padded(most))));
        assert!(call(&model(&server)).await.outcome.is_ok());
        server.then_always(framed(ScriptedReply::body(padded(most + 1))));
        let failure = call(&model(&server)).await.outcome.unwrap_err();
        assert_eq!(
            failure.to_string(),
            "The model server's answer is too large."
        );
    }
}

#[actix_rt::test]
async fn an_answer_that_a_proxy_compressed_is_called_that() {
    let answer = br#"{"answers":{"angry":{"type":"noul","noul":0.5}}}"#;
    let server = ModelServer::start(Script::first([
        ScriptedReply::body(b"\x1f\x8b\x08\x00\xab\x56\x4a\xcc").header("content-encoding", "gzip"),
        ScriptedReply::body(answer).header("content-encoding", "gzip"),
    ]));
    let model = model(&server);
    let failure = call(&model).await.outcome.unwrap_err();
    assert_eq!(failure, ModelError::Compressed);
    assert!(call(&model).await.outcome.is_ok(), "it only says so");
    assert_eq!(server.requests().len(), 2);
}

#[actix_rt::test]
async fn no_failure_repeats_the_text_the_servers_words_or_the_key() {
    let secrets = ["Where is my order", "sk-secret", "echoed"];
    let echo = r#"{"error":{"message":"echoed: Where is my order? sk-secret"}}"#;
    for status in [200, 400, 401, 500] {
        let server = ModelServer::start(ScriptedReply::body(echo).with_status(status));
        let api_key = Some("sk-secret".parse().unwrap());
        let model = model_with(ModelSettings {
            api_key,
            ..settings(&server.url())
        });
        let failure = call(&model).await.outcome.unwrap_err();
        for shown in [failure.to_string(), format!("{failure:?}")] {
            assert!(
                !secrets.iter().any(|secret| shown.contains(secret)),
                "{shown}"
            );
        }
    }
}

#[actix_rt::test]
async fn a_call_that_is_dropped_hangs_up() {
    let server = ModelServer::start(ScriptedReply::answers().held());
    let gateway = ModelGateway::new(settings(&server.url())).unwrap();
    let model = gateway.model();
    tokio::select! {
        _ = call(&model) => panic!("nothing was released"),
        () = server.wait_until(|counts| counts.requests == 1) => {}
    }
    server.wait_until(|counts| counts.abandoned == 1).await;
    assert_eq!(gateway.in_flight(), 0);
}
