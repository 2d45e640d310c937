//! Inputs that do not fit together are refused, and the error has no value of theirs.

use refract_lens_wasm::StoredResults;
use serde_json::{Value, json};

use crate::sample::{Sample, sample};
use crate::{read, result_of, versions_of};

#[test]
fn a_refused_result_is_named_by_its_position() {
    let sample = sample();
    let whole = result_of(&sample);
    let mut wrong: Value = serde_json::from_str(&whole).unwrap();
    wrong["answers"]["angry"]["probability"] = json!([{ "secret": "of a customer" }]);
    let list = format!("[{whole}, {wrong}]");
    let refused = StoredResults::read(&list, &versions_of(&sample));
    assert_eq!(
        refused.err().unwrap().to_string(),
        "result 1: answers.angry.probability: Expected number, received array"
    );
    let malformed = StoredResults::read("[{", &versions_of(&sample));
    assert!(
        malformed
            .err()
            .unwrap()
            .to_string()
            .contains("line 1, column 2")
    );
}

#[test]
fn versions_must_be_prism_files_by_number() {
    let refused = |versions: &str| {
        StoredResults::read("[]", versions)
            .err()
            .unwrap()
            .to_string()
    };
    assert!(refused("{}").starts_with("the versions are empty"));
    assert!(refused("[]").contains("an object of prism files by version number"));
    assert!(refused("{").starts_with("the versions: not valid JSON: line 1"));
    for key in ["one", "0", "-1", "2147483648"] {
        let words = refused(&format!(r#"{{"{key}": {{}}}}"#));
        assert_eq!(
            words,
            r#"the versions must be prism files by number, such as {"1": {…}}"#
        );
    }
    assert_eq!(
        refused(r#"{"3": {"fields": [], "questions": []}}"#),
        "version 3: name: Required; fields: Array must contain at least 1 element(s); \
         questions: Array must contain at least 1 element(s)"
    );
}

#[test]
fn a_format_must_fit_and_a_lens_must_be_valid() {
    let sample: Sample = sample();
    let stored = read(&sample).unwrap();
    let refused = |format: &str, lens| stored.render(format, lens).unwrap_err().to_string();
    assert_eq!(
        refused("xml", None),
        "the format must be one of json, raw, csv, tsv and jsonl"
    );
    let lens = r#"{"columns": [{"question": "happy", "output": "label"}]}"#;
    assert_eq!(
        refused("csv", Some(lens)),
        "the lens: columns.0.question: the prism's latest version has no such question, but topic, angry, urgency"
    );
    let two = [result_of(&sample), result_of(&sample)].join("\n");
    let two = StoredResults::read(&two, &versions_of(&sample)).unwrap();
    assert_eq!(
        two.render("json", None).unwrap_err().to_string(),
        "json shows one result, and there are 2: use csv, tsv or jsonl"
    );
}
