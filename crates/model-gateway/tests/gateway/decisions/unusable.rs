use super::*;

const TOPIC: &str = r#""type":"choice","name":"topic""#;
const URGENCY: &str = r#""type":"score","name":"urgency""#;

#[actix_rt::test]
async fn an_answer_that_cannot_be_used_is_none() {
    for rest in [
        // no choice
        r#""probabilities":[{"value":"delivery","probability":1}],"confidence":1"#,
        r#""choice":null,"probabilities":[{"value":"delivery","probability":1}]"#,
        r#""choice":true,"probabilities":[{"value":"delivery","probability":1}]"#,
        // no probabilities
        r#""choice":"delivery","confidence":1"#,
        r#""choice":"delivery","probabilities":[]"#,
        r#""choice":"delivery","probabilities":[{"value":"delivery","probability":0}]"#,
        r#""choice":"delivery","probabilities":{"delivery":1}"#,
        r#""choice":"delivery","probabilities":"delivery""#,
        r#""choice":"delivery","probabilities":[["delivery",1]]"#,
        r#""choice":"delivery","probabilities":["delivery"]"#,
        r#""choice":"delivery","probabilities":[{"probability":1}]"#,
        r#""choice":"delivery","probabilities":[{"value":"delivery"}]"#,
        r#""choice":"delivery","probabilities":[{"value":"delivery","probability":null}]"#,
        r#""choice":"delivery","probabilities":[{"value":"delivery","probability":"1"}]"#,
        r#""choice":"delivery","probabilities":[{"value":"delivery","probability":1.000002}]"#,
        r#""choice":"delivery","probabilities":[{"value":"delivery","probability":1},{"value":"other","probability":-0.1}]"#,
        r#""choice":"delivery","probabilities":[{"value":"delivery","probability":1},{"value":"delivery","probability":1}]"#,
    ] {
        let answer = format!("{{{TOPIC},{rest}}}");
        assert_eq!(
            with_answer(0, &answer).await,
            Err(ModelError::Unanswered(key("topic"))),
            "{answer}"
        );
    }
}

#[actix_rt::test]
async fn a_score_whose_levels_are_not_distinguished_is_none() {
    for rest in [
        r#""score":1"#,
        r#""score":1,"probabilities":[]"#,
        r#""score":1,"probabilities":[{"label":"Today","value":2,"probability":0}]"#,
        r#""score":1,"probabilities":[{"label":"Today","value":2,"probability":2}]"#,
        r#""score":1,"probabilities":[{"label":"Today","probability":1}]"#,
        r#""score":1,"probabilities":[{"label":"Today","value":"2","probability":1}]"#,
        r#""score":1,"probabilities":[{"label":"Today","value":-1,"probability":1}]"#,
        r#""score":1,"probabilities":[{"value":2,"probability":0.5},{"value":2,"probability":0.5}]"#,
        r#""score":1,"probabilities":{"2":1}"#,
        r#""score":1,"probabilities":[0,0,1]"#,
        r#""score":1,"probabilities":[{"label":"Today","value":1.5,"probability":1}]"#,
        // a value of no level: a server that counts from 1 and has labels of its own
        r#""score":1,"probabilities":[{"label":"low","value":1,"probability":0.4},{"label":"mid","value":2,"probability":0.5},{"label":"high","value":3,"probability":0.1}]"#,
        // a label that belongs to another level: a server that counts from 1
        r#""score":1,"probabilities":[{"label":"Can wait","value":1,"probability":1}]"#,
        r#""score":1,"probabilities":[{"label":"Can wait","value":1,"probability":0.1},{"label":"This week: by Friday","value":2,"probability":0.2},{"label":"Today","value":3,"probability":0.7}]"#,
    ] {
        let answer = format!("{{{URGENCY},{rest}}}");
        assert_eq!(
            with_answer(2, &answer).await,
            Err(ModelError::Unanswered(key("urgency"))),
            "{answer}"
        );
    }
}

#[actix_rt::test]
async fn an_answer_of_another_type_is_none() {
    let probability = r#""name":"angry","probability":0.5"#;
    for answer in [
        "null".to_owned(),
        "\"yes\"".to_owned(),
        "0.5".to_owned(),
        r#"["predicate","angry",0.5]"#.to_owned(),
        format!("{{{probability}}}"),
        format!(r#"{{"type":"Predicate",{probability}}}"#),
        format!(r#"{{"type":"noul","noul":0.5,{probability}}}"#),
        format!(r#"{{"type":"choice","choice":"yes",{probability}}}"#),
        r#"{"type":"predicate","name":"angry"}"#.to_owned(),
        r#"{"type":"predicate","name":"angry","probability":null}"#.to_owned(),
        r#"{"type":"predicate","name":"angry","probability":true}"#.to_owned(),
        r#"{"type":"predicate","name":"angry","probability":"0.5"}"#.to_owned(),
        r#"{"type":"predicate","name":"angry","probability":1.5}"#.to_owned(),
        r#"{"type":"predicate","name":"angry","probability":-0.5}"#.to_owned(),
    ] {
        assert_eq!(
            with_answer(1, &answer).await,
            Err(ModelError::Unanswered(key("angry"))),
            "{answer}"
        );
    }
}

#[actix_rt::test]
async fn a_body_that_is_not_of_the_format_is_called_that() {
    let whole = documented().to_string();
    let (half, _) = whole.split_at(whole.len() / 2);
    for body in [
        "",
        "null",
        "[]",
        "{}",
        "OK",
        r#"{"answers":null}"#,
        r#"{"answers":{}}"#,
        r#"{"answers":"none"}"#,
        r#"{"answers":[],"answers":[]}"#,
        r#"{"answers":{"angry":{"type":"noul","noul":0.1}}}"#,
        r#"{"choices":[]}"#,
        "<!doctype html><title>502</title>",
        half,
        &format!("{whole}{whole}"),
    ] {
        let failure = answers_to(body).await.unwrap_err();
        assert_eq!(failure, ModelError::NotDecisions, "{body}");
        assert_eq!(
            failure.to_string(),
            "The model server answered with something that is not Decisions JSON."
        );
        assert_eq!(failure.kind(), "malformed");
    }
}

#[actix_rt::test]
async fn an_error_with_status_200_is_an_error() {
    for error in [json!({"message": "overloaded"}), json!("overloaded")] {
        let mut body = documented();
        body["error"] = error.clone();
        for body in [body, json!({"error": error})] {
            assert_eq!(
                answers_to(&body.to_string()).await,
                Err(ModelError::ReportedError),
                "{body}"
            );
        }
    }
}
