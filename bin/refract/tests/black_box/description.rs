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

/// Compiled schemas, by their JSON pointer in the description.
static SCHEMAS: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);

/// Fails the test when an answer of a described route does not match the description.
#[track_caller]
pub(crate) fn hold(method: &str, target: &str, answer: &Answer) {
    // not of the API: interim answers (1xx), and actix's own answer to what is not HTTP
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
        let schema = jsonschema::validator_for(&header["schema"]).unwrap();
        assert!(schema.is_valid(&json!(value)), "{name}: {answer:?}");
    }
    let content_type = answer.header("content-type").unwrap_or_default();
    let content = &response["content"][content_type]["schema"];
    assert!(!content.is_null(), "{content_type}: {place}: {answer:?}");
    let schema_place = format!("{place}/content/{}/schema", escaped(content_type));
    if content_type.starts_with("application/json") {
        assert_valid(&schema_place, &answer.value(), answer);
        return;
    }
    assert_valid(&schema_place, &json!(answer.body), answer);
    let parts = content["allOf"].as_array().map_or(&[][..], Vec::as_slice);
    for (index, part) in parts.iter().enumerate() {
        if part.get("contentSchema").is_some() {
            let place = format!("{schema_place}/allOf/{index}/contentSchema");
            assert_valid(&place, &answer.value(), answer);
        }
    }
}

/// The path template of a request in the description; `None` where there is none.
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

#[track_caller]
fn assert_valid(place: &str, value: &Value, answer: &Answer) {
    let schema = {
        let mut schemas = SCHEMAS.lock().unwrap();
        let compiled = schemas
            .entry(place.to_owned())
            .or_insert_with(|| Arc::new(compile(place)));
        Arc::clone(compiled)
    };
    let faults: Vec<String> = schema
        .iter_errors(value)
        .map(|fault| format!("{} at {}", fault, fault.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{place}: {faults:?}: {answer:?}");
}

fn compile(place: &str) -> Validator {
    let schema = json!({"$ref": place, "components": DESCRIPTION["components"]});
    jsonschema::draft202012::new(&schema).expect(place)
}

/// The value at a JSON pointer (`#/…`) of the description.
fn resolve(place: &str) -> &'static Value {
    let found = DESCRIPTION.pointer(place.trim_start_matches('#'));
    found.expect(place)
}

/// A media type, escaped for a JSON pointer.
fn escaped(content_type: &str) -> String {
    content_type.replace('/', "~1").replace(' ', "%20")
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
#[should_panic(expected = "text/html")]
fn an_undescribed_type_is_found() {
    let answer = answered("text/html", "<p>");
    hold("POST", "/v1/results/x/retry", &answer);
}
