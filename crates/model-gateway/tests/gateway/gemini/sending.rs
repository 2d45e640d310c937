use refract_model_gateway::PROMPT_VERSION;

use super::*;

#[actix_rt::test]
async fn the_request_is_the_formats_byte_for_byte() {
    let server = ModelServer::start(ScriptedReply::gemini());
    ask(&server).await.outcome.unwrap();

    let sent = server.requests().pop().unwrap();
    let expected = concat!(
        r#"{"model":"gemini-decision-1","#,
        r#""input":"{\"context\":\"We sell bicycles online.\",\"text\":\"Where is my order?\"}","#,
        r#""questions":{"#,
        r#""topic":{"type":"choice","#,
        r#""instructions":"What is the message about?\nJudge by the main request.","#,
        r#""criteria":{"billing":"Billing: charges and invoices","delivery":"Delivery","#,
        r#""other":"Other: the text answers the question, but with none of the options above","#,
        r#""insufficient_information":"Not enough information: the text does not say enough to answer the question"}},"#,
        r#""angry":{"type":"noul","instructions":"Is the writer angry?"},"#,
        r#""urgency":{"type":"score","instructions":"How urgent is it?","#,
        r#""criteria":["Can wait","This week","Today"]}}}"#,
    );
    assert_eq!(sent.text(), expected);
    // raise the number when the text that every model gets changes
    assert_eq!(PROMPT_VERSION, 3);
    assert_eq!(
        (sent.method.as_str(), sent.path.as_str()),
        ("POST", "/v1beta/decisions")
    );
    assert_eq!(sent.header("x-goog-api-key"), Some("AIza-1"));
    assert_eq!(sent.header("authorization"), None);
}

#[actix_rt::test]
async fn the_input_is_the_state_as_one_text_of_json() {
    let server = ModelServer::start(ScriptedReply::gemini());
    let version = triage();
    let text = "tab\t\"quote\" \\ é 日 \u{1F600} \u{7} \"}],\"questions\":{";
    let submission = submission(&version, text, Some("A VIP."));
    let call = model(&server).answer(&version, &submission).await;
    call.outcome.unwrap();

    let sent = server.requests().pop().unwrap().json();
    let input = sent["input"].as_str().unwrap();
    let context = "We sell bicycles online.\nContext for this call:\nA VIP.";
    assert_eq!(
        serde_json::from_str::<Value>(input).unwrap(),
        json!({"context": context, "text": text})
    );
}

#[actix_rt::test]
async fn questions_are_split_over_requests_of_the_size_that_is_set() {
    let server = ModelServer::start(ScriptedReply::gemini());
    let question = |number| {
        let text = format!("{} {number}?", "Angry".repeat(20));
        json!({"key": format!("q{number}"), "type": "yes_no", "text": text})
    };
    let questions: Vec<Value> = (0..10).map(question).collect();
    let version = json!({"fields": [{"key": "text", "label": "Message"}], "questions": questions});
    let version: PrismVersion = serde_json::from_value(version).unwrap();
    let submission = submission(&version, "Where is my order?", None);
    let gateway = gateway(&server, 150);
    let call = gateway.model().answer(&version, &submission).await;

    let answers = call.outcome.unwrap();
    let keys = answers.as_slice().iter().map(|(key, _)| key.to_string());
    assert!(keys.eq((0..10).map(|number| format!("q{number}"))));
    let sent = server.requests();
    assert!(sent.len() > 1, "{}", sent.len());
    let estimated = gateway.estimator(&version).estimate(29).requests;
    assert_eq!(estimated, sent.len());
    for request in &sent {
        assert!(request.body.len() < 4 * 150 + 60, "{}", request.text());
    }
}
