//! Hosts that serve the typed protocols at their own addresses, with their own headers and with
//! wrapped answers.

use refract_domain::answer::Answers;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::{SentFields, Submission};
use refract_model_gateway::{
    ModelApiKey, ModelError, ModelGateway, ModelSettings, Protocol, SettingError,
};
use refract_test_support::model_server::{ModelServer, ReceivedRequest, ScriptedReply};
use serde_json::{Value, json};

/// One question of each type.
fn version() -> PrismVersion {
    let levels = ["low", "high"].map(|key| json!({"key": key, "label": key}));
    let options = ["a", "b"].map(|key| json!({"key": key, "label": key}));
    let json = json!({"fields": [{"key": "text", "label": "Message"}], "questions": [
        {"key": "topic", "type": "choice", "text": "What is it about?", "options": options},
        {"key": "angry", "type": "yes_no", "text": "Is the writer angry?"},
        {"key": "mood", "type": "scale", "text": "How content is the writer?", "levels": levels}]});
    serde_json::from_value(json).unwrap()
}

async fn ask(settings: ModelSettings) -> Result<Answers, ModelError> {
    let version = version();
    let sent = SentFields::new(vec![("text".to_owned(), "Where is my order?".to_owned())]);
    let submission = Submission::new(sent, None, version.fields()).unwrap();
    let model = ModelGateway::new(settings).unwrap().model();
    model.answer(&version, &submission).await.outcome
}

/// The settings for a server at this path instead of `/v1`.
fn at(server: &ModelServer, path: &str, protocol: Protocol) -> ModelSettings {
    let url = server.url().replace("/v1", path);
    crate::settings(&url, protocol, "m")
}

fn reply_of(protocol: Protocol) -> ScriptedReply {
    match protocol {
        Protocol::SystemOne | Protocol::Chat | Protocol::Stated => ScriptedReply::answers(),
        Protocol::Decisions => ScriptedReply::decisions(),
        Protocol::Gemini => ScriptedReply::gemini(),
    }
}

#[actix_rt::test]
async fn the_whole_address_of_an_endpoint_is_asked_as_it_is() {
    for (protocol, path, asked) in [
        (Protocol::SystemOne, "/v1", "/v1/systemone"),
        (Protocol::SystemOne, "/v1/systemone", "/v1/systemone"),
        (Protocol::SystemOne, "/v1/decisions", "/v1/decisions"),
        (
            Protocol::SystemOne,
            "/client/v4/accounts/1/ai/run/@cf/cloudflare/clef",
            "/client/v4/accounts/1/ai/run/@cf/cloudflare/clef",
        ),
        (
            Protocol::SystemOne,
            "/serving-endpoints/jev/invocations",
            "/serving-endpoints/jev/invocations",
        ),
        (
            Protocol::Decisions,
            "/openai/v1/decisions",
            "/openai/v1/decisions",
        ),
        (
            Protocol::Gemini,
            "/v1beta/models/m:decide",
            "/v1beta/models/m:decide",
        ),
    ] {
        let server = ModelServer::start(reply_of(protocol));
        let answers = ask(at(&server, path, protocol)).await;
        assert!(answers.is_ok(), "{path}: {answers:?}");
        assert_eq!(server.requests()[0].path, asked);
    }
}

#[actix_rt::test]
async fn the_address_of_another_protocols_endpoint_is_refused_before_anything_is_sent() {
    let server = ModelServer::start(ScriptedReply::answers());
    for (protocol, path) in [
        (Protocol::Decisions, "/v1/systemone"),
        (Protocol::Chat, "/v1/systemone"),
        (Protocol::Stated, "/v1/decisions"),
    ] {
        let refused = ModelGateway::new(at(&server, path, protocol)).unwrap_err();
        assert_eq!(refused, SettingError::EndpointProtocol);
    }
    assert_eq!(server.counts().connections, 0);
}

/// The headers of a request that may carry a key.
fn key_headers(request: &ReceivedRequest) -> Vec<(&str, &str)> {
    let names = ["authorization", "x-api-key", "x-goog-api-key"].into_iter();
    let sent = names.map(|name| (name, request.header(name)));
    sent.filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

#[actix_rt::test]
async fn a_key_is_sent_in_its_own_header_or_in_that_of_the_protocol() {
    for (protocol, header, sent) in [
        (Protocol::SystemOne, None, ("authorization", "Bearer sk-1")),
        (
            Protocol::SystemOne,
            Some("Authorization"),
            ("authorization", "Bearer sk-1"),
        ),
        (
            Protocol::SystemOne,
            Some("X-API-Key"),
            ("x-api-key", "sk-1"),
        ),
        (Protocol::Gemini, None, ("x-goog-api-key", "sk-1")),
        (
            Protocol::Gemini,
            Some("authorization"),
            ("authorization", "Bearer sk-1"),
        ),
        (
            Protocol::Decisions,
            Some("x-api-key"),
            ("x-api-key", "sk-1"),
        ),
    ] {
        let server = ModelServer::start(reply_of(protocol));
        let key = "sk-1".parse::<ModelApiKey>().unwrap();
        let key = match header {
            Some(header) => key.sent_in(header.parse().unwrap()),
            None => key,
        };
        let settings = ModelSettings {
            api_key: Some(key),
            ..at(&server, "/v1", protocol)
        };
        ask(settings).await.unwrap();
        assert_eq!(key_headers(&server.requests()[0]), [sent]);
    }
    let server = ModelServer::start(ScriptedReply::answers());
    ask(at(&server, "/v1", Protocol::SystemOne)).await.unwrap();
    assert!(key_headers(&server.requests()[0]).is_empty());
}

#[actix_rt::test]
async fn a_key_that_was_read_again_stays_in_its_header() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    std::fs::write(&file, "old").unwrap();
    let key = ModelApiKey::in_file(&file).unwrap();
    let key = key.sent_in("x-api-key".parse().unwrap());
    std::fs::write(&file, "new").unwrap();
    let server = ModelServer::start(ScriptedReply::answers());
    server.then_once(ScriptedReply::status(401));
    let settings = ModelSettings {
        api_key: Some(key),
        ..at(&server, "/v1", Protocol::SystemOne)
    };
    ask(settings).await.unwrap();
    let requests = server.requests();
    let sent: Vec<_> = requests.iter().flat_map(key_headers).collect();
    assert_eq!(sent, [("x-api-key", "old"), ("x-api-key", "new")]);
}

/// System One answers to the questions of [`version`], with Databricks' name for the probability of
/// yes.
fn databricks() -> Value {
    json!({"answers": {
        "topic": {"type": "choice", "choice": "a", "probabilities": {"a": 0.9, "b": 0.1}},
        "angry": {"type": "noul", "probability": 0.25},
        "mood": {"type": "score", "score": 0.4, "probabilities": {"0": 0.6, "1": 0.4}}}})
}

#[actix_rt::test]
async fn a_wrapped_answer_is_read_as_one_without_wrapping() {
    for body in [
        databricks(),
        json!({"response": databricks(), "metadata": {}}),
        json!({"result": databricks(), "success": true, "errors": [], "messages": []}),
    ] {
        let server = ModelServer::start(ScriptedReply::json(&body));
        let answers = ask(at(&server, "/m/invocations", Protocol::SystemOne)).await;
        let yes = serde_json::to_value(&answers.unwrap().as_slice()[1].1).unwrap();
        assert_eq!(yes, json!({"type": "yes_no", "probability": 0.25}));
    }
}

#[actix_rt::test]
async fn decisions_and_gemini_are_unwrapped_too() {
    let decisions = json!({"model": "luna-1", "answers": [
        {"type": "choice", "name": "topic", "choice": "a", "probabilities": [{"value": "a", "probability": 1}]},
        {"type": "predicate", "name": "angry", "probability": 0.25},
        {"type": "score", "name": "mood", "probabilities": [{"label": "low", "value": 0, "probability": 1}]}]});
    for (protocol, inside) in [
        (Protocol::Decisions, decisions),
        (Protocol::Gemini, databricks()),
    ] {
        for name in ["result", "response"] {
            let server = ModelServer::start(ScriptedReply::json(&json!({name: inside})));
            let answers = ask(at(&server, "/v1", protocol)).await;
            assert!(answers.is_ok(), "{protocol:?} {name}: {answers:?}");
        }
    }
}

#[actix_rt::test]
async fn an_error_in_a_wrapping_with_status_200_is_an_error() {
    for body in [
        json!({"result": null, "success": false, "errors": [{"code": 3036, "message": "no"}]}),
        json!({"success": false}),
        json!({"result": databricks(), "success": false, "errors": []}),
        json!({"result": databricks(), "errors": [{"message": "no"}]}),
        json!({"response": {"error": {"message": "no"}}}),
    ] {
        let server = ModelServer::start(ScriptedReply::json(&body));
        let failure = ask(at(&server, "/ai/run/m", Protocol::SystemOne)).await;
        assert_eq!(failure, Err(ModelError::ReportedError), "{body}");
    }
}

#[actix_rt::test]
async fn a_server_lists_its_models_below_its_base_address() {
    let listing = json!({"object": "list", "data": [{"id": "qwen"}, {"id": "gemma"}]});
    let server = ModelServer::start(ScriptedReply::json(&listing));
    let wait = std::time::Duration::from_secs(20);
    for (path, names) in [("/v1", &["qwen", "gemma"][..]), ("/v1/systemone", &[])] {
        let settings = at(&server, path, Protocol::SystemOne);
        let model = ModelGateway::new(settings).unwrap().model();
        assert_eq!(model.listed_models(wait).await.unwrap(), names, "{path}");
    }
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(
        (requests[0].method.as_str(), requests[0].path.as_str()),
        ("GET", "/v1/models")
    );
    assert_eq!(requests[0].body, b"");
}
