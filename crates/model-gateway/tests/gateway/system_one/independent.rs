//! The protocol against an independent mock of a System One server, `typesafe-rs-mock`.

use refract_model_gateway::ModelReply;
use serde_json::json;
use typesafe_rs_mock::{MockServer, choice, noul, score};

use super::*;

async fn call(mock: &MockServer) -> ModelReply {
    let version = triage();
    let settings = settings(&format!("{}v1", mock.url()));
    model_with(settings)
        .answer(&version, &submission(&version, "Where is my order?"))
        .await
}

#[actix_rt::test]
async fn its_answers_are_read_and_our_request_is_what_it_knows() {
    let mock = MockServer::start().await;
    mock.on_system_one()
        .with_question_key("topic")
        .respond(json!({
            "topic": choice("delivery", 0.9),
            "angry": noul(0.12),
            "urgency": score(0.75, 0.5),
        }));
    let call = call(&mock).await;

    let answers = serde_json::to_value(call.outcome.unwrap()).unwrap();
    assert_eq!(answers["topic"]["value"], "delivery");
    assert_eq!(answers["topic"]["probabilities"]["delivery"], 1.0);
    assert_eq!(answers["angry"]["probability"], 0.12);
    assert_eq!(answers["urgency"]["level"], "this_week");
    assert_eq!(call.report.model.as_deref(), Some("jev-latest"));
    let journal = mock.journal();
    assert_eq!(journal.len(), 1);
    assert_eq!(
        (journal[0].method.as_str(), journal[0].path.as_str()),
        ("POST", "/v1/systemone")
    );
    let sent = journal[0].body.as_ref().unwrap();
    assert_eq!(sent["state"]["text"], "Where is my order?");
}

#[actix_rt::test]
async fn its_refusals_get_one_more_attempt() {
    let mock = MockServer::start().await;
    mock.on_system_one()
        .respond_status(529)
        .header("Retry-After", "0")
        .times(1);
    mock.on_system_one().respond(json!({
        "topic": choice("billing", 1.0), "angry": noul(0.5), "urgency": score(0.0, 1.0),
    }));
    let call = call(&mock).await;
    assert!(call.outcome.is_ok());
    assert_eq!((call.report.attempts, mock.journal().len()), (2, 2));
}

#[actix_rt::test]
async fn its_errors_are_failures() {
    let mock = MockServer::start().await;
    mock.on_system_one().respond_status(401).times(1);
    mock.on_system_one()
        .respond(json!({"error": {"message": "no"}}))
        .times(1);
    mock.on_system_one()
        .respond(json!({"topic": choice("billing", 1.0)}));
    assert_eq!(call(&mock).await.outcome, Err(ModelError::Status(401)));
    assert_eq!(call(&mock).await.outcome, Err(ModelError::ReportedError));
    assert_eq!(call(&mock).await.outcome.unwrap_err().kind(), "unanswered");
}
