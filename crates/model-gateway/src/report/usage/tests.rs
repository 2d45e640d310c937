use super::*;

fn read(usage: &str) -> ReportedUsage {
    let usage: Box<RawValue> = serde_json::from_str(usage).unwrap();
    ReportedUsage::read(None, Some(&usage))
}

#[test]
fn a_name_is_kept_as_far_as_it_can_be_shown_and_saved() {
    for (sent, kept) in [
        ("jev-1.13.0", Some("jev-1.13.0".to_owned())),
        ("a\0b\u{1b}[1m\n", Some("ab[1m".to_owned())),
        (&"ü".repeat(300), Some("ü".repeat(200))),
        ("", None),
        (" \0", None),
    ] {
        assert_eq!(kept_name(sent), kept, "{sent:?}");
    }
}

#[test]
fn tokens_from_the_cache_are_read_under_every_name() {
    for usage in [
        r#"{"cached_tokens":7}"#,
        r#"{"cached_input_tokens":7}"#,
        r#"{"total_cached_tokens":7}"#,
        r#"{"cache_read_input_tokens":7}"#,
        r#"{"input_tokens_details":{"cached_tokens":7}}"#,
        r#"{"prompt_tokens_details":{"audio_tokens":0,"cached_tokens":7}}"#,
        r#"{"input_tokens_details":null,"prompt_tokens_details":{"cached_tokens":7}}"#,
        r#"{"cached_tokens":"many","cached_input_tokens":7}"#,
    ] {
        assert_eq!(read(usage).cached_tokens, Some(7), "{usage}");
    }
    for usage in [
        "{}",
        r#"{"cached_tokens":-7}"#,
        r#"{"prompt_tokens_details":[7]}"#,
        r#"{"prompt_tokens_details":{}}"#,
    ] {
        assert_eq!(read(usage).cached_tokens, None, "{usage}");
    }
}

#[test]
fn a_count_that_no_request_can_have_is_none() {
    let of = |count: u64| read(&format!(r#"{{"input_tokens":{count}}}"#)).input_tokens;
    assert_eq!(of(999_999_999), Some(999_999_999));
    assert_eq!((of(1_000_000_000), of(u64::MAX)), (None, None));
}

#[test]
fn a_cost_is_read_exactly_from_a_number_or_a_text() {
    for (usage, cost) in [
        (r#"{"cost":0.00014}"#, Some("0.00014")),
        (r#"{"cost":1.2e-7}"#, Some("0.00000012")),
        (r#"{"cost":"0.5"}"#, Some("0.5")),
        (r#"{"cost":0}"#, Some("0")),
        (r#"{"cost":null}"#, None),
        (r#"{"cost":-1}"#, None),
        (r#"{"cost":{"total":1}}"#, None),
        (r#"{"cost":true}"#, None),
    ] {
        let read = read(usage).cost.map(|cost| cost.to_string());
        assert_eq!(read.as_deref(), cost, "{usage}");
    }
}

#[test]
fn what_the_cache_holds_counts_as_read() {
    for (usage, tokens) in [
        (
            r#"{"input_tokens":3,"cache_read_input_tokens":20,"cache_creation_input_tokens":100}"#,
            Some(123),
        ),
        (
            r#"{"prompt_tokens":30,"prompt_tokens_details":{"cached_tokens":20}}"#,
            Some(50),
        ),
        (r#"{"input_tokens":0}"#, None),
        ("{}", None),
    ] {
        assert_eq!(read(usage).read_tokens(), tokens, "{usage}");
    }
}
