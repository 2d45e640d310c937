//! Objects, strings and numbers at the edges of what JSON allows.

use super::*;

fn object(text: &str) -> Object<'_> {
    Json::parse(text.as_bytes()).unwrap().into_object().unwrap()
}

fn string(text: &str) -> JsonString {
    Json::parse(text.as_bytes()).unwrap().into_string().unwrap()
}

#[test]
fn keys_keep_their_order_and_the_last_value_counts() {
    let object = object(r#"{"b": 1, "a": 2, "b": "x"}"#);
    let read: Vec<_> = object
        .iter()
        .map(|(k, v)| (k.text.clone(), v.type_name()))
        .collect();
    assert_eq!(
        read,
        [("b".to_owned(), "string"), ("a".to_owned(), "number")]
    );
    assert_eq!(object.keys_besides(&["a"]), ["b"]);
}

#[test]
fn an_unpaired_surrogate_is_an_error_of_its_string_alone() {
    let lone = string(r#""a\ud800b\udc00c""#);
    assert_eq!(lone.text, "a\u{fffd}b\u{fffd}c");
    assert!(lone.has_unpaired_surrogate);
    let paired = string(r#""\ud83d\ude00\n""#);
    assert_eq!(
        (paired.text.as_str(), paired.has_unpaired_surrogate),
        ("\u{1f600}\n", false)
    );
    let two = string(r#""\ud800\ud800""#);
    assert_eq!(two.text, "\u{fffd}\u{fffd}");
    let key = object(r#"{"\udfff": [1]}"#);
    assert_eq!(key.keys_besides(&[]), ["\u{fffd}"]);
    assert!(!key.has("\u{fffd}"));
}

#[test]
fn numbers_count_by_value() {
    for (text, value) in [
        ("1e0", 1.0),
        ("1.50", 1.5),
        ("-0", -0.0),
        ("1e999", f64::INFINITY),
    ] {
        let number = Json::parse(text.as_bytes()).unwrap().into_number().unwrap();
        assert_eq!(number.to_bits(), value.to_bits(), "{text}");
    }
}

#[test]
fn an_ignored_value_may_be_deep() {
    let deep = format!(
        r#"{{"a": {}{}, "b": true}}"#,
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    assert!(matches!(object(&deep).get("b"), Some(Json::Bool(true))));
}

#[test]
fn anything_but_one_value_in_utf_8_is_malformed() {
    for bytes in [
        &b""[..],
        b"{",
        b"{} {}",
        b"nul",
        b"\"\xff\"",
        b"[1,]",
        b"{'a':1}",
        b"\"\\x\"",
        b"01",
        b"\"\\ud8\"",
        b"\"\n\"",
        b"\xef\xbb\xbf{}",
    ] {
        assert!(Json::parse(bytes).is_err(), "{bytes:?}");
    }
}
