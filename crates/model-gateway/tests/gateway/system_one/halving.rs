//! Requests that the server refuses for their size are halved, and the size is learned.

use refract_test_support::model_server::{
    ModelServer, ReceivedRequest, ScriptedReply, system_one_answers,
};
use serde_json::{Value, json};

use super::*;

/// A prism with this many Yes / No questions.
fn questions(count: usize) -> PrismVersion {
    let questions: Vec<Value> = (0..count)
        .map(|number| json!({"key": format!("q{number}"), "type": "yes_no", "text": "So?"}))
        .collect();
    let json = json!({"fields": [{"key": "text", "label": "Text"}], "questions": questions});
    version(&json.to_string())
}

fn count(request: &ReceivedRequest) -> usize {
    request.json()["questions"].as_object().unwrap().len()
}

/// The numbers of questions in the requests so far, sorted.
fn counts(server: &ModelServer) -> Vec<usize> {
    let mut counts: Vec<usize> = server.requests().iter().map(count).collect();
    counts.sort_unstable();
    counts
}

/// A server that refuses requests.
fn refusing(
    status: u16,
    message: Value,
    refuses: impl Fn(&ReceivedRequest) -> bool + Send + Sync + 'static,
) -> ModelServer {
    ModelServer::start(ScriptedReply::answering(move |request| {
        if refuses(request) {
            (status, message.clone())
        } else {
            (200, system_one_answers(request))
        }
    }))
}

async fn keys(model: &Model, version: &PrismVersion) -> Result<Vec<String>, ModelError> {
    let answers = ask(model, version).await?;
    let keys = answers.as_slice().iter().map(|(key, _)| key.to_string());
    Ok(keys.collect())
}

fn in_order(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("q{number}")).collect()
}

#[actix_rt::test]
async fn a_number_of_questions_that_the_server_names_is_learned() {
    for message in [
        json!({"detail": [{"type": "too_long", "loc": ["body", "questions"],
               "msg": "Dictionary should have at most 4 items after validation, not 10"}]}),
        json!({"detail": {"error_type": "api_usage_error",
               "message": "questions must have 1 to 4 entries"}}),
    ] {
        let server = refusing(422, message, |request| count(request) > 4);
        let model = model(&server);
        assert_eq!(keys(&model, &questions(10)).await, Ok(in_order(10)));
        assert_eq!(counts(&server), [2, 4, 4, 10]);
        assert_eq!(keys(&model, &questions(9)).await, Ok(in_order(9)));
        assert_eq!(counts(&server), [1, 2, 4, 4, 4, 4, 10]);
    }
}

#[actix_rt::test]
async fn the_next_process_begins_with_what_was_learned_under_the_same_limits() {
    let message = json!({"detail": {"message": "questions must have 1 to 4 entries"}});
    let server = refusing(422, message, |request| count(request) > 4);
    let first = model(&server);
    assert_eq!(keys(&first, &questions(8)).await, Ok(in_order(8)));
    let (name, learned) = first.learned().unwrap();
    let settings = settings(&server.url());
    let mut next = ModelGateway::new(settings.clone()).unwrap();
    assert_eq!(next.servers_name(), Some(name.clone()));
    next.recall(&learned);
    let before = counts(&server).len();
    assert_eq!(keys(&next.model(), &questions(8)).await, Ok(in_order(8)));
    assert_eq!(counts(&server).len(), before + 2, "none is refused");
    // an operator's higher limit is not held down by what was kept under a lower one
    let raised = ModelSettings {
        request_tokens: settings.request_tokens + 1,
        ..settings
    };
    assert_ne!(
        ModelGateway::new(raised).unwrap().servers_name(),
        Some(name)
    );
}

#[actix_rt::test]
async fn without_a_number_halves_are_tried() {
    let message = json!({"detail": "Too many questions"});
    let server = refusing(400, message, |request| count(request) > 3);
    let model = model(&server);
    assert_eq!(keys(&model, &questions(8)).await, Ok(in_order(8)));
    assert_eq!(counts(&server), [2, 2, 2, 2, 4, 4, 8]);
    assert_eq!(keys(&model, &questions(4)).await, Ok(in_order(4)));
    assert_eq!(counts(&server), [2, 2, 2, 2, 2, 2, 4, 4, 8]);
}

#[actix_rt::test]
async fn a_request_with_too_many_tokens_is_halved_and_its_size_is_learned() {
    for (status, message) in [
        (
            400,
            json!({"detail": {"error_type": "max_tokens_exceeded"}}),
        ),
        (413, json!({"message": "Payload Too Large"})),
        (413, json!({"detail": "Request Entity Too Large"})),
        (413, json!({"error": "request body is too large"})),
        (
            413,
            json!("Failed to buffer the request body: length limit exceeded"),
        ),
        (
            413,
            json!("The data value transmitted exceeds the capacity limit."),
        ),
        (
            422,
            json!({"error": {"code": "context_length_exceeded", "message": "too long"}}),
        ),
    ] {
        let server = refusing(status, message, |request| request.body.len() > 600);
        let model = model(&server);
        assert_eq!(
            keys(&model, &questions(16)).await,
            Ok(in_order(16)),
            "{status}"
        );
        assert_eq!(counts(&server), [8, 8, 16], "{status}");
        assert_eq!(keys(&model, &questions(16)).await, Ok(in_order(16)));
        assert_eq!(counts(&server), [8, 8, 8, 8, 16], "{status}");
    }
}

#[actix_rt::test]
async fn one_text_that_is_too_long_fails_and_teaches_nothing() {
    let message = json!({"detail": {"error_type": "max_tokens_exceeded"}});
    let server = refusing(400, message, |request| request.body.len() > 2_000);
    let (model, version) = (model(&server), questions(16));
    let long = submission(&version, &"Where is my order? ".repeat(200));
    let failure = model.answer(&version, &long).await.outcome.unwrap_err();
    assert_eq!(
        failure.to_string(),
        "The text is too long for the model's context (status 400)."
    );
    assert_eq!(counts(&server), [1, 2, 4, 8, 16]);
    assert_eq!(keys(&model, &version).await, Ok(in_order(16)));
    assert_eq!(counts(&server), [1, 2, 4, 8, 16, 16]);
}

#[actix_rt::test]
async fn a_question_with_too_many_options_is_not_halved() {
    let message = json!({"detail": "Too many choices: at most 26"});
    let server = refusing(400, message, |_| true);
    let failure = ask(&model(&server), &triage()).await.unwrap_err();
    assert_eq!(
        failure.to_string(),
        "The model server takes fewer options in one question (status 400)."
    );
    assert_eq!(server.requests().len(), 1);
}

#[actix_rt::test]
async fn no_request_has_more_questions_than_the_setting() {
    let server = ModelServer::start(ScriptedReply::answers());
    let model = model_with(ModelSettings {
        request_questions: 3.try_into().unwrap(),
        ..settings(&server.url())
    });
    assert_eq!(keys(&model, &questions(10)).await, Ok(in_order(10)));
    assert_eq!(counts(&server), [1, 3, 3, 3]);
}
