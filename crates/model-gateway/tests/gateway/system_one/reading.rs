use refract_domain::answer::Probability;
use refract_model_gateway::PROMPT_VERSION;
use refract_test_support::model_server::{ModelServer, ScriptedReply};
use serde_json::{Value, json};

use super::replies::{answers_to, contract_answer, stored, unanswered, with_answer};
use super::*;

#[actix_rt::test]
async fn the_contracts_answer_is_stored_as_it_was_given() {
    let server = ModelServer::start(ScriptedReply::json(&contract_answer()));
    let version = triage();
    let call = model(&server)
        .answer(&version, &submission(&version, "Where is my order?"))
        .await;
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
    assert_eq!(call.report.model.as_deref(), Some("jev-1.13.0"));
    assert_eq!(
        (call.report.input_tokens, call.report.output_tokens),
        (Some(318), Some(34))
    );
    assert_eq!((call.report.requests, call.report.attempts), (1, 1));
    assert_eq!(
        (call.report.protocol, call.report.prompt_version),
        ("systemone", Some(PROMPT_VERSION))
    );
}

#[actix_rt::test]
async fn a_call_that_fails_reports_what_the_server_reported() {
    let mut body = contract_answer();
    body["answers"]["angry"]["noul"] = json!("often");
    let server = ModelServer::start(ScriptedReply::json(&body));
    let version = triage();
    let call = model(&server)
        .answer(&version, &submission(&version, "Where is my order?"))
        .await;
    assert_eq!(call.outcome.unwrap_err(), unanswered("angry"));
    assert_eq!(call.report.model.as_deref(), Some("jev-1.13.0"));
    assert_eq!(
        (call.report.input_tokens, call.report.output_tokens),
        (Some(318), Some(34))
    );
}

#[actix_rt::test]
async fn order_and_what_nobody_asked_for_mean_nothing() {
    let body = r#"{"answers": {
        "urgency": {"probabilities": {"2": 0.1, "0": 0.4, "1": 0.5}, "score": 9, "type": "score", "why": {"deep": [1]}},
        "unknown": {"type": "essay", "essay": 5},
        "angry": {"noul": 0.12, "choice": 5, "probabilities": "none", "type": "noul"},
        "topic": {"probabilities": {"other": 0.02, "delivery": 0.95, "unknown": "7", "billing": 0.02, "insufficient_information": 0.01},
                  "confidence": 0.9, "choice": "delivery", "type": "choice"}},
        "model": 7, "usage": "much", "extra": null, "error": null, "id": {"answers": []}}"#;
    let expected = answers_to(&contract_answer().to_string()).await.unwrap();
    assert_eq!(answers_to(body).await.unwrap(), expected);
}

#[actix_rt::test]
async fn a_choice_that_the_prism_lacks_is_a_value_of_null() {
    for (sent, kept) in [
        (
            r#"{"type":"choice","choice":"returns","confidence":0.8,"probabilities":{"returns":0.9,"billing":0.1}}"#,
            r#"{"type":"choice","value":null,"probabilities":{"billing":0.1,"delivery":0,"other":0,"insufficient_information":0},"confidence":0.8}"#,
        ),
        (
            r#"{"type":"choice","choice":"Delivery","probabilities":{}}"#,
            r#"{"type":"choice","value":null,"probabilities":{"billing":0,"delivery":0,"other":0,"insufficient_information":0},"confidence":0}"#,
        ),
        (
            r#"{"type":"choice","choice":""}"#,
            r#"{"type":"choice","value":null,"probabilities":{"billing":0,"delivery":0,"other":0,"insufficient_information":0},"confidence":0}"#,
        ),
    ] {
        let answers = with_answer("topic", sent).await.unwrap();
        let expected: Value = serde_json::from_str(kept).unwrap();
        assert_eq!(
            numbers_alike(&stored(&answers, 0)),
            numbers_alike(&expected.to_string())
        );
    }
}

#[actix_rt::test]
async fn without_a_confidence_it_follows_from_the_named_outcomes_probability() {
    for (delivery, confidence) in [(1.0, 1.0), (0.25, 0.0), (0.1, 0.0), (0.7, 0.6)] {
        let sent = json!({"type": "choice", "choice": "delivery",
                          "probabilities": {"delivery": delivery, "billing": 1.0 - delivery}});
        let answers = with_answer("topic", &sent.to_string()).await.unwrap();
        let Answer::Choice {
            confidence: kept, ..
        } = answer(&answers, 0)
        else {
            panic!()
        };
        assert_eq!(
            *kept,
            Probability::from_f64(confidence).unwrap(),
            "{delivery}"
        );
    }
}

#[actix_rt::test]
async fn the_named_outcome_counts_even_where_another_is_more_probable() {
    let sent = r#"{"type":"choice","choice":"other","confidence":0.1,"probabilities":{"billing":0.9,"other":0.1}}"#;
    let answers = with_answer("topic", sent).await.unwrap();
    let Answer::Choice { value, .. } = answer(&answers, 0) else {
        panic!()
    };
    assert_eq!(value.as_ref().unwrap().as_str(), "other");
}

#[actix_rt::test]
async fn probabilities_are_passed_through_and_not_normalised() {
    let sent = r#"{"type":"choice","choice":"billing","confidence":1,"probabilities":{"billing":0.9,"delivery":0.9}}"#;
    let answers = with_answer("topic", sent).await.unwrap();
    let Answer::Choice { probabilities, .. } = answer(&answers, 0) else {
        panic!()
    };
    let kept: Vec<f64> = probabilities
        .iter()
        .map(|(_, probability)| probability.to_f64())
        .collect();
    assert_eq!(kept, [0.9, 0.9, 0.0, 0.0]);
}

#[actix_rt::test]
async fn the_level_is_the_most_probable_and_on_a_tie_the_lower() {
    for (probabilities, level) in [
        (r#"{"0":0.4,"1":0.4,"2":0.2}"#, "can_wait"),
        (r#"{"2":0.5,"1":0.5}"#, "this_week"),
        (r#"{"2":0.000001}"#, "today"),
        (r#"{"0":0.1,"1":0.2,"2":0.3,"Today":1,"00":5}"#, "today"),
    ] {
        let sent = format!(r#"{{"type":"score","score":0,"probabilities":{probabilities}}}"#);
        let answers = with_answer("urgency", &sent).await.unwrap();
        let Answer::Scale { level: kept, .. } = answer(&answers, 2) else {
            panic!()
        };
        assert_eq!(kept.as_str(), level, "{probabilities}");
    }
}

#[actix_rt::test]
async fn a_legend_that_names_the_levels_in_any_form_changes_nothing() {
    for legend in [
        r#"{"0":"Can wait","1":"This week","2":"Today"}"#,
        r#"{"0":"can w…","1":{"label":"This week"},"2":null,"9":"Never"}"#,
        r#"["Can wait","This week","Today"]"#,
        "null",
    ] {
        let sent =
            format!(r#"{{"type":"score","probabilities":{{"0":0.1,"1":0.9}},"legend":{legend}}}"#);
        let answers = with_answer("urgency", &sent).await.unwrap();
        let Answer::Scale { level, .. } = answer(&answers, 2) else {
            panic!()
        };
        assert_eq!(level.as_str(), "this_week", "{legend}");
    }
}

#[actix_rt::test]
async fn a_confidence_that_is_none_of_ours_is_replaced() {
    for confidence in ["1.2", "-0.1", "\"1\"", "null", "[0.5]"] {
        let sent = format!(
            r#"{{"type":"choice","choice":"delivery","confidence":{confidence},
                "probabilities":{{"delivery":0.7,"billing":0.3}}}}"#
        );
        let answers = with_answer("topic", &sent).await.unwrap();
        let Answer::Choice {
            confidence: kept, ..
        } = answer(&answers, 0)
        else {
            panic!()
        };
        assert_eq!(*kept, Probability::from_f64(0.6).unwrap(), "{confidence}");
    }
}

#[actix_rt::test]
async fn a_rounding_error_outside_of_0_to_1_is_rounded_in() {
    for (sent, kept) in [
        ("1.000001", "1.0"),
        ("1.0000001", "1.0"),
        ("-0.000001", "0.0"),
        ("-0.0", "0.0"),
    ] {
        let answers = with_answer("angry", &format!(r#"{{"type":"noul","noul":{sent}}}"#)).await;
        let expected = format!(r#"{{"type":"yes_no","probability":{kept}}}"#);
        assert_eq!(stored(&answers.unwrap(), 1), expected, "{sent}");
    }
    for sent in ["1.0000011", "1.000002", "-0.0000011"] {
        let answers = with_answer("angry", &format!(r#"{{"type":"noul","noul":{sent}}}"#)).await;
        assert_eq!(answers, Err(unanswered("angry")), "{sent}");
    }
}

/// JSON with every number as a double, so that `0` equals `0.0`.
fn numbers_alike(json: &str) -> Value {
    fn alike(value: Value) -> Value {
        match value {
            Value::Number(number) => json!(number.as_f64()),
            Value::Object(object) => object
                .into_iter()
                .map(|(key, value)| (key, alike(value)))
                .collect(),
            Value::Array(list) => list.into_iter().map(alike).collect(),
            plain @ (Value::Null | Value::Bool(_) | Value::String(_)) => plain,
        }
    }
    alike(serde_json::from_str(json).unwrap())
}
