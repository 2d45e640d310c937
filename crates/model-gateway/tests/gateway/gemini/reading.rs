use refract_model_gateway::PROMPT_VERSION;

use super::*;

#[actix_rt::test]
async fn the_documented_answer_is_stored_as_it_was_given() {
    let call = ask(&ModelServer::start(ScriptedReply::json(&documented()))).await;
    let answers = call.outcome.unwrap();
    for (place, expected) in [
        concat!(
            r#"{"type":"choice","value":"delivery","#,
            r#""probabilities":{"billing":0.02,"delivery":0.95,"other":0.02,"insufficient_information":0.01},"#,
            r#""confidence":0.95}"#,
        ),
        r#"{"type":"yes_no","probability":0.12}"#,
        r#"{"type":"scale","level":"this_week","probabilities":{"can_wait":0.4,"this_week":0.5,"today":0.1}}"#,
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(stored(&answers, place), expected);
    }
    let report = call.report;
    assert_eq!(
        (report.protocol, report.prompt_version),
        ("gemini", Some(PROMPT_VERSION))
    );
    // the format's answers name no model
    assert_eq!(report.model, None);
    assert_eq!(
        (report.input_tokens, report.output_tokens),
        (Some(318), Some(0))
    );
    assert_eq!((report.requests, report.attempts), (1, 1));
    assert_eq!((report.parsed.outcomes, report.parsed.listed), (9, 9));
}

#[actix_rt::test]
async fn a_question_without_a_usable_answer_fails_the_call() {
    for (name, answer) in [
        ("topic", json!(null)),
        ("topic", json!({"type": "choice", "confidence": 1})),
        ("angry", json!({"type": "predicate", "probability": 0.5})),
        ("angry", json!({"type": "noul", "confidence": 0.5})),
        (
            "urgency",
            json!({"type": "score", "score": 1, "probabilities": {}}),
        ),
    ] {
        let mut body = documented();
        body["answers"][name] = answer;
        assert_eq!(
            answers_to(&body.to_string()).await,
            Err(ModelError::Unanswered(key(name))),
            "{body}"
        );
    }
}

#[actix_rt::test]
async fn a_body_that_is_not_of_the_format_is_called_that() {
    for body in [
        "",
        "[]",
        "{}",
        r#"{"answers":[{"type":"noul","noul":0.1}]}"#,
        r#"{"answers":null}"#,
        r#"{"candidates":[]}"#,
        "<!doctype html><title>404</title>",
    ] {
        let failure = answers_to(body).await.unwrap_err();
        assert_eq!(failure, ModelError::NotGemini, "{body}");
        assert_eq!(
            failure.to_string(),
            "The model server answered with something that is not Gemini Decisions JSON."
        );
        assert_eq!(failure.kind(), "malformed");
    }
}
