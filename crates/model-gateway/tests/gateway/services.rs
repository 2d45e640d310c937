//! Answers of hosted and local services in their own shapes. The values are those of the
//! documentation's example, so that every service must give one result.
//!
//! `services.json` names the published client or server from which each shape was read.

use refract_domain::prism::PrismVersion;
use refract_domain::submission::{SentFields, Submission};
use refract_model_gateway::ModelGateway;
use refract_test_support::model_server::{ModelServer, ScriptedReply};
use serde::Deserialize;
use serde_json::{Value, json};

/// A service, and its answer to the questions of [`triage`].
#[derive(Deserialize)]
struct ServiceAnswer {
    #[serde(rename = "service")]
    name: String,
    protocol: String,
    /// The path of `REFRACT_MODEL_URL`.
    url: String,
    /// The path that is asked.
    asked: String,
    answer: Value,
}

fn triage() -> PrismVersion {
    let json = json!({
        "fields": [{"key": "text", "label": "Message"}],
        "questions": [
            {"key": "topic", "type": "choice", "text": "What is the message about?",
             "options": [{"key": "billing", "label": "Billing"},
                         {"key": "delivery", "label": "Delivery"}]},
            {"key": "angry", "type": "yes_no", "text": "Is the writer angry?"},
            {"key": "urgency", "type": "scale", "text": "How urgent is it?",
             "levels": [{"key": "can_wait", "label": "Can wait"},
                        {"key": "this_week", "label": "This week"},
                        {"key": "today", "label": "Today"}]}]
    });
    serde_json::from_value(json).unwrap()
}

/// An answer without its confidence, which means something else on every service.
fn without_confidence(mut answer: Value) -> Value {
    if let Some(members) = answer.as_object_mut() {
        members.remove("confidence");
    }
    answer
}

#[actix_rt::test]
async fn every_services_answer_is_read() {
    let services: Vec<ServiceAnswer> = serde_json::from_str(include_str!("services.json")).unwrap();
    let expected = [
        json!({"type": "choice", "value": "delivery", "probabilities": {
            "billing": 0.02, "delivery": 0.95, "other": 0.01, "insufficient_information": 0.01}}),
        json!({"type": "yes_no", "probability": 0.12}),
        json!({"type": "scale", "level": "this_week",
               "probabilities": {"can_wait": 0.4, "this_week": 0.5, "today": 0.1}}),
    ];
    let version = triage();
    let sent = SentFields::new(vec![("text".to_owned(), "Where is my order?".to_owned())]);
    let submission = Submission::new(sent, None, version.fields()).unwrap();
    for service in services {
        let server = ModelServer::start(ScriptedReply::json(&service.answer));
        let url = format!("http://127.0.0.1:{}{}", server.port(), service.url);
        let settings = crate::settings(&url, service.protocol.parse().unwrap(), "model");
        let model = ModelGateway::new(settings).unwrap().model();
        let answers = model.answer(&version, &submission).await.outcome;
        assert!(answers.is_ok(), "{}: {answers:?}", service.name);
        let answers = answers.unwrap();
        let read = answers.as_slice().iter().map(|(_, answer)| {
            let answer = serde_json::to_value(answer).unwrap();
            without_confidence(answer)
        });
        assert_eq!(read.collect::<Vec<_>>(), expected, "{}", service.name);
        assert_eq!(server.requests()[0].path, service.asked, "{}", service.name);
    }
}
