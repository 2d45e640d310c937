use refract_test_support::model_server::{ModelServer, ScriptedReply};

use super::replies::{answers_to, contract_answer, unanswered, with_answer};
use super::*;

#[actix_rt::test]
async fn an_answer_that_cannot_be_used_is_none() {
    for (key, answer) in [
        ("topic", "null"),
        ("topic", "\"delivery\""),
        ("topic", r#"["choice","delivery"]"#),
        ("topic", r#"{"type":"noul","noul":0.5}"#),
        (
            "topic",
            r#"{"type":"Choice","choice":"delivery","probabilities":{"delivery":1}}"#,
        ),
        (
            "topic",
            r#"{"type":"choice","probabilities":{"delivery":1},"confidence":1}"#,
        ),
        (
            "topic",
            r#"{"type":"choice","choice":null,"probabilities":{"delivery":1}}"#,
        ),
        (
            "topic",
            r#"{"type":"choice","choice":1,"probabilities":{"delivery":1}}"#,
        ),
        (
            "topic",
            r#"{"type":"choice","choice":"delivery","probabilities":{"delivery":1,"billing":-0.1}}"#,
        ),
        (
            "topic",
            r#"{"type":"choice","choice":"delivery","probabilities":{"delivery":1.000002}}"#,
        ),
        (
            "topic",
            r#"{"type":"choice","choice":"delivery","probabilities":{"delivery":"1"}}"#,
        ),
        (
            "topic",
            r#"{"type":"choice","choice":"delivery","probabilities":{"delivery":1,"other":null}}"#,
        ),
        (
            "topic",
            r#"{"type":"choice","choice":"delivery","probabilities":[0,1,0,0]}"#,
        ),
        (
            "topic",
            r#"{"type":"choice","choice":"delivery","probabilities":{"delivery":0,"other":0}}"#,
        ),
        (
            "topic",
            r#"{"type":"choice","choice":"delivery","confidence":1}"#,
        ),
        (
            "topic",
            r#"{"type":"choice","choice":"returns","probabilities":{"billing":7}}"#,
        ),
        ("angry", r#"{"type":"noul"}"#),
        ("angry", r#"{"type":"noul","noul":null}"#),
        ("angry", r#"{"type":"noul","noul":true}"#),
        ("angry", r#"{"type":"noul","noul":"0.5"}"#),
        ("angry", r#"{"type":"noul","noul":1.5}"#),
        ("angry", r#"{"type":"noul","noul":-0.5}"#),
        (
            "angry",
            r#"{"type":"choice","choice":"yes","probabilities":{"yes":1}}"#,
        ),
        ("urgency", r#"{"type":"score","score":1}"#),
        (
            "urgency",
            r#"{"type":"score","score":1,"probabilities":{"0":0,"1":0,"2":0}}"#,
        ),
        (
            "urgency",
            r#"{"type":"score","score":1,"probabilities":{"can_wait":1}}"#,
        ),
        (
            "urgency",
            r#"{"type":"score","score":1,"probabilities":{"0":2}}"#,
        ),
        (
            "urgency",
            r#"{"type":"score","score":1,"probabilities":[1,0,0]}"#,
        ),
        // levels counted from 1
        (
            "urgency",
            r#"{"type":"score","score":2,"probabilities":{"1":0.9,"2":0.08,"3":0.02}}"#,
        ),
        (
            "urgency",
            r#"{"type":"score","score":1,"probabilities":{"0":0.1,"1":0.9,"3":0}}"#,
        ),
        // levels counted from -1
        (
            "urgency",
            r#"{"type":"score","score":0,"probabilities":{"-1":0.4,"0":0.5,"1":0.1}}"#,
        ),
        (
            "urgency",
            r#"{"type":"score","score":1,"probabilities":{"1":0.9,"2":0.1},"legend":{"1":"Can wait","2":"This week"}}"#,
        ),
        (
            "urgency",
            r#"{"type":"score","score":1,"probabilities":{"0":0.9,"1":0.1},"legend":{"0":"Today"}}"#,
        ),
        ("urgency", r#"{"type":"noul","noul":1}"#),
    ] {
        assert_eq!(
            with_answer(key, answer).await,
            Err(unanswered(key)),
            "{answer}"
        );
    }
}

#[actix_rt::test]
async fn a_question_that_was_left_out_is_named() {
    let mut body = contract_answer();
    body["answers"].as_object_mut().unwrap().remove("angry");
    let failure = answers_to(&body.to_string()).await.unwrap_err();
    assert_eq!(
        failure.to_string(),
        "The model gave no usable answer to the question angry."
    );
    let all = answers_to(r#"{"answers": {}}"#).await;
    assert_eq!(all, Err(unanswered("topic")));
}

#[actix_rt::test]
async fn what_json_cannot_distinguish_is_refused() {
    for body in [
        r#"{"answers":{"angry":{"type":"noul","noul":0.1},"angry":{"type":"noul","noul":0.9}}}"#,
        r#"{"answers":{},"answers":{}}"#,
    ] {
        assert_eq!(
            answers_to(body).await,
            Err(ModelError::NotSystemOne),
            "{body}"
        );
    }
    let twice = r#"{"answers":{"topic":{"type":"choice","choice":"billing","probabilities":{"billing":0.1,"billing":0.9}}}}"#;
    assert_eq!(answers_to(twice).await, Err(unanswered("topic")));
}

#[actix_rt::test]
async fn a_body_that_is_not_system_one_is_called_that() {
    let whole = contract_answer().to_string();
    let (half, _) = whole.split_at(whole.len() / 2);
    for body in [
        "",
        " ",
        "null",
        "[]",
        "7",
        "\"answers\"",
        "{}",
        r#"{"answers":null}"#,
        r#"{"answers":[]}"#,
        r#"{"answers":"none"}"#,
        r#"{"choices":[]}"#,
        "<!doctype html><title>502</title>",
        "OK",
        half,
        &format!("{whole}{whole}"),
        &format!("{whole}x"),
        "{\"answers\": {\"a\": NaN}}",
    ] {
        let failure = answers_to(body).await.unwrap_err();
        assert_eq!(
            failure.to_string(),
            "The model server answered with something that is not System One JSON.",
            "{body}"
        );
    }
    let server = ModelServer::start(ScriptedReply::body(&b"{\"answers\": {\"\xff\": 1}}"[..]));
    assert_eq!(
        ask(&model(&server), &triage()).await,
        Err(ModelError::NotSystemOne)
    );
}

#[actix_rt::test]
async fn an_error_with_status_200_is_an_error() {
    for error in [
        r#"{"message":"overloaded","echo":"Where is my order?"}"#,
        "\"overloaded\"",
        "17",
    ] {
        let mut body = contract_answer();
        body["error"] = serde_json::from_str(error).unwrap();
        for body in [body.to_string(), format!(r#"{{"error":{error}}}"#)] {
            let failure = answers_to(&body).await.unwrap_err();
            assert_eq!(
                failure.to_string(),
                "The model server reported an error instead of answers.",
                "{body}"
            );
        }
    }
}
