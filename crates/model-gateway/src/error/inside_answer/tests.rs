use super::*;
use crate::error::ModelError;

fn found(body: &str) -> Option<ModelError> {
    let refusal = refusal(&Bytes::from(body.to_owned()), None)?;
    Some(refusal.failure(false))
}

#[test]
fn a_rate_or_failing_server_inside_an_answer_is_its_status() {
    for (body, status) in [
        (r#"{"error":{"message":"no","code":429}}"#, 429),
        (r#"{"error":{"message":"no","code":"503"}}"#, 503),
        (r#"{"error":{"message":"no","status":529}}"#, 529),
        (r#"{"error":"busy","status_code":502}"#, 502),
        (r#"[{"error":{"code":503,"status":"UNAVAILABLE"}}]"#, 503),
        (r#"{"object":"error","message":"no","code":429}"#, 429),
        (
            r#"{"choices":[{"error":{"code":502,"message":"no"},"finish_reason":"error"}]}"#,
            502,
        ),
        (
            r#"{"error":{"code":429},"choices":[{"message":{"content":null}}]}"#,
            429,
        ),
        (
            r#"{"result":null,"success":false,"errors":[{"code":429}]}"#,
            429,
        ),
        (r#"{"response":{"error":{"code":500}}}"#, 500),
        (
            r#"{"error":{"message":"no","type":"rate_limit_error"}}"#,
            429,
        ),
        (
            r#"{"error":"Unexpected endpoint or method. (POST /v1/systemone)"}"#,
            404,
        ),
        (
            r#"{"choices":null,"base_resp":{"status_code":1002,"status_msg":"rate limit exceeded"}}"#,
            429,
        ),
    ] {
        assert_eq!(found(body), Some(ModelError::Status(status)), "{body}");
    }
}

#[test]
fn what_the_host_reports_of_its_account_or_the_text_is_known_inside_an_answer_too() {
    for (body, expected) in [
        (
            r#"{"error":{"message":"Insufficient credits","code":402}}"#,
            ModelError::CreditUsedUp(402),
        ),
        (
            r#"{"error":{"type":"insufficient_quota"}}"#,
            ModelError::CreditUsedUp(200),
        ),
        (
            r#"{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}"#,
            ModelError::CreditUsedUp(200),
        ),
        (
            r#"{"error":{"message":"Your input was flagged","code":403}}"#,
            ModelError::Withheld,
        ),
        (
            r#"{"error":{"message":"prompt is too long","code":400}}"#,
            ModelError::ContextTooSmall(400),
        ),
        (
            r#"{"error":"prompt is too long"}"#,
            ModelError::ContextTooSmall(200),
        ),
    ] {
        assert_eq!(found(body), Some(expected), "{body}");
    }
}

#[test]
fn other_codes_and_answers_are_no_refusal() {
    for body in [
        r#"{"error":{"message":"overloaded"}}"#,
        r#"{"error":"overloaded"}"#,
        r#"{"object":"error","message":"overloaded","code":400}"#,
        r#"{"error":{"message":"no","code":404}}"#,
        r#"{"error":null,"answers":{}}"#,
        r#"{"error":"","answers":{}}"#,
        r#"{"error":{"message":"","type":"","code":null},"answers":{}}"#,
        r#"{"answers":{},"errors":[]}"#,
        // beside answers this name means nothing
        r#"{"answers":{},"errors":[{"code":429}]}"#,
        r#"{"choices":[{"message":{"content":"\"error\": 429"}}]}"#,
        r#"{"choices":[],"base_resp":{"status_code":0,"status_msg":"success"}}"#,
        "\"error",
    ] {
        assert_eq!(found(body), None, "{body}");
    }
}
