//! Requests keep to what a host allows, and learn it from refusals.

use std::num::NonZeroU32;
use std::sync::Mutex;
use std::time::Instant;

use futures_util::future::join_all;
use refract_model_gateway::CallPriority;
use refract_test_support::model_server::{ModelServer, Script, ScriptedReply, system_one_answers};
use serde_json::json;

use super::*;

fn gateway(server: &ModelServer, per_minute: Option<u32>, timeout: Duration) -> ModelGateway {
    ModelGateway::new(ModelSettings {
        requests_per_minute: per_minute.and_then(NonZeroU32::new),
        timeout,
        ..settings(&server.url())
    })
    .unwrap()
}

/// The texts that the server was asked about, in order.
fn texts(server: &ModelServer) -> Vec<String> {
    let requests = server.requests().into_iter();
    let text = requests.map(|request| request.json()["state"]["text"].as_str().map(str::to_owned));
    text.map(Option::unwrap).collect()
}

#[actix_rt::test]
async fn calls_pass_rows_that_wait_for_the_requests_of_a_minute() {
    let server = ModelServer::start(ScriptedReply::answers());
    // a burst of one, then one every 100 ms for whatever waits
    let gateway = gateway(&server, Some(600), Duration::from_secs(20));
    let (calls, rows) = (
        gateway.model(),
        gateway.model().with_priority(CallPriority::Batch),
    );
    let version = yes_no();
    let burst: Vec<_> = (0..30).map(|_| submission(&version, "burst")).collect();
    join_all(burst.iter().map(|text| calls.answer(&version, text))).await;

    let [row, call] = ["row", "call"].map(|text| submission(&version, text));
    let began = Instant::now();
    let rows = async { join_all((0..4).map(|_| rows.answer(&version, &row))).await };
    let calls = async {
        while gateway.waiting() < 4 {
            tokio::task::yield_now().await;
        }
        join_all((0..2).map(|_| calls.answer(&version, &call))).await
    };
    let (rows, calls) = tokio::join!(rows, calls);
    assert!(rows.iter().chain(&calls).all(|reply| reply.outcome.is_ok()));
    let order = texts(&server).split_off(30);
    // at most the first row went before the calls came
    let first_call = order.iter().position(|text| text == "call").unwrap();
    assert!(first_call <= 1, "{order:?}");
    assert_eq!(order.get(first_call + 1).unwrap(), "call", "{order:?}");
    assert!(
        began.elapsed() >= Duration::from_millis(450),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(gateway.waiting(), 0);
}

#[actix_rt::test]
async fn only_a_row_waits_longer_than_an_attempt_may_take() {
    let server = ModelServer::start(ScriptedReply::answers());
    let timeout = Duration::from_millis(200);
    let gateway = gateway(&server, Some(60), timeout);
    let version = yes_no();
    let text = submission(&version, "Where is my order?");
    let model = gateway.model();
    for _ in 0..3 {
        assert!(model.answer(&version, &text).await.outcome.is_ok());
    }
    let late = model.answer(&version, &text).await;
    assert_eq!(late.outcome, Err(ModelError::TooBusy(timeout)));
    assert_eq!((late.report.attempts, late.took), (0, Duration::ZERO));
    let row = model.with_priority(CallPriority::Batch);
    assert!(row.answer(&version, &text).await.outcome.is_ok());
    assert_eq!(server.requests().len(), 4);
}

#[actix_rt::test]
async fn the_tokens_of_a_minute_hold_large_requests_back() {
    let server = ModelServer::start(ScriptedReply::answers());
    let gateway = ModelGateway::new(ModelSettings {
        tokens_per_minute: NonZeroU32::new(60_000),
        ..settings(&server.url())
    });
    let model = gateway.unwrap().model();
    let version = yes_no();
    // about 1,000 tokens each: a burst of 3,000, then one a second
    let text = submission(&version, &"word ".repeat(760));
    let began = Instant::now();
    let replies = join_all((0..4).map(|_| model.answer(&version, &text))).await;
    assert!(replies.iter().all(|reply| reply.outcome.is_ok()));
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(600), "{took:?}");
}

#[actix_rt::test]
async fn a_server_that_refuses_is_asked_more_slowly_until_it_answers_all() {
    // ten requests at once, then one every 10 ms
    let taken = Mutex::new((Instant::now(), 10.0_f64));
    let server = ModelServer::start(ScriptedReply::answering(move |request| {
        let mut taken = taken.lock().unwrap();
        let (last, left) = *taken;
        let left = last.elapsed().as_secs_f64().mul_add(100.0, left).min(10.0);
        let takes = left >= 1.0;
        *taken = (Instant::now(), if takes { left - 1.0 } else { left });
        if takes {
            (200, system_one_answers(request))
        } else {
            (429, json!({"detail": "Too many requests"}))
        }
    }));
    let gateway = gateway(&server, None, Duration::from_secs(20));
    let model = gateway.model().with_priority(CallPriority::Batch);
    assert_eq!(model.learned_per_minute(), None);
    let version = yes_no();
    let text = submission(&version, "Where is my order?");
    let row = || async {
        let mut failures = 0;
        while model.answer(&version, &text).await.outcome.is_err() {
            failures += 1;
        }
        failures
    };
    let failures: Vec<u32> = join_all((0..300).map(|_| row())).await;
    let failures: u32 = failures.iter().sum();
    // unpaced, most of 300 requests at once are refused twice, again and again
    assert!(failures < 150, "{failures} calls were refused twice");
    let learned = gateway
        .servers()
        .first()
        .unwrap()
        .learned_per_minute
        .unwrap();
    assert_eq!(Some(learned), model.learned_per_minute());
    assert!(learned < 60_000, "{learned} a minute");
}

#[actix_rt::test]
async fn a_row_that_times_out_at_a_server_that_answered_others_is_held_up_and_repeated() {
    let held = || ScriptedReply::answers().held();
    let replies = [held(), ScriptedReply::answers()];
    let server = ModelServer::start(Script::first(replies).then(held()));
    let timeout = Duration::from_millis(300);
    let gateway = gateway(&server, None, timeout);
    let calls = gateway.model();
    let rows = gateway.model().with_priority(CallPriority::Batch);
    let version = yes_no();
    let text = submission(&version, "Where is my order?");
    let timed_out = Err(ModelError::TimedOut(timeout));
    assert_eq!(rows.answer(&version, &text).await.outcome, timed_out);
    assert!(rows.answer(&version, &text).await.outcome.is_ok());
    assert_eq!(calls.answer(&version, &text).await.outcome, timed_out);
    assert_eq!(calls.learned_per_minute(), None);

    let held_up = ModelError::HeldUp(timeout);
    let replies = join_all((0..4).map(|_| rows.answer(&version, &text))).await;
    for reply in replies {
        assert_eq!(reply.outcome, Err(held_up.clone()));
    }
    assert!(held_up.deserves_repetition(2) && !held_up.deserves_repetition(3));
}

#[actix_rt::test]
async fn one_refusal_of_a_quiet_host_holds_no_burst_back() {
    let server = ModelServer::start(ScriptedReply::answers());
    let gateway = gateway(&server, None, Duration::from_secs(20));
    let model = gateway.model();
    let version = yes_no();
    let text = submission(&version, "Where is my order?");
    for _ in 0..3 {
        server.then_once(ScriptedReply::status(429).header("Retry-After", "0"));
        for _ in 0..20 {
            assert!(model.answer(&version, &text).await.outcome.is_ok());
        }
    }
    let before = server.counts().requests;
    server.then_always(ScriptedReply::answers().held());
    let burst = join_all((0..60).map(|_| model.answer(&version, &text)));
    let all_at_once = async {
        server
            .wait_until(|counts| counts.requests == before + 60)
            .await;
        assert_eq!(gateway.waiting(), 0);
        server.release(60);
    };
    let (burst, ()) = tokio::join!(burst, all_at_once);
    assert!(burst.iter().all(|reply| reply.outcome.is_ok()));
}
