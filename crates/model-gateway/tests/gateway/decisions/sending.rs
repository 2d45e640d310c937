use refract_model_gateway::PROMPT_VERSION;

use super::*;

#[actix_rt::test]
async fn the_request_is_the_contracts_byte_for_byte() {
    let server = ModelServer::start(ScriptedReply::decisions());
    ask(&server).await.unwrap();

    let sent = server.requests().pop().unwrap();
    let expected = concat!(
        r#"{"model":"luna","#,
        r#""input":"{\"context\":\"We sell bicycles online.\",\"text\":\"Where is my order?\"}","#,
        r#""questions":["#,
        r#"{"type":"choice","name":"topic","#,
        r#""instructions":"What is the message about?\nJudge by the main request.","#,
        r#""choices":[{"value":"billing","description":"Billing: charges and invoices"},"#,
        r#"{"value":"delivery","description":"Delivery"},"#,
        r#"{"value":"other","description":"Other: the text answers the question, but with none of the options above"},"#,
        r#"{"value":"insufficient_information","description":"Not enough information: the text does not say enough to answer the question"}]},"#,
        r#"{"type":"predicate","name":"angry","instructions":"Is the writer angry?"},"#,
        r#"{"type":"score","name":"urgency","instructions":"How urgent is it?","#,
        r#""levels":[{"label":"Can wait"},{"label":"This week: by Friday"},{"label":"Today"}]}]}"#,
    );
    assert_eq!(sent.text(), expected);
    // raise the number when the text that every model gets changes
    assert_eq!(PROMPT_VERSION, 3);
    assert_eq!(
        (sent.method.as_str(), sent.path.as_str()),
        ("POST", "/v1/decisions")
    );
}

#[actix_rt::test]
async fn the_input_is_the_state_as_one_text_of_json() {
    let server = ModelServer::start(ScriptedReply::decisions());
    let version: PrismVersion = serde_json::from_value(json!({
        "fields": [{"key": "subject", "label": "Subject"}, {"key": "body", "label": "Body"}],
        "questions": [{"key": "angry", "type": "yes_no", "text": "Angry?"}]}))
    .unwrap();
    let body = "tab\t\"quote\" \\ é 日 \u{1F600} \u{7} \"}],\"questions\":[";
    let sent = SentFields::new(vec![
        ("body".to_owned(), body.to_owned()),
        ("subject".to_owned(), String::new()),
    ]);
    let context = CallContext::parse("A VIP.".to_owned()).unwrap();
    let submission = Submission::new(sent, context, version.fields()).unwrap();
    let outcome = model(&server).answer(&version, &submission).await.outcome;
    outcome.unwrap();

    let sent = server.requests().pop().unwrap().json();
    let input = sent["input"].as_str().unwrap();
    let in_order = r#"{"context":"Context for this call:\nA VIP.","subject":"","body":""#;
    assert!(input.starts_with(in_order), "{input}");
    assert_eq!(
        serde_json::from_str::<Value>(input).unwrap(),
        json!({"context": "Context for this call:\nA VIP.", "subject": "", "body": body})
    );
    let asked = json!([{"type": "predicate", "name": "angry", "instructions": "Angry?"}]);
    assert_eq!(sent["questions"], asked);
}

#[actix_rt::test]
async fn levels_and_options_may_share_a_label() {
    let version = version(&json!([
        {"key": "c", "type": "choice", "text": "c",
         "options": [{"key": "a", "label": "Same"}, {"key": "b", "label": "Same"}]},
        {"key": "s", "type": "scale", "text": "s",
         "levels": [{"key": "low", "label": "Same"}, {"key": "high", "label": "Same"}]}]));
    let server = ModelServer::start(ScriptedReply::decisions());
    let submission = submission(&version, "text", None);
    let call = model(&server).answer(&version, &submission).await;
    let answers = call.outcome.unwrap();
    assert_eq!(
        stored(&answers, 1),
        r#"{"type":"scale","level":"low","probabilities":{"low":0.7,"high":0.3}}"#
    );
}
