//! Refusals of parameters and of schema keywords.

use refract_test_support::model_server::{ReceivedRequest, Script};

use super::*;

/// The parameters in a request that a server may refuse.
#[derive(Debug, PartialEq, Eq)]
struct SentParameters {
    temperature: bool,
    /// Whether the schema bounds its percentages.
    bounds: bool,
}

const BOTH: SentParameters = SentParameters {
    temperature: true,
    bounds: true,
};
const BOUNDS: SentParameters = SentParameters {
    temperature: false,
    ..BOTH
};
const TEMPERATURE: SentParameters = SentParameters {
    bounds: false,
    ..BOTH
};
const NEITHER: SentParameters = SentParameters {
    temperature: false,
    bounds: false,
};

/// The parameters of each request so far.
fn sent(server: &ModelServer) -> Vec<SentParameters> {
    let requests = server.requests();
    let sent = requests.iter().map(|request| SentParameters {
        temperature: request.json().get("temperature").is_some(),
        bounds: request.text().contains(r#""minimum":0"#),
    });
    sent.collect()
}

fn answered() -> ScriptedReply {
    ScriptedReply::json(&completion(&stated().to_string()))
}

fn no_temperature() -> ScriptedReply {
    let refusal = json!({"error": {"message": "Unsupported value: 'temperature' does not support 0 \
        with this model. Only the default (1) value is supported.", "param": "temperature"}});
    ScriptedReply::json(&refusal).with_status(400)
}

/// The refusal of a hosted model whose strict schemas allow no bounds.
fn no_bounds() -> ScriptedReply {
    let refusal = json!({"error": {"message": "Invalid schema for response_format 'probabilities': \
        In context=('properties', 'topic', 'properties', 'A'), 'minimum' is not permitted.",
        "type": "invalid_request_error", "param": "response_format", "code": null}});
    ScriptedReply::json(&refusal).with_status(400)
}

#[actix_rt::test]
async fn a_server_that_refuses_schemas_is_reported_as_such() {
    let refusal = json!({"error": {"message": "response_format is not supported"}});
    let server = ModelServer::start(ScriptedReply::json(&refusal).with_status(400));
    let failure = ask(&server, &triage()).await.unwrap_err();
    assert_eq!(
        failure.to_string(),
        "The model server refused the parameter `response_format` (status 400): check \
         REFRACT_MODEL_PROTOCOL and the model."
    );
}

#[actix_rt::test]
async fn a_model_that_takes_no_temperature_is_asked_without_from_then_on() {
    let server = ModelServer::start(Script::first([no_temperature()]).then(answered()));
    let model = model(&server);
    for _ in 0..2 {
        let call = model.answer(&triage(), &submission(&triage())).await;
        assert!(call.outcome.is_ok());
    }
    assert_eq!(sent(&server), [BOTH, BOUNDS, BOUNDS]);
    // after the refusal, requests omit the temperature
    server.then_always(no_temperature());
    let failure = model
        .answer(&triage(), &submission(&triage()))
        .await
        .outcome;
    assert_eq!(failure.unwrap_err().kind(), "parameter_refused");
    assert_eq!(server.counts().requests, 4);
}

#[actix_rt::test]
async fn a_server_whose_schemas_know_no_bounds_is_asked_without_from_then_on() {
    let server = ModelServer::start(Script::first([no_bounds()]).then(answered()));
    let model = model(&server);
    for _ in 0..2 {
        let call = model.answer(&triage(), &submission(&triage())).await;
        assert!(call.outcome.is_ok());
    }
    assert_eq!(sent(&server), [BOTH, TEMPERATURE, TEMPERATURE]);
    let format = &server.requests()[1].json()["response_format"]["json_schema"];
    assert_eq!(format["strict"], true);
    let properties = &format["schema"]["properties"]["angry"]["properties"];
    let percentage = json!({"type": "integer"});
    assert_eq!(
        *properties,
        json!({"no": percentage, "yes": percentage}),
        "the type stays"
    );
}

#[actix_rt::test]
async fn a_server_that_takes_no_list_of_codes_is_asked_without_from_then_on() {
    // messages of hosted models and gateways
    for message in [
        "Invalid schema for response_format 'probabilities': Expected at most 1000 enum values in \
         total within a schema when using structured outputs, but got 1275.",
        "Invalid JSON schema: unknown keyword $defs",
        "response_format.json_schema: $ref is not supported",
        "response_format is not understood",
    ] {
        let refusal = json!({"error": {"message": message, "param": "response_format"}});
        let refusal = ScriptedReply::json(&refusal).with_status(400);
        let named = long_stated(["A3", "", "", "", ""], [80.0, 0.0, 0.0, 0.0, 0.0], 20.0);
        let answered = ScriptedReply::json(&completion(&named.to_string()));
        let server = ModelServer::start(Script::first([refusal]).then(answered));
        let model = model(&server);
        for _ in 0..2 {
            let call = model.answer(&long(), &submission(&long())).await;
            assert!(call.outcome.is_ok(), "{message}: {call:?}");
        }
        let listed = |request: &ReceivedRequest| request.text().contains("$defs");
        let listed: Vec<bool> = server.requests().iter().map(listed).collect();
        assert_eq!(listed, [true, false, false], "{message}");
    }
}

#[actix_rt::test]
async fn both_refusals_are_learned_in_one_call() {
    for refusals in [
        [no_bounds(), no_temperature()],
        [no_temperature(), no_bounds()],
    ] {
        let server = ModelServer::start(Script::first(refusals).then(answered()));
        let call = call(&server, &triage()).await;
        assert!(call.outcome.is_ok());
        assert_eq!(sent(&server).last(), Some(&NEITHER));
        assert_eq!((call.report.requests, call.report.attempts), (3, 3));
    }
}

#[actix_rt::test]
async fn requests_that_are_refused_together_learn_together() {
    let questions = (0..30)
        .map(|number| json!({"key": format!("q{number}"), "type": "yes_no", "text": "Is it so?"}));
    let version = version(&questions.collect());
    let server = ModelServer::start(ScriptedReply::with(|request| {
        let body = request.json();
        let properties = &body["response_format"]["json_schema"]["schema"]["properties"];
        let keys = properties.as_object().unwrap().keys();
        let stated = keys.map(|key| (key.clone(), json!({"yes": 1, "no": 99})));
        completion(&Value::Object(stated.collect()).to_string())
    }));
    for _ in 0..3 {
        server.then_once(no_bounds());
    }
    assert!(ask(&server, &version).await.is_ok());
    let bounds = sent(&server).into_iter().map(|sent| sent.bounds);
    assert_eq!(
        bounds.collect::<Vec<_>>(),
        [true, true, true, false, false, false]
    );
}

#[actix_rt::test]
async fn a_schema_that_is_refused_without_bounds_is_itself_refused() {
    let server = ModelServer::start(no_bounds());
    let failure = ask(&server, &triage()).await.unwrap_err();
    assert_eq!(
        failure.to_string(),
        "The model server refused the parameter `response_format` (status 400): check \
         REFRACT_MODEL_PROTOCOL and the model."
    );
    assert_eq!(sent(&server), [BOTH, TEMPERATURE]);
}

#[actix_rt::test]
async fn a_refused_system_message_goes_into_the_users_from_then_on() {
    let error = json!({"error": {"message": "System role not supported", "code": 500}});
    for status in [400, 500] {
        let refusal = ScriptedReply::json(&error).with_status(status);
        let server = ModelServer::start(Script::first([refusal]).then(answered()));
        let model = model(&server);
        for attempts in [2, 1] {
            let call = model.answer(&triage(), &submission(&triage())).await;
            assert!(call.outcome.is_ok());
            assert_eq!(call.report.attempts, attempts);
        }
        let bodies: Vec<Value> = server
            .requests()
            .iter()
            .map(ReceivedRequest::json)
            .collect();
        let [system, user] = [0, 1].map(|at| bodies[0]["messages"][at]["content"].clone());
        let joined = format!("{}\n\n{}", system.as_str().unwrap(), user.as_str().unwrap());
        for body in &bodies[1..] {
            let messages = json!([{"role": "user", "content": joined}]);
            assert_eq!(body["messages"], messages);
            assert_eq!(body["response_format"], bodies[0]["response_format"]);
        }
    }
}

#[actix_rt::test]
async fn an_answer_that_ends_in_its_thinking_is_reported_as_such() {
    for message in [
        json!({"content": "<think>It is"}),
        json!({"content": "", "reasoning_content": "It is"}),
    ] {
        let body = json!({"choices": [{"message": message, "finish_reason": "length"}]});
        let server = ModelServer::start(ScriptedReply::json(&body));
        let failure = ask(&server, &triage()).await.unwrap_err();
        assert_eq!(failure.kind(), "thinking");
    }
}
