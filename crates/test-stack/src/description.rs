//! Compares every answer that these tests receive with the API's description,
//! `docs/openapi.json`.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::http::answer::HttpAnswer;

static DESCRIPTION: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../docs/openapi.json")).expect("the description")
});

/// Compiled schemas, by response and part of the response.
static VALIDATORS: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);

/// Fails the test when an answer of a described route does not match the description.
#[track_caller]
pub fn hold(method: &str, target: &str, answer: &HttpAnswer) {
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
fn assert_valid(place: &str, part: &str, schema: &Value, value: &Value, answer: &HttpAnswer) {
    let place = format!("{place} {part}");
    let validator = {
        let mut validators = VALIDATORS.lock().unwrap();
        let compiled = validators
            .entry(place.clone())
            .or_insert_with(|| Arc::new(compile(schema)));
        Arc::clone(compiled)
    };
    let violations: Vec<String> = validator
        .iter_errors(value)
        .map(|violation| format!("{} at {}", violation, violation.instance_path()))
        .collect();
    assert!(violations.is_empty(), "{place}: {violations:?}: {answer:?}");
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

#[cfg(test)]
mod tests;
