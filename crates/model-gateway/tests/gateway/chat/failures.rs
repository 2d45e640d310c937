use refract_domain::key::QuestionKey;
use refract_model_gateway::WrittenInstead;
use refract_test_support::model_server::{ChatModel, Script, ScriptedReply};

use super::*;

async fn failure(script: impl Into<Script>) -> (ModelError, usize) {
    let server = ModelServer::start(script);
    let failure = ask(&server, &yes_no()).await.unwrap_err();
    (failure, server.counts().requests)
}

fn off_codes(percent: u8, wrote: WrittenInstead) -> ModelError {
    ModelError::OffCodes {
        question: QuestionKey::parse("angry").unwrap(),
        percent,
        wrote,
    }
}

#[actix_rt::test]
async fn an_answer_without_log_probabilities_names_the_setting() {
    for logprobs in [
        json!(null),
        json!({}),
        json!({"content": null}),
        json!({"content": []}),
    ] {
        let body = json!({"choices": [{"message": {"content": "yes"}, "logprobs": logprobs}]});
        let (failure, requests) = failure(ScriptedReply::json(&body)).await;
        assert_eq!(
            failure.to_string(),
            "The model gave no usable answer to the question angry: its server sent no \
             log-probabilities, which REFRACT_MODEL_PROTOCOL `chat` needs."
        );
        assert_eq!((failure.kind(), requests), ("unanswered", 1));
    }
}

#[actix_rt::test]
async fn hardly_anything_on_the_codes_is_unanswered() {
    let model = |on_codes| ChatModel {
        on_codes,
        ..ChatModel::new(vec![3.0, 1.0])
    };
    assert_eq!(
        failure(model(0.04).reply()).await.0,
        off_codes(4, WrittenInstead::Prose)
    );
    let server = ModelServer::start(model(0.06).reply());
    let answers = ask(&server, &yes_no()).await.unwrap();
    assert_eq!(probabilities(only(&answers)), [0.75, 0.25]);
}

#[actix_rt::test]
async fn errors_inside_a_200_are_reported_errors() {
    for body in [
        r#"{"error": {"message": "overloaded", "code": 404}}"#,
        r#"{"error": "overloaded"}"#,
        r#"{"object": "error", "message": "overloaded", "code": 400}"#,
        r#"{"choices": [{"error": {"message": "upstream"}, "message": {"content": ""}}]}"#,
    ] {
        let (failure, requests) = failure(ScriptedReply::body(body)).await;
        assert_eq!(
            (failure, requests),
            (ModelError::ReportedError, 1),
            "{body}"
        );
    }
}

#[actix_rt::test]
async fn what_is_no_chat_completion_is_reported_as_none() {
    for body in [
        "",
        "[]",
        "{}",
        r#"{"choices": []}"#,
        r#"{"choices": {"0": {}}}"#,
        "<html>",
    ] {
        assert_eq!(
            failure(ScriptedReply::body(body)).await.0,
            ModelError::NotChat,
            "{body}"
        );
    }
}

#[actix_rt::test]
async fn a_parameter_that_is_refused_by_name_is_named() {
    for (status, body, parameter, expected) in [
        // both are requested once more with 20 alternatives
        (
            400,
            r#"{"error":{"message":"no logprobs here","param":"logprobs"}}"#,
            "logprobs",
            2,
        ),
        (
            400,
            r#"{"object":"error","message":"'temperature' does not support 0"}"#,
            "temperature",
            1,
        ),
        (
            422,
            r#"{"detail":[{"loc":["body","top_logprobs"]}]}"#,
            "top_logprobs",
            2,
        ),
    ] {
        let (failure, requests) = failure(ScriptedReply::body(body).with_status(status)).await;
        assert_eq!(
            failure.to_string(),
            format!(
                "The model server refused the parameter `{parameter}` (status {status}): check \
                 REFRACT_MODEL_PROTOCOL and the model."
            )
        );
        assert_eq!(requests, expected);
    }
    let (failure, _) = failure(ScriptedReply::status(400)).await;
    assert_eq!(failure, ModelError::Status(400));
}

#[actix_rt::test]
async fn parameters_that_can_be_done_without_are_left_out_from_then_on() {
    let refusal = |parameter: &str| {
        let error = json!({"error": {"message": "unsupported", "param": parameter}});
        ScriptedReply::json(&error).with_status(400)
    };
    let answers = ChatModel::new(vec![1.0, 3.0]).reply();
    let replies = [refusal("max_tokens"), refusal("chat_template_kwargs")];
    let server = ModelServer::start(Script::first(replies).then(answers));
    let model = model(&server);
    let version = yes_no();
    let submission = submission(&version, "Hello", None);
    for _ in 0..2 {
        let call = model.answer(&version, &submission).await;
        assert_eq!(probabilities(only(&call.outcome.unwrap())), [0.25, 0.75]);
    }
    let sent = server.requests();
    let sent = sent.iter().map(|request| {
        let body = request.json();
        [
            "max_tokens",
            "max_completion_tokens",
            "chat_template_kwargs",
        ]
        .map(|parameter| body.get(parameter).is_some())
    });
    assert_eq!(
        sent.collect::<Vec<_>>(),
        [
            [true, false, true],
            [false, true, true],
            [false, true, false],
            [false, true, false],
        ]
    );
}

/// A prism with this many Yes / No questions.
fn questions(count: usize) -> PrismVersion {
    let question =
        |number| json!({"key": format!("q{number}"), "type": "yes_no", "text": "Is it so?"});
    version(&(0..count).map(question).collect())
}

#[actix_rt::test]
async fn the_first_question_that_fails_fails_the_call_and_the_others_are_dropped() {
    let server = ModelServer::start(ScriptedReply::status(200).held());
    let version = questions(20);
    let asked = ask(&server, &version);
    let fail = async {
        // all are in flight at once
        server.wait_until(|counts| counts.requests == 20).await;
        server.release(1);
    };
    let (answer, ()) = tokio::join!(asked, fail);
    assert_eq!(answer, Err(ModelError::ReportedError));
    server.wait_until(|counts| counts.abandoned == 19).await;
}

#[actix_rt::test]
async fn a_call_ends_within_two_attempts_however_many_questions() {
    let busy = || ScriptedReply::status(503).header("Retry-After", "1");
    let server = ModelServer::start(
        Script::first(vec![busy(); 100]).then(ScriptedReply::status(200).held()),
    );
    let timeout = Duration::from_millis(300);
    let version = questions(100);
    let submission = submission(&version, "Hello", None);
    let call = impatient(&server, timeout)
        .answer(&version, &submission)
        .await;
    assert_eq!(call.outcome, Err(ModelError::TimedOut(timeout)));
    assert!(
        call.took < 2 * timeout + Duration::from_secs(1 + 1),
        "{:?}",
        call.took
    );
}

#[actix_rt::test]
async fn a_further_request_that_takes_too_long_fails_the_call() {
    let first = ChatModel::new(vec![1.0; 30]).reply();
    let server = ModelServer::start(Script::first([first]).then(ScriptedReply::status(200).held()));
    let timeout = Duration::from_millis(300);
    let submission = submission(&choice(30), "Hello", None);
    let call = impatient(&server, timeout)
        .answer(&choice(30), &submission)
        .await;
    assert_eq!(call.outcome, Err(ModelError::TimedOut(timeout)));
    assert!(
        call.took < 2 * timeout + Duration::from_secs(1),
        "{:?}",
        call.took
    );
}

#[actix_rt::test]
async fn all_requests_of_a_question_share_the_time_of_two_attempts_and_one_pause() {
    // each answer but the last asks for a pause or needs a follow-up request
    let refusal = |parameter: &str| {
        let error = json!({"error": {"message": "unsupported", "param": parameter}});
        ScriptedReply::json(&error).with_status(400)
    };
    let busy = || ScriptedReply::status(503).header("Retry-After", "3");
    let replies = [
        busy(),
        refusal("max_tokens"),
        busy(),
        refusal("chat_template_kwargs"),
        busy(),
    ];
    let answers = ChatModel::new(vec![1.0, 3.0]).reply();
    let server = ModelServer::start(Script::first(replies).then(answers));
    let call = model(&server)
        .answer(&yes_no(), &submission(&yes_no(), "Hello", None))
        .await;
    assert!(call.outcome.is_ok());
    assert_eq!(server.counts().requests, 6);
    // three whole pauses would be nine seconds
    assert!(call.took < Duration::from_secs(8), "{:?}", call.took);
}

#[actix_rt::test]
async fn an_error_in_an_answer_keeps_what_it_cost() {
    let body = json!({"model": "qwen", "choices": [{"error": {"message": "upstream"}}],
                      "usage": {"prompt_tokens": 70, "completion_tokens": 0, "cost": 0.25}});
    let server = ModelServer::start(ScriptedReply::json(&body));
    let version = yes_no();
    let submission = submission(&version, "Where is my order?", None);
    let call = model(&server).answer(&version, &submission).await;
    assert_eq!(call.outcome, Err(ModelError::ReportedError));
    assert_eq!(call.report.input_tokens, Some(70));
    assert_eq!(call.report.cost.unwrap().to_string(), "0.25");
}
