//! Compares the problems of every body in the fixture with the messages of zod 3: see
//! `tests/zod/generate.mjs`.

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Case {
    /// JSON in which `<<a*3>>` is an abbreviation of `aaa`.
    body: String,
    /// The problems that zod found; `None` for a valid body.
    message: Option<String>,
}

fn expand(template: &str) -> String {
    let mut parts = template.split("<<");
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        let (repeated, rest) = part.split_once(">>").unwrap();
        let (unit, times) = repeated.split_once('*').unwrap();
        text.push_str(&unit.repeat(times.parse().unwrap()));
        text.push_str(rest);
    }
    text
}

#[test]
fn every_body_gets_zods_own_words() {
    let fixture = include_str!("../../../../tests/zod/fixture.json");
    let cases: Vec<Case> = serde_json::from_str(fixture).unwrap();
    assert!(cases.len() > 300, "{}", cases.len());
    for Case { body, message } in cases {
        assert_eq!(read("p", "", &expand(&body)).err(), message, "{body}");
    }
}

#[test]
fn templates_are_expanded() {
    assert_eq!(expand(r#"{"<<a*3>>": "x<<é*2>>y"}"#), r#"{"aaa": "xééy"}"#);
}
