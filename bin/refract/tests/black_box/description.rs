//! Compares every answer that these tests receive with the API's description,
//! `docs/openapi.json`.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::http::Answer;

static DESCRIPTION: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../../docs/openapi.json")).expect("the description")
});

/// Compiled schemas, by response and part of the response.
static VALIDATORS: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);

/// Fails the test when an answer of a described route does not match the description.
#[track_caller]
pub(crate) fn hold(method: &str, target: &str, answer: &Answer) {
    // outside the API: interim answers (1xx), and actix's own answer to bytes that are not HTTP
    if answer.status < 200 || answer.header("x-request-id").is_none() {
        return;
    }
    let path = target.split('?').next().unwrap_or_default();
    let Some(operation) = operation(method, path) else {
        return;
    };
    let status = answer.status.to_string();
    let described = &DESCRIPTION["paths"][operation][method.to_lowercase()]["responses"][&status];
    let place = described["$ref"].as_str();
    let place = place.unwrap_or_else(|| panic!("not described: {method} {operation}: {answer:?}"));
    let response = resolve(place);
    for (name, header) in response["headers"].as_object().expect(place) {
        let header = resolve(header["$ref"].as_str().expect(place));
        let value = answer.header(name);
        let value = value.unwrap_or_else(|| panic!("no {name}: {answer:?}"));
        // a header is text, even if its schema describes a number
        let value = match header["schema"]["type"].as_str() {
            Some("integer") => value.parse::<u64>().map_or(json!(value), |it| json!(it)),
            _ => json!(value),
        };
        let schema = jsonschema::validator_for(&header["schema"]).unwrap();
        assert!(schema.is_valid(&value), "{name}: {answer:?}");
    }
    let content_type = answer.header("content-type").unwrap_or_default();
    // every body is declared as UTF-8; the description has media types without parameters
    let media_type = content_type.strip_suffix("; charset=utf-8");
    let media_type = media_type.unwrap_or_else(|| panic!("{content_type}: {place}: {answer:?}"));
    let content = &response["content"][media_type]["schema"];
    assert!(!content.is_null(), "{media_type}: {place}: {answer:?}");
    if media_type == "application/json" {
        assert_valid(place, media_type, content, &answer.value(), answer);
        if let Some(errors) = response.get("x-errors") {
            let exact = exact_errors(errors);
            assert_valid(place, "x-errors", &exact, &answer.value(), answer);
        }
        return;
    }
    assert_valid(place, media_type, content, &json!(answer.body), answer);
    let line = content["$ref"].as_str().map_or(content, resolve);
    if let Some(row) = line.get("contentSchema") {
        assert_valid(place, "contentSchema", row, &answer.value(), answer);
    }
}

/// The schema in `x-errors`: the codes of a response, each with its exact messages. Client
/// generators use the plain `ErrorBody` instead.
fn exact_errors(errors: &Value) -> Value {
    let errors = errors.as_array().expect("x-errors");
    let exact = errors.iter().map(|error| {
        let message = match error.get("message") {
            Some(message) => json!({"const": message}),
            None => json!({"pattern": error["message_pattern"].as_str().expect("x-errors")}),
        };
        let properties = json!({"code": {"const": error["code"]}, "message": message});
        json!({"properties": {"error": {"properties": properties}}})
    });
    json!({"anyOf": exact.collect::<Vec<Value>>()})
}

/// The path template of a request in the description; `None` if it has none.
fn operation(method: &str, path: &str) -> Option<&'static str> {
    let parts: Vec<&str> = path.strip_prefix("/v1/")?.split('/').collect();
    match (method, parts.as_slice()) {
        ("POST", ["prisms", prism, "results"]) if !prism.is_empty() => {
            Some("/prisms/{prism}/results")
        }
        ("GET", ["results", id]) if !id.is_empty() => Some("/results/{result_id}"),
        ("POST", ["results", id, "retry"]) if !id.is_empty() => Some("/results/{result_id}/retry"),
        _ => None,
    }
}

/// Fails the test when a value does not match a schema; `place` and `part` name the schema.
#[track_caller]
fn assert_valid(place: &str, part: &str, schema: &Value, value: &Value, answer: &Answer) {
    let place = format!("{place} {part}");
    let validator = {
        let mut validators = VALIDATORS.lock().unwrap();
        let compiled = validators
            .entry(place.clone())
            .or_insert_with(|| Arc::new(compile(schema)));
        Arc::clone(compiled)
    };
    let faults: Vec<String> = validator
        .iter_errors(value)
        .map(|fault| format!("{} at {}", fault, fault.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{place}: {faults:?}: {answer:?}");
}

fn compile(schema: &Value) -> Validator {
    let schema = json!({"allOf": [schema], "components": DESCRIPTION["components"]});
    jsonschema::draft202012::new(&schema).expect("a schema")
}

/// The value at a JSON pointer (`#/…`) of the description.
fn resolve(place: &str) -> &'static Value {
    let found = DESCRIPTION.pointer(place.trim_start_matches('#'));
    found.expect(place)
}

fn answered(content_type: &str, body: &str) -> Answer {
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncache-control: no-store\r\n\
         x-request-id: 1"
    );
    Answer::new(&head, body.to_owned())
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
    let mut faults = Vec::new();
    for part in ["schemas", "parameters", "headers"] {
        find_faults(&DESCRIPTION["components"][part], part, &mut faults);
    }
    assert!(faults.is_empty(), "{faults:#?}");

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

/// Lists the schemas of a JSON value that have a `const`, an `enum` or a `pattern` without a `type`,
/// and those whose only type is null.
fn find_faults(value: &Value, place: &str, faults: &mut Vec<String>) {
    if let Some(items) = value.as_array() {
        for (index, item) in items.iter().enumerate() {
            find_faults(item, &format!("{place}/{index}"), faults);
        }
    }
    let Some(members) = value.as_object() else {
        return;
    };
    let restricts = |key: &&str| members.contains_key(*key);
    let is_restricted = ["const", "enum", "pattern"].iter().any(restricts);
    // generators derive no type from `not`
    if is_restricted && !members.contains_key("type") && !place.ends_with("/not") {
        faults.push(format!("{place}: no type"));
    }
    if members.get("type") == Some(&json!("null")) {
        faults.push(format!("{place}: null alone"));
    }
    for (key, member) in members {
        find_faults(member, &format!("{place}/{key}"), faults);
    }
}
