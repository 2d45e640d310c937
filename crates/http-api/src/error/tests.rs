use refract_answering::InternalError;
use refract_domain::budget::OverBudget;
use refract_domain::ids::ResultId;
use refract_domain::problem::Fault;
use refract_domain::result::HeldByAnotherPrism;
use refract_domain::submission::FieldMismatch;

use super::*;

fn sent(error: impl Into<ApiError>) -> (u16, String) {
    let reply = error.into().reply();
    (
        reply.status.as_u16(),
        String::from_utf8(reply.body).unwrap(),
    )
}

fn body(code: &str, message: &str) -> String {
    format!(r#"{{"error":{{"code":"{code}","message":"{message}"}}}}"#)
}

#[test]
fn every_error_has_the_status_code_and_message_of_section_7() {
    let id = ResultId::parse("0190b8f2-0000-7000-8000-0000000000aa").unwrap();
    let too_large = "Request too large: about 26001 tokens of fields, context and the longest \
                     question, the limit is 26000";
    let missing = FieldMismatch::Missing(vec!["a".to_owned(), "b".to_owned()]);
    let unknown = FieldMismatch::Unknown(vec!["x".to_owned()]);
    let table: Vec<(ApiError, u16, &str, &str)> = vec![
        (
            Problems::one("version", Fault::NotAnInteger).into(),
            400,
            "validation_failed",
            "Invalid request: version: Expected integer, received float",
        ),
        (
            Refusal::from(missing).into(),
            400,
            "validation_failed",
            "Missing fields: a, b",
        ),
        (
            Refusal::from(unknown).into(),
            400,
            "validation_failed",
            "Unknown fields: x",
        ),
        (
            Refusal::from(OverBudget { estimate: 26_001 }).into(),
            400,
            "validation_failed",
            too_large,
        ),
        (
            ApiError::MalformedBody,
            400,
            "bad_request",
            "Malformed request",
        ),
        (
            ApiError::NotAuthenticated,
            401,
            "unauthorized",
            "Authentication required",
        ),
        (
            Refusal::InvalidApiKey.into(),
            401,
            "unauthorized",
            "Invalid API key",
        ),
        (
            Refusal::PrismNotFound.into(),
            404,
            "not_found",
            "Prism not found",
        ),
        (
            Refusal::VersionNotFound.into(),
            404,
            "not_found",
            "Prism version not found",
        ),
        (
            Refusal::ResultNotFound.into(),
            404,
            "not_found",
            "Result not found",
        ),
        (
            Refusal::from(RetryRefusal::PrismArchived).into(),
            404,
            "not_found",
            "This prism is archived, so it cannot answer.",
        ),
        (ApiError::RouteNotFound, 404, "not_found", "Route not found"),
        (
            Refusal::from(HeldByAnotherPrism).into(),
            409,
            "conflict",
            "This idempotency key was already used for another prism.",
        ),
        (
            Refusal::from(RetryRefusal::NotFailed).into(),
            409,
            "conflict",
            "Only a failed result can be retried.",
        ),
        (
            Refusal::from(RetryRefusal::AlreadyRetried(id)).into(),
            409,
            "conflict",
            "This result was already retried as 0190b8f2-0000-7000-8000-0000000000aa.",
        ),
        (
            ApiError::BodyTooLarge,
            413,
            "bad_request",
            "Malformed request",
        ),
        (
            ApiError::UnsupportedMediaType,
            415,
            "bad_request",
            "Malformed request",
        ),
        (
            Refusal::from(InternalError::VersionMissing).into(),
            500,
            "internal_error",
            "Internal server error",
        ),
        (
            ApiError::Panicked,
            500,
            "internal_error",
            "Internal server error",
        ),
        (
            io::Error::other("a secret").into(),
            500,
            "internal_error",
            "Internal server error",
        ),
    ];
    for (error, status, code, message) in table {
        assert_eq!(sent(error), (status, body(code, message)));
    }
}

#[test]
fn a_draining_server_has_a_body_of_its_own() {
    let expected =
        r#"{"error":"Service Unavailable","message":"Service Unavailable","statusCode":503}"#;
    assert_eq!(sent(ApiError::Draining), (503, expected.to_owned()));
}

#[test]
fn a_message_is_escaped_as_json_wants_it() {
    let problems = Problems::one("fields.a\"b\0\u{fffd}", Fault::ForbiddenCharacters);
    let (_, body) = sent(problems);
    assert!(body.contains(r#"fields.a\"b\u0000"#), "{body}");
    assert!(serde_json::from_str::<serde_json::Value>(&body).is_ok());
}

#[test]
fn causes_are_told_in_a_row() {
    let error = Refusal::Internal(InternalError::LensKeepsMoving);
    assert_eq!(with_causes(&error), "the lens did not hold still");
    let nested = ApiError::NotRendered(io::Error::other("disk"));
    assert_eq!(
        with_causes(&nested),
        "the result could not be written: disk"
    );
}
