//! Cases that the comparison with zod in [`zod`] does not cover.

mod zod;

use proptest::prelude::*;
use refract_domain::prism::PrismSelector;

use super::*;

const FORBIDDEN: &str = "must not contain NUL or unpaired surrogate characters";

fn read(prism: &str, query: &str, body: &str) -> Result<(CreateCall, Format), String> {
    let body = Json::parse(body.as_bytes()).unwrap();
    create(prism, query, body).map_err(|problems| problems.to_string())
}

fn refused(prism: &str, query: &str, body: &str) -> String {
    let message = read(prism, query, body).err().unwrap();
    message
        .strip_prefix("Invalid request: ")
        .unwrap()
        .to_owned()
}

fn call(body: &str) -> CreateCall {
    read("p", "", body).unwrap().0
}

#[test]
fn a_full_call_is_read() {
    let (call, format) = read(
        "support",
        "format=csv",
        r#"{"fields": {"b": " x ", "a": ""}, "context": " c ", "ref": " r ", "version": 2147483647,
            "idempotency_key": "\u2003k\n", "other": 1}"#,
    )
    .unwrap();
    assert_eq!(call.prism, PrismSelector::Slug("support".to_owned()));
    assert_eq!(format, Format::Csv);
    let fields = [
        ("b".to_owned(), " x ".to_owned()),
        ("a".to_owned(), String::new()),
    ];
    assert_eq!(call.fields.as_slice(), fields);
    assert_eq!(call.context.unwrap().as_str(), " c ");
    assert_eq!(call.reference.unwrap().as_str(), "r");
    assert_eq!(call.version.unwrap().get(), i32::MAX);
    assert_eq!(call.idempotency_key.unwrap().as_str(), "k");
}

#[test]
fn the_least_call_is_read() {
    let call = call(r#"{"text": ""}"#);
    assert_eq!(call.fields.as_slice(), [("text".to_owned(), String::new())]);
    assert!(call.context.is_none() && call.reference.is_none());
    assert!(call.version.is_none() && call.idempotency_key.is_none());
}

#[test]
fn a_blank_context_is_none_but_is_measured_first() {
    assert!(
        call(r#"{"text": "", "context": " \n\u00a0"}"#)
            .context
            .is_none()
    );
    let blank = " ".repeat(100_001);
    assert_eq!(
        refused("p", "", &format!(r#"{{"text": "", "context": "{blank}"}}"#)),
        "context: String must contain at most 100000 character(s)"
    );
}

#[test]
fn problems_come_in_the_order_path_format_body() {
    let body = r#"{"idempotency_key": 1, "version": 0.5, "ref": "", "context": null,
                   "fields": {"b": 1, "a": "\u0000"}}"#;
    assert_eq!(
        refused(&"p".repeat(65), "format=xml", body),
        format!(
            "prism: String must contain at most 64 character(s); \
             format: Expected 'json' | 'raw' | 'csv' | 'tsv' | 'jsonl'; \
             fields.b: Expected string, received number; \
             fields.a: {FORBIDDEN}; \
             context: Expected string, received null; \
             ref: String must contain at least 1 character(s); \
             version: Expected integer, received float; \
             version: Number must be greater than or equal to 1; \
             idempotency_key: Expected string, received number"
        )
    );
}

#[test]
fn a_body_that_is_no_object_is_listed_after_the_others() {
    assert_eq!(
        refused(&"p".repeat(65), "format=XML", "[]"),
        "prism: String must contain at most 64 character(s); \
         format: Expected 'json' | 'raw' | 'csv' | 'tsv' | 'jsonl'; \
         body: Expected object, received array"
    );
}

#[test]
fn a_number_beyond_all_doubles_is_over_the_maximum() {
    let message =
        |number: &str| refused("p", "", &format!(r#"{{"text": "", "version": {number}}}"#));
    assert_eq!(
        message("1e999"),
        "version: Number must be less than or equal to 2147483647"
    );
    assert_eq!(
        message("-1e999"),
        "version: Number must be greater than or equal to 1"
    );
}

#[test]
fn trimming_takes_unicode_white_space() {
    let label = call(r#"{"text": "", "ref": "\u0085\u2028 a b \u3000"}"#)
        .reference
        .unwrap();
    assert_eq!(label.as_str(), "a b");
}

#[test]
fn a_prism_is_decoded_once_and_measured() {
    let slug = |raw: &str| read(raw, "", r#"{"text": ""}"#).unwrap().0.prism;
    for (raw, decoded) in [
        ("support-triage", "support-triage"),
        ("a%20b", "a b"),
        ("a+b", "a+b"),
        ("a%2Fb%3f", "a/b?"),
        ("a%252Fb", "a%2Fb"),
        ("%C3%A4", "ä"),
        ("%", "%"),
        ("%zz", "%zz"),
    ] {
        assert_eq!(slug(raw), PrismSelector::Slug(decoded.to_owned()), "{raw}");
    }
    let longest = "%C3%A4".repeat(64);
    assert_eq!(slug(&longest), PrismSelector::Slug("ä".repeat(64)));
    let id = "0190B8F2-0000-7000-8000-0000000000aA";
    assert!(matches!(slug(id), PrismSelector::Id(_)));
    assert!(matches!(
        slug(&id.replace('-', "%2d")),
        PrismSelector::Id(_)
    ));
    assert!(matches!(slug(&id.replace('-', "")), PrismSelector::Slug(_)));
}

#[test]
fn a_prism_is_refused_like_a_string() {
    let too_long = "String must contain at most 64 character(s)";
    for (raw, message) in [
        ("%C3%A4".repeat(65), format!("prism: {too_long}")),
        ("a%00b".to_owned(), format!("prism: {FORBIDDEN}")),
        ("a%ffb".to_owned(), format!("prism: {FORBIDDEN}")),
        ("%ed%a0%80".to_owned(), format!("prism: {FORBIDDEN}")),
        ("%00%ff".to_owned(), format!("prism: {FORBIDDEN}")),
        (
            format!("%00{}", "a".repeat(64)),
            format!("prism: {too_long}; prism: {FORBIDDEN}"),
        ),
        (
            format!("%ff{}", "a".repeat(64)),
            format!("prism: {too_long}; prism: {FORBIDDEN}"),
        ),
    ] {
        assert_eq!(refused(&raw, "", r#"{"text": ""}"#), message, "{raw}");
    }
}

fn format_of(query: &str) -> Option<Format> {
    let id = "0190b8f2-0000-7000-8000-0000000000aa";
    match of_result(id, query) {
        Ok((_, format)) => Some(format),
        Err(problems) => {
            assert_eq!(
                problems.to_string(),
                "Invalid request: format: Expected 'json' | 'raw' | 'csv' | 'tsv' | 'jsonl'"
            );
            None
        }
    }
}

#[test]
fn a_format_is_read_from_the_query() {
    for (query, format) in [
        ("", Format::Json),
        ("format", Format::Json),
        ("format=", Format::Json),
        ("format=&format", Format::Json),
        ("x=csv&Format=csv&formats=csv", Format::Json),
        ("format=json", Format::Json),
        ("format=raw", Format::Raw),
        ("x=1&format=csv&y", Format::Csv),
        ("format=tsv&format=tsv", Format::Tsv),
        ("%66orma%74=%6asonl", Format::Jsonl),
        ("&&format=csv&", Format::Csv),
    ] {
        assert_eq!(format_of(query), Some(format), "{query}");
    }
}

#[test]
fn another_format_is_unknown() {
    for query in [
        "format=xml",
        "format=JSON",
        "format=+csv",
        "format=csv%20",
        "format=%00",
        "format=%ff",
        "format=csv=",
        "format=csv&format=tsv",
        "format=json&format=",
        "format=&format=csv",
        "format=csv&format=csv&format=CSV",
    ] {
        assert_eq!(format_of(query), None, "{query}");
    }
}

#[test]
fn a_result_id_has_one_shape_in_any_case() {
    for id in [
        "0190b8f2-0000-7000-8000-0000000000aa",
        "0190B8F2%2d0000-7000-8000-0000000000AA",
    ] {
        let (read, _) = of_result(id, "").unwrap();
        assert_eq!(read.to_string(), "0190b8f2-0000-7000-8000-0000000000aa");
    }
    for id in [
        "x",
        "0190b8f2000070008000000000000aaa",
        "%7B0190b8f2-0000-7000-8000-0000000000aa%7D",
        "urn:uuid:0190b8f2-0000-7000-8000-0000000000aa",
        "0190b8f2-0000-7000-8000-0000000000a%00",
        "0190b8f2-0000-7000-8000-0000000000aa%20",
    ] {
        let message = of_result(id, "").err().unwrap().to_string();
        assert_eq!(message, "Invalid request: result_id: Invalid uuid", "{id}");
    }
}

#[test]
fn a_result_id_and_a_format_are_refused_together() {
    assert_eq!(
        of_result("x", "format=x").err().unwrap().to_string(),
        "Invalid request: result_id: Invalid uuid; \
         format: Expected 'json' | 'raw' | 'csv' | 'tsv' | 'jsonl'"
    );
}

proptest! {
    #[test]
    fn any_text_that_fits_is_passed_on_as_sent(text in "[^\0]{0,200}", key in "[^\0]{0,40}") {
        let body = serde_json::json!({ "fields": { key.clone(): text.clone() } }).to_string();
        let call = call(&body);
        prop_assert_eq!(call.fields.as_slice(), [(key, text)]);
    }

    #[test]
    fn a_version_is_read_by_value(number in any::<f64>(), whole in any::<i64>()) {
        for number in [number, f64::from(i32::try_from(whole % 3_000_000_000).unwrap_or(7))] {
            prop_assume!(number.is_finite());
            let body = format!(r#"{{"text": "", "version": {number:e}}}"#);
            let is_version = number.fract() == 0.0 && (1.0..=2_147_483_647.0).contains(&number);
            match read("p", "", &body) {
                Ok((call, _)) => {
                    prop_assert!(is_version);
                    prop_assert_eq!(call.version.unwrap().to_string(), number.to_string());
                }
                Err(_) => prop_assert!(!is_version),
            }
        }
    }

    #[test]
    fn a_refusal_never_repeats_a_value(secret in "[a-z]{12}", number in 1_000_000_000_u64..) {
        let body = serde_json::json!({
            "fields": { "a": [secret], "b": number, "c": format!("{secret}\0") },
            "context": { "x": secret }, "ref": format!("{secret}\0"), "version": -0.5,
            "idempotency_key": secret.repeat(20),
        });
        let message = refused(&format!("{secret}%00"), &format!("format={secret}"), &body.to_string());
        prop_assert!(!message.contains(&secret));
        prop_assert!(!message.contains(&number.to_string()));
    }

    #[test]
    fn any_bytes_in_a_path_or_query_are_read_without_a_panic(raw in "[ -~]{0,80}") {
        let _ = read(&raw, &raw, r#"{"text": ""}"#);
        let _ = of_result(&raw, &raw);
    }
}
