//! What hosts report about their requests: their ids, costs and tokens.

use std::time::Duration;

use refract_domain::result::Cost;
use refract_model_gateway::{ModelPrices, ModelReport, ModelSettings};
use refract_test_support::model_server::{ModelServer, Script, ScriptedReply};
use serde_json::{Value, json};

use super::replies::contract_answer;
use super::*;

fn cost(written: &str) -> Option<Cost> {
    let cost = Cost::parse(written);
    assert!(cost.is_some(), "{written}");
    cost
}

fn answering(usage: Value) -> ScriptedReply {
    let mut body = contract_answer();
    body["usage"] = usage;
    ScriptedReply::json(&body)
}

/// The report of a call to a server that replies with these, one after the other.
async fn reported<const N: usize>(replies: [ScriptedReply; N]) -> ModelReport {
    reported_at(None, replies).await
}

/// The same where tokens have a price.
async fn reported_at<const N: usize>(
    prices: Option<ModelPrices>,
    replies: [ScriptedReply; N],
) -> ModelReport {
    let server = ModelServer::start(Script::first(replies));
    let timeout = Duration::from_millis(150);
    let model = model_with(ModelSettings {
        timeout,
        prices,
        ..settings(&server.url())
    });
    let version = triage();
    let submission = submission(&version, "Where is my order?");
    model.answer(&version, &submission).await.report
}

#[actix_rt::test]
async fn the_hosts_id_the_cost_and_cached_tokens_are_reported() {
    let usage = json!({"input_tokens": 318, "input_tokens_details": {"cached_tokens": 256},
                       "output_tokens": 34, "cost": 0.000_123});
    let reply = answering(usage)
        .header("X-Request-Id", "req_1")
        .header("cf-ray", "8f-FRA");
    let report = reported([reply]).await;
    assert_eq!(report.host_request_id.as_deref(), Some("req_1"));
    assert_eq!(report.cached_tokens, Some(256));
    assert_eq!(report.cost, cost("0.000123"));
    let report = reported([answering(Value::Null)]).await;
    assert_eq!((report.host_request_id, report.cost), (None, None));
    assert_eq!((report.cached_tokens, report.truncated_to), (None, None));
}

#[actix_rt::test]
async fn a_cost_in_the_head_counts_where_the_body_has_none() {
    let head = |reply: ScriptedReply, cost| reply.header("x-litellm-response-cost", cost);
    let report = reported([head(answering(json!({})), "2.1e-05")]).await;
    assert_eq!(report.cost, cost("0.000021"));
    let both = head(answering(json!({"cost": "0.1"})), "0.2");
    assert_eq!(reported([both]).await.cost, cost("0.1"));
    // a refused attempt and one that cannot be read may have cost something too
    let refused = head(ScriptedReply::status(500), "0.3").header("retry-after", "0");
    let report = reported([refused, head(answering(json!({})), "0.05")]).await;
    assert_eq!(report.cost, cost("0.35"));
    let report = reported([head(ScriptedReply::body("no json"), "0.7")]).await;
    assert_eq!(report.cost, cost("0.7"));
}

#[actix_rt::test]
async fn tokens_have_a_price_where_the_host_reports_no_cost() {
    let prices: ModelPrices = "0.5,0.25,2".parse().unwrap();
    let priced = async |reply| reported_at(Some(prices), [reply]).await.cost;
    let tokens = json!({"input_tokens": 318, "input_tokens_details": {"cached_tokens": 256},
                        "output_tokens": 34});
    // 62 at 0.5, 256 at 0.25 and 34 at 2 for a thousand
    assert_eq!(priced(answering(tokens.clone())).await, cost("0.163"));
    let in_head = answering(tokens).header("x-litellm-response-cost", "0.2");
    assert_eq!(priced(in_head).await, cost("0.2"));
    let in_body = answering(json!({"input_tokens": 318, "cost": "0.1"}));
    assert_eq!(priced(in_body).await, cost("0.1"));
    assert_eq!(priced(answering(json!({}))).await, None);
}

#[actix_rt::test]
async fn costs_and_cached_tokens_of_split_requests_are_summed() {
    let reply = ScriptedReply::with(|request| {
        let questions = request.json()["questions"].as_object().unwrap().len();
        let mut body = contract_answer();
        body["usage"] = json!({"input_tokens": 100, "cached_tokens": 90, "output_tokens": 10,
                               "cost": 0.1 * f64::from(u32::try_from(questions).unwrap())});
        body
    });
    let server = ModelServer::start(reply);
    let model = model_with(ModelSettings {
        request_tokens: 1,
        ..settings(&server.url())
    });
    let version = triage();
    let submission = submission(&version, "Where is my order?");
    let report = model.answer(&version, &submission).await.report;
    assert_eq!(report.requests, 3);
    assert_eq!(report.cost, cost("0.3"));
    assert_eq!(report.cached_tokens, Some(270));
}

#[actix_rt::test]
async fn a_failure_has_the_id_of_the_request_that_failed() {
    let id = |reply: ScriptedReply, id| reply.header("x-typesafe-request-id", id);
    let first = id(ScriptedReply::status(500), "req_1").header("retry-after", "0");
    for (second, expected) in [
        (id(ScriptedReply::status(400), "req_2"), Some("req_2")),
        (id(ScriptedReply::body("no json"), "req_2"), Some("req_2")),
        // the head came, the rest did not
        (id(ScriptedReply::answers().cut(), "req_2"), Some("req_2")),
        (
            id(ScriptedReply::answers().body_held(), "req_2"),
            Some("req_2"),
        ),
        (ScriptedReply::status(400), None),
        (ScriptedReply::nothing(), None),
        (id(ScriptedReply::answers().held(), "req_2"), None),
    ] {
        let described = format!("{second:?}");
        let report = reported([first.clone(), second]).await;
        assert_eq!(report.host_request_id.as_deref(), expected, "{described}");
        assert_eq!(report.attempts, 2, "{described}");
    }
}

#[actix_rt::test]
async fn a_failed_call_keeps_what_its_requests_reported() {
    let usage = json!({"input_tokens": 318, "cached_tokens": 7, "output_tokens": 34, "cost": 0.5});
    let mut unanswered = contract_answer();
    unanswered["answers"] = json!({});
    let error = json!({"error": {"message": "no"}, "model": "jev-1.13.0"});
    for mut body in [unanswered, error] {
        body["usage"] = usage.clone();
        let report = reported([ScriptedReply::json(&body)]).await;
        assert_eq!(report.model.as_deref(), Some("jev-1.13.0"), "{body}");
        assert_eq!(report.input_tokens, Some(318), "{body}");
        assert_eq!(report.cached_tokens, Some(7), "{body}");
        assert_eq!(report.cost, cost("0.5"), "{body}");
    }
}

#[actix_rt::test]
async fn a_text_that_the_server_cut_is_reported() {
    let version = triage();
    let long = submission(&version, &"The parcel has not arrived yet. ".repeat(2_000));
    for (usage, expected) in [
        (json!({"input_tokens": 4_096}), Some(4_096)),
        (
            json!({"input_tokens": 96, "cached_tokens": 4_000}),
            Some(4_096),
        ),
        (json!({"input_tokens": 96, "cached_tokens": 14_000}), None),
        (json!({"input_tokens": 14_000}), None),
        (json!({"input_tokens": 0, "output_tokens": 7}), None),
        (json!({}), None),
    ] {
        let server = ModelServer::start(answering(usage.clone()));
        let call = model(&server).answer(&version, &long).await;
        assert!(call.outcome.is_ok());
        assert_eq!(call.report.truncated_to, expected, "{usage}");
    }
    // of several requests, the one that read the most decides
    let reply = ScriptedReply::with(|request| {
        let mut body = contract_answer();
        let is_first = request.json()["questions"].get("topic").is_some();
        body["usage"] = json!({"input_tokens": if is_first { 14_000 } else { 7 }});
        body
    });
    let server = ModelServer::start(reply);
    let model = model_with(ModelSettings {
        request_tokens: 1,
        ..settings(&server.url())
    });
    let call = model.answer(&version, &long).await;
    assert_eq!((call.report.requests, call.report.truncated_to), (3, None));
}
