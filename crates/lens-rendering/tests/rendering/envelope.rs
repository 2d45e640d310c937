//! The envelope of `json` and `raw` (spec 2.4, 2.6).

use refract_lens_rendering::Format;
use serde_json::json;

use crate::sample::sample;

#[test]
fn json_is_the_envelope_with_one_entry_a_lens_column() {
    assert_eq!(
        sample().render(Format::Json),
        concat!(
            r#"{"id":"0190b8f2-0000-7000-8000-0000000000aa","ref":"order 7","#,
            r#""prism":"support-triage","version":3,"status":"ok","error":null,"#,
            r#""took_ms":412,"created_at":"2026-05-04T09:08:07.060Z","#,
            r#""answers":{"topic":"delivery","angry":"no","urgency":"today"}}"#
        )
    );
}

#[test]
fn raw_is_the_envelope_with_the_stored_answers() {
    assert_eq!(
        sample().render(Format::Raw),
        concat!(
            r#"{"id":"0190b8f2-0000-7000-8000-0000000000aa","ref":"order 7","#,
            r#""prism":"support-triage","version":3,"status":"ok","error":null,"#,
            r#""took_ms":412,"created_at":"2026-05-04T09:08:07.060Z","answers":{"#,
            r#""topic":{"type":"choice","value":"delivery","probabilities":"#,
            r#"{"billing":0.3,"delivery":0.62,"other":0.000001,"#,
            r#""insufficient_information":0.079999},"confidence":0.9},"#,
            r#""angry":{"type":"yes_no","probability":0.45},"#,
            r#""urgency":{"type":"scale","level":"today","probabilities":"#,
            r#"{"can_wait":0.25,"this_week":0.25,"today":0.5}}}}"#
        )
    );
}

#[test]
fn a_failed_result_has_null_answers_and_the_error_in_json_and_raw() {
    let failed = sample().failed("The model \"timed\" out.\n");
    let body = concat!(
        r#"{"id":"0190b8f2-0000-7000-8000-0000000000aa","ref":"order 7","#,
        r#""prism":"support-triage","version":3,"status":"failed","#,
        r#""error":"The model \"timed\" out.\n","took_ms":412,"#,
        r#""created_at":"2026-05-04T09:08:07.060Z","answers":null}"#
    );
    assert_eq!(failed.render(Format::Json), body);
    assert_eq!(failed.render(Format::Raw), body);
}

#[test]
fn a_call_without_a_ref_has_a_null_ref() {
    let mut result = sample();
    result.reference = None;
    for format in [Format::Json, Format::Raw] {
        assert!(result.render(format).contains(r#","ref":null,"prism""#));
    }
}

#[test]
fn raw_is_the_same_under_every_lens() {
    let columns = json!([
        { "name": "p", "question": "angry", "type": "yes_no", "output": "probability" },
    ]);
    let under_another_lens = sample().with_columns(columns);
    assert_eq!(
        under_another_lens.render(Format::Raw),
        sample().render(Format::Raw)
    );
    assert_ne!(
        under_another_lens.render(Format::Json),
        sample().render(Format::Json)
    );
}

#[test]
fn raw_has_a_null_value_where_the_model_named_no_option_of_the_prism() {
    let result = sample().with_answer(
        "topic",
        json!({ "type": "choice", "value": null, "confidence": 0, "probabilities": { "billing": 0 } }),
    );
    let body = result.render(Format::Raw);
    let answer =
        r#""topic":{"type":"choice","value":null,"probabilities":{"billing":0},"confidence":0}"#;
    assert!(body.contains(answer), "{body}");
}

#[test]
fn entries_stand_in_the_order_of_the_lens() {
    let columns = json!([
        { "name": "zeta", "question": "urgency", "type": "scale", "output": "number" },
        { "name": "alpha", "question": "topic", "type": "choice", "output": "top" },
        { "name": "mid", "question": "urgency", "type": "scale", "output": "level" },
    ]);
    let body = sample().with_columns(columns).render(Format::Json);
    assert!(
        body.ends_with(r#""answers":{"zeta":3,"alpha":"delivery","mid":"today"}}"#),
        "{body}"
    );
}

#[test]
fn moments_have_exactly_three_decimals() {
    for (moment, written) in [
        ("2026-12-31T23:59:59Z", "2026-12-31T23:59:59.000Z"),
        ("2026-01-01T00:00:00.5Z", "2026-01-01T00:00:00.500Z"),
        ("2026-01-01T00:00:00.001999Z", "2026-01-01T00:00:00.001Z"),
        ("2026-01-01T01:00:00+02:00", "2025-12-31T23:00:00.000Z"),
    ] {
        let mut result = sample();
        result.created_at = moment;
        for format in [
            Format::Json,
            Format::Raw,
            Format::Csv,
            Format::Tsv,
            Format::Jsonl,
        ] {
            assert!(
                result.render(format).contains(written),
                "{moment} in {}",
                format.name()
            );
        }
    }
}
