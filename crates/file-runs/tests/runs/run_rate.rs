//! Rows that the model's server refuses because it takes fewer requests at a time, and runs that a budget
//! ends.

use refract_test_stack::runs::{numbered, service};
use refract_test_stack::service::Backend;
use refract_test_support::model_server::{ScriptedReply, system_one_answers};
use refract_test_support::on_both;
use serde_json::json;

on_both!(
    rows_that_are_refused_for_the_rate_are_repeated_until_they_are_answered,
    a_row_that_fails_for_another_reason_after_a_refusal_is_a_failed_row,
    used_up_credit_stops_a_run_at_once,
);

/// The refusals of both attempts at as many rows.
fn refused(rows: usize) -> Vec<ScriptedReply> {
    let statuses = [429, 529].into_iter().cycle();
    let refusals = statuses.map(|status| ScriptedReply::status(status).header("Retry-After", "0"));
    refusals.take(2 * rows).collect()
}

async fn rows_that_are_refused_for_the_rate_are_repeated_until_they_are_answered(backend: Backend) {
    let service = service(backend).await;
    for reply in refused(3) {
        service.model.then_once(reply);
    }
    service.write("in.csv", numbered(4));
    let ended = service
        .run_file("in.csv", &["--output", "out.csv", "--concurrency", "1"])
        .await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("4 ok"), "{ended:?}");
    let written = service.written("out.csv");
    assert_eq!(written.matches(",ok,").count(), 4, "{written}");
    // the refused attempts are saved results, each retried by the next
    let statuses: Vec<String> = service
        .results()
        .await
        .iter()
        .map(|result| result["status"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        statuses.iter().filter(|status| *status == "failed").count(),
        3
    );
    assert_eq!(statuses.iter().filter(|status| *status == "ok").count(), 4);

    // nothing is left to do
    let asked = service.model.requests().len();
    let again = service.run_file("in.csv", &["--output", "out.csv"]).await;
    assert_eq!(again.code, Some(0), "{again:?}");
    assert_eq!(service.model.requests().len(), asked);
}

async fn a_row_that_fails_for_another_reason_after_a_refusal_is_a_failed_row(backend: Backend) {
    let service = service(backend).await;
    for reply in refused(1).into_iter().chain([ScriptedReply::status(400)]) {
        service.model.then_once(reply);
    }
    service.write("in.csv", numbered(1));
    let ended = service.run_file("in.csv", &["--output", "out.csv"]).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let written = service.written("out.csv");
    assert!(written.contains("answered with status 400."), "{written}");
    assert!(!written.contains("429"), "{written}");
}

async fn used_up_credit_stops_a_run_at_once(backend: Backend) {
    let service = service(backend).await;
    let used_up = json!({"error": {"message": "no", "code": "insufficient_quota"}});
    let used_up = ScriptedReply::json(&used_up).with_status(429);
    service.model.then_always(used_up);
    service.write("in.csv", numbered(40));
    let run = ["--output", "out.csv", "--concurrency", "2", "--keep-going"];
    let ended = service.run_file("in.csv", &run).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let words = "The host's credit or quota is used up (status 429).";
    assert!(ended.stderr.contains(words), "{ended:?}");
    let asked = service.model.requests().len();
    assert!((1..=4).contains(&asked), "{asked}");
}

#[tokio::test]
async fn rows_that_a_gateway_times_out_are_repeated_three_times_at_most() {
    let service = service(Backend::Sqlite).await;
    // both attempts of a row
    for _ in 0..2 * 3 {
        service.model.then_once(ScriptedReply::status(504));
    }
    service.write("in.csv", numbered(2));
    let arguments = ["--output", "out.csv", "--concurrency", "1"];
    service.run_file("in.csv", &arguments).await.done();
    assert_eq!(service.model.requests().len(), 2 * 3 + 2);

    service.model.then_always(ScriptedReply::status(504));
    service.write("other.csv", "text\nanother\n");
    let ended = service.run_file("other.csv", &arguments).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(service.model.requests().len(), 2 * 3 + 2 + 2 * 4);
}

#[tokio::test]
async fn a_budget_that_is_used_up_meanwhile_ends_a_run() {
    let service = service(Backend::Sqlite).await;
    let costing = ScriptedReply::with(|request| {
        let mut reply = system_one_answers(request);
        reply["usage"] = json!({"cost": 0.5});
        reply
    });
    service.model.then_always(costing);
    let set = ["account", "set", "--budget", "5", "--model-prices", "1,1,1"];
    service.run(&set).await.done();
    service.write("in.csv", numbered(200));
    let ended = service
        .run_file("in.csv", &["--output", "out.csv", "--concurrency", "1"])
        .await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let words = "budget of 5 is used up";
    assert!(ended.stderr.contains(words), "{ended:?}");
    assert_eq!(service.asked(), 10);
    let raise = ["account", "set", "--budget", "500"];
    service.run(&raise).await.done();
    let again = ["--output", "out.csv", "--concurrency", "40"];
    service.run_file("in.csv", &again).await.done();
    assert_eq!(service.asked(), 200, "no row is asked about twice");
}
