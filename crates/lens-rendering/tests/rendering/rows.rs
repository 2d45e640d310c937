//! Header and row of csv, tsv and jsonl (spec 4.0).

use refract_lens_rendering::Format;
use serde_json::json;

use crate::sample::{Sample, read, sample};

fn with_text(text: &str) -> Sample {
    let mut result = sample();
    result.fields = read(json!({ "text": text }));
    result
}

/// The cells of the field `text`, in csv and in tsv.
fn text_cells(text: &str) -> (String, String) {
    let result = with_text(text);
    let csv = result.row(Format::Csv);
    let csv = csv
        .split_once("07.060Z,")
        .unwrap()
        .1
        .strip_suffix(",\"Delivery, late\",No,'=Today\r\n");
    let tsv = result.row(Format::Tsv);
    let tsv = tsv
        .split_once("07.060Z\t")
        .unwrap()
        .1
        .strip_suffix("\tDelivery, late\tNo\t'=Today\n");
    (csv.unwrap().to_owned(), tsv.unwrap().to_owned())
}

#[test]
fn csv_is_a_header_and_a_row_that_end_crlf() {
    assert_eq!(
        sample().render(Format::Csv),
        "result_id,ref,version,status,error,created_at,text,topic,angry,urgency\r\n\
         0190b8f2-0000-7000-8000-0000000000aa,order 7,3,ok,,2026-05-04T09:08:07.060Z,\
         Where is it?,\"Delivery, late\",No,'=Today\r\n"
    );
}

#[test]
fn tsv_is_a_header_and_a_row_that_end_lf() {
    assert_eq!(
        sample().render(Format::Tsv),
        "result_id\tref\tversion\tstatus\terror\tcreated_at\ttext\ttopic\tangry\turgency\n\
         0190b8f2-0000-7000-8000-0000000000aa\torder 7\t3\tok\t\t2026-05-04T09:08:07.060Z\t\
         Where is it?\tDelivery, late\tNo\t'=Today\n"
    );
}

#[test]
fn jsonl_is_the_row_as_one_object_with_keys_instead_of_labels() {
    assert_eq!(
        sample().render(Format::Jsonl),
        concat!(
            r#"{"result_id":"0190b8f2-0000-7000-8000-0000000000aa","ref":"order 7","#,
            r#""version":3,"status":"ok","error":null,"#,
            r#""created_at":"2026-05-04T09:08:07.060Z","text":"Where is it?","#,
            r#""topic":"delivery","angry":"no","urgency":"today"}"#,
            "\n"
        )
    );
}

#[test]
fn a_failed_result_has_its_error_and_empty_lens_cells() {
    let failed = sample().failed("The model timed out, twice.");
    assert_eq!(
        failed.row(Format::Csv),
        "0190b8f2-0000-7000-8000-0000000000aa,order 7,3,failed,\"The model timed out, twice.\",\
         2026-05-04T09:08:07.060Z,Where is it?,,,\r\n"
    );
    assert_eq!(
        failed.row(Format::Tsv),
        "0190b8f2-0000-7000-8000-0000000000aa\torder 7\t3\tfailed\tThe model timed out, twice.\t\
         2026-05-04T09:08:07.060Z\tWhere is it?\t\t\t\n"
    );
    assert_eq!(
        failed.row(Format::Jsonl),
        concat!(
            r#"{"result_id":"0190b8f2-0000-7000-8000-0000000000aa","ref":"order 7","#,
            r#""version":3,"status":"failed","error":"The model timed out, twice.","#,
            r#""created_at":"2026-05-04T09:08:07.060Z","text":"Where is it?","#,
            r#""topic":null,"angry":null,"urgency":null}"#,
            "\n"
        )
    );
    assert!(
        failed
            .render(Format::Csv)
            .starts_with("result_id,ref,version,")
    );
}

#[test]
fn a_call_without_a_ref_has_an_empty_cell_or_null() {
    let mut result = sample();
    result.reference = None;
    assert!(result.row(Format::Csv).contains("00aa,,3,ok,,2026"));
    assert!(result.row(Format::Tsv).contains("00aa\t\t3\tok\t\t2026"));
    assert!(
        result
            .row(Format::Jsonl)
            .contains(r#""ref":null,"version":3"#)
    );
}

#[test]
fn an_older_versions_result_has_the_latest_versions_field_columns() {
    let mut result = sample();
    result.version = read(json!({
        "fields": [{ "key": "subject", "label": "Subject" }, { "key": "text", "label": "Text" }],
        "questions": [{ "key": "q", "type": "yes_no", "text": "?" }],
    }));
    result.latest = read(json!({
        "fields": [{ "key": "text", "label": "Text" }, { "key": "language", "label": "Language" }],
        "questions": [{ "key": "q", "type": "yes_no", "text": "?" }],
    }));
    result.fields = read(json!({ "subject": "dropped since", "text": "kept" }));
    result.lens.clear();
    assert!(
        result
            .render(Format::Csv)
            .starts_with("result_id,ref,version,status,error,created_at,text,language\r\n")
    );
    assert!(result.row(Format::Csv).ends_with(".060Z,kept,\r\n"));
    assert!(result.row(Format::Tsv).ends_with(".060Z\tkept\t\n"));
    assert!(
        result
            .row(Format::Jsonl)
            .ends_with(".060Z\",\"text\":\"kept\",\"language\":\"\"}\n")
    );
}

#[test]
fn labels_are_those_of_the_version_that_answered() {
    let mut result = sample();
    result.latest = read(json!({
        "fields": [{ "key": "text", "label": "Message" }],
        "questions": [{ "key": "topic", "type": "choice", "text": "?", "options": [
            { "key": "billing", "label": "Money" }, { "key": "delivery", "label": "Parcels" },
        ] }],
    }));
    assert!(result.row(Format::Csv).contains("Delivery, late"));
    assert!(result.row(Format::Tsv).contains("Delivery, late"));
}

#[test]
fn a_csv_cell_is_quoted_only_for_a_comma_a_double_quote_or_a_line_break() {
    for (text, cell) in [
        ("", ""),
        ("a,b", "\"a,b\""),
        ("say \"hi\"", "\"say \"\"hi\"\"\""),
        ("\"", "\"\"\"\""),
        ("a\nb", "\"a\nb\""),
        ("a\rb", "\"a\rb\""),
        ("a\r\nb", "\"a\r\nb\""),
        (" spaces ", " spaces "),
        ("a;b|c#d'e", "a;b|c#d'e"),
        ("a\tb", "a\tb"),
        ("a\u{85}b\u{2028}c\u{b}d", "a\u{85}b\u{2028}c\u{b}d"),
        ("\u{feff}caf\u{e9} \u{1f600}", "\u{feff}caf\u{e9} \u{1f600}"),
    ] {
        assert_eq!(text_cells(text).0, cell, "{text:?}");
    }
}

#[test]
fn tabs_and_line_breaks_become_one_space_each_in_tsv() {
    for (text, cell) in [
        ("a\tb", "a b"),
        ("a\r\nb", "a b"),
        ("a\nb", "a b"),
        ("a\rb", "a b"),
        ("a\r\r\n\n\t\tb", "a     b"),
        ("a\n\rb", "a  b"),
        ("end\r\n", "end "),
        ("end\r", "end "),
        ("say \"hi\", now", "say \"hi\", now"),
        ("a\u{85}b\u{2028}c\u{b}d", "a\u{85}b\u{2028}c\u{b}d"),
    ] {
        assert_eq!(text_cells(text).1, cell, "{text:?}");
    }
}

#[test]
fn a_text_cell_like_a_formula_gets_a_single_quote_in_csv_and_tsv() {
    for (text, csv, tsv) in [
        ("=1+1", "'=1+1", "'=1+1"),
        ("+49 30", "'+49 30", "'+49 30"),
        ("-1", "'-1", "'-1"),
        ("@me", "'@me", "'@me"),
        ("=", "'=", "'="),
        ("\ta", "'\ta", "' a"),
        ("\ra", "\"'\ra\"", "' a"),
        ("\r\na", "\"'\r\na\"", "' a"),
        ("=\"a\",b", "\"'=\"\"a\"\",b\"", "'=\"a\",b"),
        // the guard checks the stored text, and a line feed does not begin a formula
        ("\n=1", "\"\n=1\"", " =1"),
        (" =1", " =1", " =1"),
        ("'=1", "'=1", "'=1"),
        ("1-1", "1-1", "1-1"),
    ] {
        assert_eq!(
            text_cells(text),
            (csv.to_owned(), tsv.to_owned()),
            "{text:?}"
        );
    }
}

#[test]
fn a_ref_and_an_error_are_text_even_when_they_look_like_numbers() {
    let mut result = sample().failed("-1");
    result.reference = Some("-7".to_owned());
    assert!(
        result
            .row(Format::Csv)
            .contains("00aa,'-7,3,failed,'-1,2026")
    );
    assert!(
        result
            .row(Format::Tsv)
            .contains("00aa\t'-7\t3\tfailed\t'-1\t2026")
    );
}

#[test]
fn jsonl_json_and_raw_carry_values_as_sent() {
    let text = "=1+1\t\r\n\"\\\u{1}\u{7f}\u{2028}\u{1f600}";
    let mut result = with_text(text);
    result.reference = Some(text.to_owned());
    let written = "\"=1+1\\t\\r\\n\\\"\\\\\\u0001\u{7f}\u{2028}\u{1f600}\"";
    assert!(
        result
            .row(Format::Jsonl)
            .contains(&format!("\"text\":{written},"))
    );
    for format in [Format::Json, Format::Raw, Format::Jsonl] {
        assert!(
            result
                .render(format)
                .contains(&format!("\"ref\":{written},"))
        );
    }
}

#[test]
fn jsonl_has_all_columns_as_objects() {
    let columns = json!([
        { "name": "every", "question": "urgency", "type": "scale", "output": "all" },
    ]);
    let row = sample().with_columns(columns).row(Format::Jsonl);
    let end = "\"every\":{\"can_wait\":0.25,\"this_week\":0.25,\"today\":0.5}}\n";
    assert!(row.ends_with(end), "{row}");
}
