//! The rules of the prism file.

mod any_file;
mod limits;
mod outcome_keys;
mod over_versions;

use refract_domain::prism::QuestionKind;
use serde_json::{Value, json};

use super::*;

fn minimal() -> Value {
    json!({
        "name": "Triage",
        "fields": [{ "key": "text", "label": "Message" }],
        "questions": [{ "key": "angry", "type": "yes_no", "text": "Angry?" }],
    })
}

#[expect(clippy::needless_pass_by_value, reason = "a literal at every call")]
fn choice(key: &str, options: Value) -> Value {
    json!({ "key": key, "type": "choice", "text": "Which?", "options": options })
}

#[expect(clippy::needless_pass_by_value, reason = "a literal at every call")]
fn scale(key: &str, levels: Value) -> Value {
    json!({ "key": key, "type": "scale", "text": "How much?", "levels": levels })
}

fn labels(count: usize) -> Value {
    (0..count)
        .map(|n| json!({ "label": format!("L{n}") }))
        .collect()
}

fn read(file: &Value) -> Result<PrismFile, String> {
    read_after(file, None)
}

fn read_after(file: &Value, earlier: Option<&EarlierVersions>) -> Result<PrismFile, String> {
    PrismFile::read(&serde_json::to_vec(file).unwrap(), earlier).map_err(|p| p.to_string())
}

fn with(path: &str, value: Value) -> Value {
    let mut file = minimal();
    *file.pointer_mut(path).unwrap() = value;
    file
}

#[test]
fn a_comment_may_stand_in_every_object_and_is_ignored() {
    let comment = json!(["any", { "value": 1 }]);
    let mut file = with_questions(json!([
        choice(
            "topic",
            json!([
                { "label": "A", "$comment": "x" },
                { "label": "B", "$comment": null },
            ])
        ),
        scale("urgency", labels(2)),
    ]));
    let plain = {
        let mut plain = file.clone();
        for option in plain["questions"][0]["options"].as_array_mut().unwrap() {
            option.as_object_mut().unwrap().remove("$comment");
        }
        read(&plain).unwrap()
    };
    for pointer in ["", "/fields/0", "/questions/0", "/questions/1/levels/0"] {
        let object = file.pointer_mut(pointer).unwrap().as_object_mut().unwrap();
        object.insert("$comment".to_owned(), comment.clone());
    }
    assert_eq!(read(&file).unwrap(), plain);
    file["comment"] = comment;
    assert_eq!(
        refusal(&file),
        "file: Unrecognized key(s) in object: 'comment'"
    );
}

fn with_questions(questions: Value) -> Value {
    with("/questions", questions)
}

fn refusal(file: &Value) -> String {
    let words = read(file).unwrap_err();
    words.strip_prefix("Invalid request: ").unwrap().to_owned()
}

fn keys(version: &PrismVersion, question: usize) -> Vec<&str> {
    version.questions()[question]
        .own_outcomes()
        .iter()
        .map(|o| o.key.as_str())
        .collect()
}

#[test]
fn a_minimal_file_is_read() {
    let read = read(&minimal()).unwrap();
    assert_eq!(read.name.as_str(), "Triage");
    assert_eq!(read.version.fields().len(), 1);
    assert_eq!(read.version.context(), None);
    assert_eq!(read.version.questions()[0].kind, QuestionKind::YesNo);
}

#[test]
fn every_problem_of_a_file_is_named_at_once() {
    let file = json!({
        "name": " ",
        "fields": [{ "key": "Text", "label": 7 }, { "key": "ref", "label": "R", "extra": 1 }],
        "questions": [
            choice("a", json!([{ "label": "" }, { "label": "x", "key": "other" }, "y"])),
            { "key": "b", "type": "yesno", "text": "" },
            4,
        ],
        "colour": true,
    });
    assert_eq!(
        refusal(&file),
        "file: Unrecognized key(s) in object: 'colour'; \
         name: String must contain at least 1 character(s); \
         fields.0.key: must be a lowercase letter, then up to 63 lowercase letters, digits or underscores; \
         fields.0.label: Expected string, received number; \
         fields.1: Unrecognized key(s) in object: 'extra'; \
         fields.1.key: is a reserved key; \
         questions.0.options.0.label: String must contain at least 1 character(s); \
         questions.0.options.1.key: is the key of an outcome that every choice has: leave it out; \
         questions.0.options.2: Expected object, received string: write {\"label\": \"…\"}; \
         questions.1.type: Expected 'choice' | 'yes_no' | 'scale'; \
         questions.1.text: String must contain at least 1 character(s); \
         questions.2: Expected object, received number"
    );
}

#[test]
fn a_file_that_is_no_object_is_refused() {
    let malformed = PrismFile::read(b"{\n  \"name\": ", None)
        .unwrap_err()
        .to_string();
    assert_eq!(
        malformed,
        "Invalid request: file: not valid JSON: line 2, column 10"
    );
    assert_eq!(refusal(&json!([])), "file: Expected object, received array");
    assert_eq!(
        refusal(&json!({})),
        "name: Required; fields: Required; questions: Required"
    );
}

#[test]
fn a_huge_or_deep_file_is_refused_with_its_paths() {
    let huge = with("/name", json!("x".repeat(10_000_000)));
    assert_eq!(
        refusal(&huge),
        "name: String must contain at most 200 character(s)"
    );
    let many: Value = (0..200_000).map(|n| json!({ "key": n })).collect();
    assert_eq!(
        refusal(&with_questions(many)),
        "questions: Array must contain at most 100 element(s)"
    );
    let deep = format!(
        r#"{{"name": "x", "fields": {}{}, "questions": {{}}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    assert_eq!(
        PrismFile::read(deep.as_bytes(), None)
            .unwrap_err()
            .to_string(),
        "Invalid request: fields.0: Expected object, received array; \
         questions: Expected array, received object"
    );
}

#[test]
fn of_a_key_that_stands_twice_the_last_value_counts() {
    let twice = minimal()
        .to_string()
        .replacen('{', r#"{"name": 7, "context": "first","#, 1)
        .replacen(r#""fields""#, r#""context": "last", "fields""#, 1);
    let read = PrismFile::read(twice.as_bytes(), None).unwrap();
    assert_eq!(read.name.as_str(), "Triage");
    assert!(twice.matches("context").count() == 2);
}

#[test]
fn a_byte_order_mark_before_the_file_is_passed_over() {
    let file = format!("\u{feff}{}", minimal());
    assert!(PrismFile::read(file.as_bytes(), None).is_ok());
}

#[test]
fn names_and_labels_are_trimmed() {
    let file = read(&with("/name", json!(" \u{2003}Triage\n"))).unwrap();
    assert_eq!(file.name.as_str(), "Triage");
    let file = read(&with("/fields/0/label", json!("  Message "))).unwrap();
    assert_eq!(file.version.fields()[0].label, "Message");
}

#[test]
fn nul_and_unpaired_surrogates_are_refused_everywhere() {
    let places = ["name", "label", "text"];
    let template = r#"{"name":"@name","fields":[{"key":"text","label":"@label"}],
        "questions":[{"key":"q","type":"yes_no","text":"@text"}]}"#;
    for place in places {
        for escape in [r"a\u0000", r"a\ud800"] {
            let file = places.iter().fold(template.to_owned(), |file, other| {
                file.replace(
                    &format!("@{other}"),
                    if *other == place { escape } else { "x" },
                )
            });
            let words = PrismFile::read(file.as_bytes(), None)
                .unwrap_err()
                .to_string();
            let error = "must not contain NUL or unpaired surrogate characters";
            assert!(words.ends_with(error), "{place} {escape}: {words}");
        }
    }
}

#[test]
fn a_blank_context_instruction_or_description_is_left_out() {
    let mut file = with_questions(json!([choice(
        "q",
        json!([
            { "label": "a", "description": " " }, { "label": "b" }
        ])
    )]));
    file["context"] = json!(" \n");
    file["questions"][0]["instructions"] = json!("");
    let version = read(&file).unwrap().version;
    assert_eq!(version.context(), None);
    assert_eq!(version.questions()[0].instructions, None);
    assert_eq!(version.questions()[0].own_outcomes()[0].description, None);
}

#[test]
fn an_optional_key_of_null_is_a_wrong_type() {
    let mut file = minimal();
    file["context"] = Value::Null;
    assert_eq!(refusal(&file), "context: Expected string, received null");
}

#[test]
fn fields_and_questions_share_one_namespace() {
    let twice = json!([{ "key": "a", "label": "A" }, { "key": "a", "label": "B" }]);
    assert_eq!(
        refusal(&with("/fields", twice)),
        "fields.1.key: is used twice"
    );
    assert_eq!(
        refusal(&with("/questions/0/key", json!("text"))),
        "questions.0.key: is a field's key already"
    );
    let question = minimal()["questions"][0].clone();
    assert_eq!(
        refusal(&with_questions(json!([question, question]))),
        "questions.1.key: is used twice"
    );
}

#[test]
fn a_saved_version_reads_back_and_is_shown_as_a_file() {
    let mut file = with_questions(json!([
        choice("q", json!([{ "label": "A", "description": "d" }, { "label": "B" }])),
        scale("s", labels(3)),
        { "key": "y", "type": "yes_no", "text": "?", "instructions": "i" },
    ]));
    file["context"] = json!("c");
    let PrismFile { name, version } = read(&file).unwrap();
    let saved = serde_json::to_string(&version).unwrap();
    assert_eq!(
        serde_json::from_str::<PrismVersion>(&saved).unwrap(),
        version
    );
    let shown = serde_json::to_vec(&ShownPrism::new(name.as_str(), &version)).unwrap();
    assert_eq!(
        PrismFile::read(&shown, None).unwrap(),
        PrismFile { name, version }
    );
}
