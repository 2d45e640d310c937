use super::*;

#[actix_rt::test]
async fn a_refusal_has_a_sentence_of_its_own() {
    for refusal in [
        r#"{"type":"refusal","name":"angry"}"#,
        r#"{"type":"refusal","name":null}"#,
        r#"{"type":"refusal"}"#,
        r#"{"type":"refusal","name":"angry","probability":0.5,"reason":"I cannot judge people."}"#,
    ] {
        let failure = with_answer(1, refusal).await.unwrap_err();
        assert_eq!(failure, ModelError::Refused(key("angry")), "{refusal}");
        assert_eq!(
            failure.to_string(),
            "The model refused to answer the question angry."
        );
        assert_eq!(failure.kind(), "withheld");
    }
}

#[actix_rt::test]
async fn the_refusal_of_another_question_is_no_answer_to_this_one() {
    let refused = with_answer(1, r#"{"type":"refusal","name":"topic"}"#).await;
    assert_eq!(refused, Err(ModelError::Unanswered(key("angry"))));
}

#[actix_rt::test]
async fn the_first_question_without_an_answer_is_the_failure() {
    let mut body = documented();
    body["answers"][0] = json!({"type": "refusal", "name": "topic"});
    body["answers"][1] = json!(null);
    let failure = answers_to(&body.to_string()).await.unwrap_err();
    assert_eq!(failure, ModelError::Refused(key("topic")));
}

#[actix_rt::test]
async fn a_refused_call_reports_what_the_server_reported() {
    let mut body = documented();
    body["answers"][2] = json!({"type": "refusal", "name": "urgency"});
    let server = ModelServer::start(ScriptedReply::json(&body));
    let version = triage();
    let submission = submission(&version, "Where is my order?", None);
    let call = model(&server).answer(&version, &submission).await;
    assert!(call.outcome.is_err());
    assert_eq!(call.report.model.as_deref(), Some("luna-1"));
    assert_eq!(call.report.input_tokens, Some(318));
}
