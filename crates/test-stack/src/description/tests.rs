//! Tests that mismatching answers are found, and that the description suits generators of clients.

use serde_json::{Value, json};

use super::{DESCRIPTION, hold};
use crate::http::answer::HttpAnswer;

fn answered(content_type: &str, body: &str) -> HttpAnswer {
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncache-control: no-store\r\n\
         x-request-id: 1"
    );
    HttpAnswer::new(&head, body.to_owned())
}

#[test]
#[should_panic(expected = "#/components/responses/Answered")]
fn an_answer_that_is_no_result_is_found() {
    let answer = answered("application/json; charset=utf-8", r#"{"id":"x"}"#);
    hold("POST", "/v1/prisms/triage/results", &answer);
}

#[test]
#[should_panic(expected = "contentSchema")]
fn a_line_that_is_no_row_is_found() {
    let answer = answered("application/x-ndjson; charset=utf-8", "{\"id\":\"x\"}\n");
    hold("GET", "/v1/results/x?format=jsonl", &answer);
}

#[test]
#[should_panic(expected = "x-errors")]
fn an_error_with_another_message_is_found() {
    let body = r#"{"error":{"code":"not_found","message":"Not here"}}"#;
    let mut answer = answered("application/json; charset=utf-8", body);
    answer.status = 404;
    hold("GET", "/v1/results/x", &answer);
}

#[test]
#[should_panic(expected = "application/json")]
fn a_type_without_a_charset_is_found() {
    let answer = answered("application/json", "{}");
    hold("POST", "/v1/results/x/retry", &answer);
}

#[test]
#[should_panic(expected = "text/html")]
fn an_undescribed_type_is_found() {
    let answer = answered("text/html", "<p>");
    hold("POST", "/v1/results/x/retry", &answer);
}

/// What client generators need, tried by `make check-generators`: they guess the type if a schema
/// has none, stop at a bare null, and send the header of an optional body.
#[test]
fn client_generators_can_read_the_description() {
    let mut violations = Vec::new();
    for part in ["schemas", "parameters", "headers"] {
        find_violations(&DESCRIPTION["components"][part], part, &mut violations);
    }
    assert!(violations.is_empty(), "{violations:#?}");

    let retry = &DESCRIPTION["paths"]["/results/{result_id}/retry"]["post"];
    assert!(retry.get("requestBody").is_none());
    let one_of = |name: &str| {
        let named = DESCRIPTION["components"]["schemas"][name]["oneOf"].as_array();
        let named = named
            .unwrap()
            .iter()
            .map(|each| each["$ref"].as_str().unwrap());
        named.collect::<Vec<_>>()
    };
    let create = ["TextCall", "FieldsCall"].map(|name| format!("#/components/schemas/{name}"));
    assert_eq!(one_of("CreateCall"), create);
    // Python clients take the first schema that fits, and the answers of `raw` would fit both
    let ok = ["RawResult", "OkResult"].map(|name| format!("#/components/schemas/{name}"));
    assert_eq!(one_of("AnsweredResult"), ok);
    assert_eq!(one_of("Result")[..2], ok);

    let responses = DESCRIPTION["components"]["responses"].as_object();
    for (name, response) in responses.unwrap() {
        let contents = response["content"].as_object().unwrap();
        for (media_type, content) in contents {
            assert!(!media_type.contains(';'), "{name}: {media_type}");
            assert!(content["schema"]["$ref"].is_string(), "{name}");
        }
        if response.get("x-errors").is_some() {
            let error = "#/components/schemas/ErrorBody";
            assert_eq!(contents["application/json"]["schema"]["$ref"], error);
        }
    }
}

/// Lists the schemas of a JSON value that have a `const`, an `enum` or a `pattern` without a
/// `type`, and those whose only type is null.
fn find_violations(value: &Value, place: &str, violations: &mut Vec<String>) {
    if let Some(items) = value.as_array() {
        for (index, item) in items.iter().enumerate() {
            find_violations(item, &format!("{place}/{index}"), violations);
        }
    }
    let Some(members) = value.as_object() else {
        return;
    };
    let restricts = |key: &&str| members.contains_key(*key);
    let is_restricted = ["const", "enum", "pattern"].iter().any(restricts);
    // generators derive no type from `not`
    if is_restricted && !members.contains_key("type") && !place.ends_with("/not") {
        violations.push(format!("{place}: no type"));
    }
    if members.get("type") == Some(&json!("null")) {
        violations.push(format!("{place}: null alone"));
    }
    for (key, member) in members {
        find_violations(member, &format!("{place}/{key}"), violations);
    }
}
