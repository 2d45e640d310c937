use refract_model_gateway::PROMPT_VERSION;

use super::*;

#[actix_rt::test]
async fn the_documented_answer_is_stored_as_it_was_given() {
    let server = ModelServer::start(ScriptedReply::json(&documented()));
    let version = triage();
    let submission = submission(&version, "Where is my order?", None);
    let call = model(&server).answer(&version, &submission).await;
    let answers = call.outcome.unwrap();

    assert_eq!(
        stored(&answers, 0),
        concat!(
            r#"{"type":"choice","value":"delivery","#,
            r#""probabilities":{"billing":0.02,"delivery":0.95,"other":0.02,"insufficient_information":0.01},"#,
            r#""confidence":0.9}"#,
        )
    );
    assert_eq!(
        stored(&answers, 1),
        r#"{"type":"yes_no","probability":0.12}"#
    );
    assert_eq!(
        stored(&answers, 2),
        r#"{"type":"scale","level":"this_week","probabilities":{"can_wait":0.4,"this_week":0.5,"today":0.1}}"#
    );
    let report = call.report;
    assert_eq!(
        (report.protocol, report.prompt_version),
        ("decisions", Some(PROMPT_VERSION))
    );
    assert_eq!(report.model.as_deref(), Some("luna-1"));
    assert_eq!(
        (report.input_tokens, report.output_tokens),
        (Some(318), Some(34))
    );
    assert_eq!((report.requests, report.attempts), (1, 1));
    assert_eq!((report.parsed.outcomes, report.parsed.listed), (9, 9));
}

#[actix_rt::test]
async fn probabilities_are_found_by_their_value_whatever_their_order() {
    let expected = answers_to(&documented().to_string()).await.unwrap();
    let mut turned = documented();
    for place in [0, 2] {
        let probabilities = turned["answers"][place]["probabilities"].as_array_mut();
        probabilities.unwrap().reverse();
    }
    assert_eq!(answers_to(&turned.to_string()).await.unwrap(), expected);
}

#[actix_rt::test]
async fn the_value_of_a_level_may_have_a_decimal_point() {
    let whole = documented().to_string();
    let with_points = [0, 1, 2].iter().fold(whole.clone(), |body, level| {
        body.replace(
            &format!(r#""value":{level}"#),
            &format!(r#""value":{level}.0"#),
        )
    });
    assert_ne!(with_points, whole);
    let expected = answers_to(&whole).await.unwrap();
    assert_eq!(answers_to(&with_points).await.unwrap(), expected);
}

#[actix_rt::test]
async fn what_nobody_asked_for_means_nothing() {
    let expected = answers_to(&documented().to_string()).await.unwrap();
    let mut more = documented();
    more["object"] = json!("decision");
    more["error"] = Value::Null;
    more["usage"]["output_tokens_details"] = json!({"reasoning_tokens": 7});
    let answers = more["answers"].as_array_mut().unwrap();
    for answer in answers.iter_mut() {
        answer["why"] = json!({"deep": [1]});
        answer["score"] = json!(9);
    }
    let choice = &mut answers[0]["probabilities"];
    for unknown in [
        json!({"value": "unknown", "probability": 7}),
        json!({"value": true, "probability": 0.5}),
    ] {
        choice.as_array_mut().unwrap().push(unknown);
    }
    assert_eq!(answers_to(&more.to_string()).await.unwrap(), expected);
}

#[actix_rt::test]
async fn a_choice_that_the_prism_lacks_is_a_value_of_null() {
    for (sent, kept) in [
        (
            r#"{"type":"choice","name":"topic","choice":"returns","confidence":0.8,
                "probabilities":[{"value":"returns","probability":0.9},{"value":"billing","probability":0.1}]}"#,
            r#"{"type":"choice","value":null,"probabilities":{"billing":0.1,"delivery":0.0,"other":0.0,"insufficient_information":0.0},"confidence":0.8}"#,
        ),
        (
            r#"{"type":"choice","name":"topic","choice":"Delivery","probabilities":[]}"#,
            r#"{"type":"choice","value":null,"probabilities":{"billing":0.0,"delivery":0.0,"other":0.0,"insufficient_information":0.0},"confidence":0.0}"#,
        ),
    ] {
        let answers = with_answer(0, sent).await.unwrap();
        assert_eq!(stored(&answers, 0), kept);
    }
}

#[actix_rt::test]
async fn without_a_confidence_it_follows_from_the_named_outcomes_probability() {
    let sent = json!({"type": "choice", "name": "topic", "choice": "delivery", "probabilities":
        [{"value": "delivery", "probability": 0.7}, {"value": "billing", "probability": 0.3}]});
    let answers = with_answer(0, &sent.to_string()).await.unwrap();
    assert_eq!(
        stored(&answers, 0),
        r#"{"type":"choice","value":"delivery","probabilities":{"billing":0.3,"delivery":0.7,"other":0.0,"insufficient_information":0.0},"confidence":0.6}"#
    );
}

#[actix_rt::test]
async fn the_level_is_the_most_probable_and_not_the_score() {
    for (probabilities, level) in [
        (
            r#"[{"value":0,"probability":0.4},{"value":1,"probability":0.4}]"#,
            "can_wait",
        ),
        (r#"[{"value":2,"probability":0.000001}]"#, "today"),
        // a label alone is not enough
        (
            r#"[{"label":"This week","value":1,"probability":1}]"#,
            "this_week",
        ),
    ] {
        let sent = format!(
            r#"{{"type":"score","name":"urgency","score":0,"probabilities":{probabilities}}}"#
        );
        let answers = with_answer(2, &sent).await.unwrap();
        let stored = stored(&answers, 2);
        let expected = format!(r#""level":"{level}""#);
        assert!(stored.contains(&expected), "{stored}");
    }
}
