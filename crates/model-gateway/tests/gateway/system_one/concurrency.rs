use std::time::{Duration, Instant};

use refract_model_gateway::ModelSettings;
use refract_test_support::model_server::{ModelServer, Script, ScriptedReply};

use super::*;

fn gateway(server: &ModelServer, concurrency: usize, timeout: Duration) -> ModelGateway {
    ModelGateway::new(ModelSettings {
        concurrency,
        timeout,
        ..settings(&server.url())
    })
    .unwrap()
}

/// Lets other tasks run until the condition holds.
async fn until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        tokio::task::yield_now().await;
    }
}

#[actix_rt::test]
async fn requests_beyond_the_bound_wait_without_their_clock_running() {
    let server = ModelServer::start(ScriptedReply::answers().held());
    let gateway = gateway(&server, 1, Duration::from_secs(20));
    let (one, other) = (gateway.model(), gateway.model());
    let version = yes_no();
    let submission = submission(&version, "Where is my order?");
    let first = one.answer(&version, &submission);
    let second = async {
        until(|| gateway.in_flight() == 1).await;
        other.answer(&version, &submission).await
    };
    let watch = async {
        server.wait_until(|counts| counts.requests == 1).await;
        until(|| gateway.waiting() == 1).await;
        assert_eq!((gateway.in_flight(), server.counts().requests), (1, 1));
        let released = Instant::now();
        server.release(2);
        released
    };
    let (first, second, released) = tokio::join!(first, second, watch);
    assert!(first.outcome.is_ok());
    assert!(second.outcome.is_ok());
    assert!(second.took <= released.elapsed());
    assert_eq!((gateway.in_flight(), gateway.waiting()), (0, 0));
}

#[actix_rt::test]
async fn a_wait_of_a_whole_timeout_fails_the_call() {
    let server = ModelServer::start(ScriptedReply::answers().held());
    let timeout = Duration::from_millis(150);
    let gateway = gateway(&server, 1, timeout);
    let model = gateway.model();
    let version = yes_no();
    let submission = submission(&version, "Where is my order?");
    let calls = (0..4).map(|_| model.answer(&version, &submission));
    let calls = futures_util::future::join_all(calls).await;

    let too_busy = ModelError::TooBusy(timeout);
    let (busy, asked): (Vec<_>, Vec<_>) = calls
        .into_iter()
        .partition(|call| call.outcome == Err(too_busy.clone()));
    assert!(
        !busy.is_empty() && !asked.is_empty(),
        "{} asked",
        asked.len()
    );
    for call in busy {
        assert_eq!((call.report.attempts, call.took), (0, Duration::ZERO));
    }
    for call in asked {
        assert_eq!(call.outcome, Err(ModelError::TimedOut(timeout)));
    }
    assert_eq!((gateway.in_flight(), gateway.waiting()), (0, 0));
}

#[actix_rt::test]
async fn a_pause_before_the_second_attempt_holds_no_permit() {
    let refused = ScriptedReply::status(503).header("Retry-After", "1");
    let server = ModelServer::start(Script::first([refused]));
    let gateway = gateway(&server, 1, Duration::from_secs(20));
    let model = gateway.model();
    let version = yes_no();
    let submission = submission(&version, "Where is my order?");
    let other = async {
        server.wait_until(|counts| counts.replies == 1).await;
        until(|| gateway.in_flight() == 0).await;
        model.answer(&version, &submission).await
    };
    let (paused, other) = tokio::join!(model.answer(&version, &submission), other);
    assert!(paused.outcome.is_ok() && other.outcome.is_ok());
    assert!(other.took < paused.took);
}
