//! Every rule of the prism file, at its edges.

use proptest::prelude::*;
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

fn read_after(file: &Value, past: Option<&Past>) -> Result<PrismFile, String> {
    PrismFile::read(&serde_json::to_vec(file).unwrap(), past).map_err(|p| p.to_string())
}

fn with(path: &str, value: Value) -> Value {
    let mut file = minimal();
    *file.pointer_mut(path).unwrap() = value;
    file
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
            choice("a", json!([{ "label": "" }, { "label": "x", "key": "other" }])),
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
         questions.0.options.1.key: is the key of a built-in outcome; \
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
fn counts_are_limited_at_their_exact_edges() {
    let fields = |count: usize| -> Value {
        (0..count)
            .map(|n| json!({ "key": format!("f{n}"), "label": "F" }))
            .collect()
    };
    let questions = |count: usize| -> Value {
        (0..count)
            .map(|n| json!({ "key": format!("q{n}"), "type": "yes_no", "text": "?" }))
            .collect()
    };
    assert!(read(&with("/fields", fields(8))).is_ok());
    assert_eq!(
        refusal(&with("/fields", fields(0))),
        "fields: Array must contain at least 1 element(s)"
    );
    assert_eq!(
        refusal(&with("/fields", fields(9))),
        "fields: Array must contain at most 8 element(s)"
    );
    assert!(read(&with_questions(questions(100))).is_ok());
    assert_eq!(
        refusal(&with_questions(questions(0))),
        "questions: Array must contain at least 1 element(s)"
    );
    assert_eq!(
        refusal(&with_questions(questions(101))),
        "questions: Array must contain at most 100 element(s)"
    );
    let options = |count| with_questions(json!([choice("q", labels(count))]));
    assert!(read(&options(2)).is_ok());
    assert!(read(&options(253)).is_ok());
    assert_eq!(
        refusal(&options(1)),
        "questions.0.options: Array must contain at least 2 element(s)"
    );
    assert_eq!(
        refusal(&options(254)),
        "questions.0.options: Array must contain at most 253 element(s)"
    );
    let levels = |count| with_questions(json!([scale("q", labels(count))]));
    assert!(read(&levels(2)).is_ok());
    assert!(read(&levels(10)).is_ok());
    assert_eq!(
        refusal(&levels(1)),
        "questions.0.levels: Array must contain at least 2 element(s)"
    );
    assert_eq!(
        refusal(&levels(11)),
        "questions.0.levels: Array must contain at most 10 element(s)"
    );
}

#[test]
fn lengths_count_characters_at_their_exact_edges() {
    for (path, most) in [
        ("/name", 200),
        ("/fields/0/label", 200),
        ("/questions/0/text", 8_000),
    ] {
        let longest = "😀".repeat(most);
        assert!(read(&with(path, json!(longest))).is_ok(), "{path}");
        let words = refusal(&with(path, json!(format!("{longest}x"))));
        assert!(
            words.ends_with(&format!("at most {most} character(s)")),
            "{words}"
        );
    }
    for key in ["instructions", "context"] {
        let mut file = minimal();
        let place = if key == "context" { "" } else { "/questions/0" };
        let object = file.pointer_mut(place).unwrap().as_object_mut().unwrap();
        object.insert(key.into(), json!("é".repeat(8_000)));
        assert!(read(&file).is_ok(), "{key}");
        let object = file.pointer_mut(place).unwrap().as_object_mut().unwrap();
        object.insert(key.into(), json!("é".repeat(8_001)));
        assert!(
            refusal(&file).ends_with("at most 8000 character(s)"),
            "{key}"
        );
    }
    let described = |length: usize| {
        with_questions(json!([choice(
            "q",
            json!([
                { "label": "a", "description": "d".repeat(length) }, { "label": "b" }
            ])
        )]))
    };
    assert!(read(&described(8_000)).is_ok());
    assert!(refusal(&described(8_001)).starts_with("questions.0.options.0.description: "));
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
            let fault = "must not contain NUL or unpaired surrogate characters";
            assert!(words.ends_with(fault), "{place} {escape}: {words}");
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
fn options_belong_to_choices_and_levels_to_scales() {
    let mut file = minimal();
    file["questions"][0]["options"] = labels(2);
    assert_eq!(
        refusal(&file),
        "questions.0: Unrecognized key(s) in object: 'options'"
    );
    let mut both = choice("q", labels(2));
    both["levels"] = labels(2);
    assert_eq!(
        refusal(&with_questions(json!([both]))),
        "questions.0: Unrecognized key(s) in object: 'levels'"
    );
    let mut bare = choice("q", labels(2));
    bare.as_object_mut().unwrap().remove("options");
    assert_eq!(
        refusal(&with_questions(json!([bare]))),
        "questions.0.options: Required"
    );
}

#[test]
fn option_keys_are_made_unique_and_never_a_built_in_one() {
    let options = json!([
        { "label": "Other" }, { "label": "Late!" }, { "label": "late" }, { "label": "x", "key": "late_2" },
        { "label": "Insufficient information" }, { "label": "日本" }, { "label": "日" }
    ]);
    let version = read(&with_questions(json!([choice("q", options.clone())])))
        .unwrap()
        .version;
    assert_eq!(
        keys(&version, 0),
        [
            "other_2",
            "late",
            "late_3",
            "late_2",
            "insufficient_information_2",
            "option",
            "option_2"
        ]
    );
    let version = read(&with_questions(json!([scale("q", options)])))
        .unwrap()
        .version;
    assert_eq!(keys(&version, 0)[..2], ["other", "late"]);
}

#[test]
fn a_key_that_is_given_twice_is_refused() {
    let options = json!([{ "label": "a", "key": "k" }, { "label": "b", "key": "k" }]);
    assert_eq!(
        refusal(&with_questions(json!([choice("q", options)]))),
        "questions.0.options.1.key: is used twice"
    );
}

#[test]
fn a_saved_definition_reads_back_and_is_shown_as_a_file() {
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

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        "[a-z_]{1,8}".prop_map(Value::from),
        Just(json!("choice")),
        Just(json!("scale")),
    ];
    let key = prop_oneof![
        Just("name".to_owned()),
        Just("fields".to_owned()),
        Just("questions".to_owned()),
        Just("key".to_owned()),
        Just("label".to_owned()),
        Just("type".to_owned()),
        Just("text".to_owned()),
        Just("options".to_owned()),
        Just("levels".to_owned()),
        "[a-z]{1,4}".prop_map(String::from),
    ];
    leaf.prop_recursive(6, 96, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::hash_map(key.clone(), inner, 0..8)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_is_sent_is_read_or_refused_with_paths(file in any_json()) {
        if let Err(words) = read(&file) {
            prop_assert!(words.starts_with("Invalid request: "), "{}", words);
        }
    }

    #[test]
    fn whatever_bytes_are_sent_end_in_words(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(PrismFile::read(&bytes, None).is_err());
    }
}

mod over_versions;
