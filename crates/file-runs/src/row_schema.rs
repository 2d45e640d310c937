//! JSON Schemas of one row of a gold file and of a file of marks, as JSON Lines have it. They are made
//! for a version, whose keys and outcomes they name.
//!
//! A row that a schema accepts is accepted by the reader, unless it is over the limit of tokens. The
//! reader accepts more: white space around a name, and a number as `ref`.

use refract_domain::limits;
use refract_domain::prism::{PrismVersion, Question, QuestionType};
use refract_domain::result::mark;
use refract_lens_rendering::{adjudicated_column, person_column};
use serde_json::{Map, Value, json};

use crate::gold::EXPECTED;
use crate::input::{CONTEXT, REF};
use crate::marks_file::columns::{QuestionColumns, RESULT_ID};

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schema of a row of a gold file.
pub fn gold_row(version: &PrismVersion) -> Value {
    let fields = version.fields();
    let required: Vec<_> = fields.iter().map(|field| field.key.as_str()).collect();
    let mut properties = Map::new();
    for field in fields {
        let value = json!({
            "title": field.label,
            "type": "string",
            "maxLength": limits::FIELD_VALUE_CHARS,
        });
        properties.insert(field.key.to_string(), value);
    }
    properties.insert(REF.to_owned(), reference());
    let context = json!({ "type": ["string", "null"], "maxLength": limits::CALL_CONTEXT_CHARS });
    properties.insert(CONTEXT.to_owned(), context);
    for question in version.questions() {
        properties.insert(format!("{EXPECTED}{}", question.key), outcome(question));
    }
    json!({
        "$schema": DIALECT,
        "title": "A text with its correct answers",
        "type": "object",
        "required": required,
        "propertyNames": names(&properties),
        "properties": properties,
    })
}

/// The schema of a row of a file of marks.
pub fn marks_row(version: &PrismVersion) -> Value {
    let questions = version.questions();
    let keys: Vec<_> = questions
        .iter()
        .map(|question| question.key.clone())
        .collect();
    let mut properties = Map::new();
    let id = json!({
        "description": "The marked result.",
        "type": ["string", "null"],
        "pattern": "^([0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})?$",
    });
    properties.insert(RESULT_ID.to_owned(), id);
    properties.insert(REF.to_owned(), reference());
    let person = json!({
        "description": "Who marked: a person's name, address or id; nobody named is who imports.",
        "type": ["string", "null"],
        "maxLength": 200,
    });
    properties.insert(person_column(&keys).to_owned(), person);
    let adjudicated = json!({
        "description": "Whether the person settled a disagreement with these marks.",
        "enum": ["true", "false", "", true, false, null],
    });
    properties.insert(adjudicated_column(&keys).to_owned(), adjudicated);
    for question in questions {
        for name in QuestionColumns::new(&question.key, &keys)
            .names
            .into_iter()
            .flatten()
        {
            properties.insert(name, outcome(question));
        }
    }
    let text = json!({ "type": "string", "minLength": 1 });
    json!({
        "$schema": DIALECT,
        "title": "The marks of one result, or of every answered result with a ref",
        "type": "object",
        "anyOf": [
            { "required": [RESULT_ID], "properties": { RESULT_ID: text } },
            { "required": [REF], "properties": { REF: text } },
        ],
        "propertyNames": names(&properties),
        "properties": properties,
    })
}

fn reference() -> Value {
    json!({
        "description": "The caller's name for the text.",
        "type": ["string", "null"],
        "maxLength": limits::REF_CHARS.end(),
    })
}

/// An outcome by its key or label, yes and no also as a boolean; an empty one and null stand for none.
fn outcome(question: &Question) -> Value {
    let outcomes = mark::outcomes(question);
    let mut names: Vec<&str> = outcomes.clone().map(|outcome| outcome.key).collect();
    for outcome in outcomes {
        if !names.contains(&outcome.label) {
            names.push(outcome.label);
        }
    }
    let names = names.into_iter().map(Value::from);
    let none = [Value::from(""), Value::Null];
    let mut names: Vec<_> = names.chain(none).collect();
    if question.question_type() == QuestionType::YesNo {
        let spelled = |name: &'static str| {
            let lower = [name.to_owned(), name.to_ascii_uppercase()];
            let mut letters = name.chars();
            let first = letters.next().map(|first| first.to_ascii_uppercase());
            let title = first.into_iter().chain(letters).collect();
            lower.into_iter().chain([title])
        };
        let written = mark::YES_NAMES.into_iter().chain(mark::NO_NAMES);
        for name in written.flat_map(spelled).map(Value::from) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.extend([json!(true), json!(false), json!(1), json!(0)]);
    }
    json!({ "description": question.text, "enum": names })
}

/// Names of any kind, but no `expected_…` without its question.
fn names(properties: &Map<String, Value>) -> Value {
    let expected: Vec<_> = properties
        .keys()
        .filter(|name| name.starts_with(EXPECTED))
        .collect();
    json!({ "anyOf": [{ "not": { "pattern": format!("^{EXPECTED}") } }, { "enum": expected }] })
}
