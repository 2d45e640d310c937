//! The limits of a prism file: numbers of elements and lengths of texts.

use super::*;

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
