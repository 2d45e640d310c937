use refract_domain::ids::ResultId;
use refract_domain::problem::ValidationError;
use refract_domain::result::HeldByAnotherPrism;
use refract_domain::submission::FieldMismatch;
use refract_domain::submission::budget::OverBudget;
use refract_http_serving::with_causes;
use refract_service::InternalError;

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

fn assert_sent(table: Vec<(ApiError, u16, &str, &str)>) {
    for (error, status, code, message) in table {
        assert_eq!(sent(error), (status, body(code, message)));
    }
}

#[test]
fn what_is_wrong_with_a_request_is_reported_as_in_section_7() {
    let refused = |refusal: CallError| ApiError::from(refusal);
    let missing = FieldMismatch::Missing(vec!["a".to_owned(), "b".to_owned()]);
    let unknown = FieldMismatch::Unknown(vec!["x".to_owned()]);
    let over = OverBudget { estimate: 26_001 };
    let too_large = "Request too large: about 26001 tokens of fields, context and the longest \
                     question, the limit is 26000";
    let float = Problems::one("version", ValidationError::NotAnInteger);
    let invalid = "Invalid request: version: Expected integer, received float";
    let malformed = "Malformed request";
    assert_sent(vec![
        (float.into(), 400, "validation_failed", invalid),
        (
            refused(missing.into()),
            400,
            "validation_failed",
            "Missing fields: a, b",
        ),
        (
            refused(unknown.into()),
            400,
            "validation_failed",
            "Unknown fields: x",
        ),
        (refused(over.into()), 400, "validation_failed", too_large),
        (
            ApiError::MalformedBody(BodyFault::Absent),
            400,
            "bad_request",
            malformed,
        ),
        (ApiError::BodyTooLarge, 413, "bad_request", malformed),
        (
            ApiError::UnsupportedMediaType(MediaFault::Type),
            415,
            "bad_request",
            malformed,
        ),
    ]);
}

#[test]
fn a_message_for_many_faults_has_a_hint_that_fits_a_header() {
    let not_json = ApiError::MalformedBody(BodyFault::NotJson(Malformed { line: 3, column: 7 }));
    for (error, words) in [
        (not_json, "line 3, column 7"),
        (ApiError::MalformedBody(BodyFault::Absent), "JSON object"),
        (ApiError::MalformedBody(BodyFault::Incomplete), "in time"),
        (ApiError::BodyTooLarge, "1048576 bytes"),
        (
            ApiError::UnsupportedMediaType(MediaFault::Type),
            "Content-Type",
        ),
        (
            ApiError::UnsupportedMediaType(MediaFault::Encoding),
            "Content-Encoding",
        ),
        (ApiError::NotAuthenticated, "Authorization: Bearer"),
    ] {
        let hint = error.reply().hint.unwrap();
        assert!(hint.contains(words), "{hint}");
        let is_header_text = |byte: u8| byte == b' ' || byte.is_ascii_graphic();
        assert!(hint.bytes().all(is_header_text), "{hint}");
    }
    let unknown = ApiError::from(CallError::InvalidApiKey);
    assert_eq!(unknown.reply().hint, None);
}

#[test]
fn who_may_not_and_what_is_not_there_is_reported_as_in_section_7() {
    let refused = |refusal: CallError| ApiError::from(refusal);
    let archived = "This prism is archived, so it cannot answer.";
    assert_sent(vec![
        (
            ApiError::NotAuthenticated,
            401,
            "unauthorized",
            "Authentication required",
        ),
        (
            refused(CallError::InvalidApiKey),
            401,
            "unauthorized",
            "Invalid API key",
        ),
        (
            refused(CallError::PrismNotFound),
            404,
            "not_found",
            "Prism not found",
        ),
        (
            refused(CallError::VersionNotFound),
            404,
            "not_found",
            "Prism version not found",
        ),
        (
            refused(CallError::ResultNotFound),
            404,
            "not_found",
            "Result not found",
        ),
        (
            refused(RetryError::PrismArchived.into()),
            404,
            "not_found",
            archived,
        ),
        (ApiError::RouteNotFound, 404, "not_found", "Route not found"),
    ]);
}

#[test]
fn conflicts_are_reported_as_in_section_7() {
    let refused = |refusal: CallError| ApiError::from(refusal);
    let id = ResultId::parse("0190b8f2-0000-7000-8000-0000000000aa").unwrap();
    let held = "This idempotency key was already used for another prism.";
    let not_failed = "Only a failed result can be retried.";
    let retried = "This result was already retried as 0190b8f2-0000-7000-8000-0000000000aa.";
    assert_sent(vec![
        (refused(HeldByAnotherPrism.into()), 409, "conflict", held),
        (
            refused(RetryError::NotFailed.into()),
            409,
            "conflict",
            not_failed,
        ),
        (
            refused(RetryError::AlreadyRetried(id).into()),
            409,
            "conflict",
            retried,
        ),
    ]);
}

#[test]
fn a_bug_is_reported_in_constant_words() {
    let missing = CallError::from(InternalError::VersionMissing);
    let words = "Internal server error";
    assert_sent(vec![
        (missing.into(), 500, "internal_error", words),
        (ApiError::Panicked(Panicked), 500, "internal_error", words),
        (
            io::Error::other("a secret").into(),
            500,
            "internal_error",
            words,
        ),
    ]);
}

#[test]
fn a_draining_server_has_a_body_of_its_own() {
    let expected =
        r#"{"error":"Service Unavailable","message":"Service Unavailable","statusCode":503}"#;
    assert_eq!(
        sent(ApiError::Draining(Draining)),
        (503, expected.to_owned())
    );
}

#[test]
fn a_message_is_escaped_as_json_wants_it() {
    let problems = Problems::one(
        "fields.a\"b\0\u{fffd}",
        ValidationError::ForbiddenCharacters,
    );
    let (_, body) = sent(problems);
    assert!(body.contains(r#"fields.a\"b\u0000"#), "{body}");
    assert!(serde_json::from_str::<serde_json::Value>(&body).is_ok());
}

#[test]
fn causes_are_listed_in_a_row() {
    let error = CallError::Internal(InternalError::LensKeepsMoving);
    assert_eq!(
        with_causes(&error),
        "the lens changed while it was read: try again"
    );
    let nested = ApiError::NotRendered(io::Error::other("disk"));
    assert_eq!(
        with_causes(&nested),
        "the result could not be rendered: disk"
    );
}
