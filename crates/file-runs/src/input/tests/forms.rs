//! The forms in which other programs write the same rows, each read or named.

use refract_test_support::workbook::workbook;

use super::*;

#[test]
fn quoted_cells_of_tsv_are_read_as_they_are_meant() {
    let pandas = b"ref\ttext\n1\t\"He said \"\"no\"\", twice\"\n2\t\"two\nlines\"\n";
    let (kind, read_rows) = read("a.tsv", pandas).unwrap();
    assert_eq!(kind.describe(), "TSV with quoted cells");
    assert_eq!(
        read_rows,
        [
            row(2, "He said \"no\", twice", Some("1")),
            row(3, "two\nlines", Some("2"))
        ]
    );
    let r = b"\"ref\"\t\"text\"\n\"1\"\t\"x\"\n";
    assert_eq!(rows("a.tsv", r), [row(2, "x", Some("1"))]);
    let escaped = b"\"ref\"\t\"text\"\n\"1\"\t\"so \\\"x\\\"\"\n";
    assert!(error("a.tsv", escaped).contains("not with a backslash"));
    // results that pandas wrote anew, and as they are written: there a quote is an ordinary character
    let anew =
        b"result_id\tref\ttext\n1\tr\t\"\"\"quoted start\"\" then\"\n2\ts\t\"'=\"\"x\"\"\"\n";
    let (kind, read_rows) = read("a.tsv", anew).unwrap();
    assert_eq!(kind.describe(), "TSV with quoted cells");
    let expected = [
        row(2, "\"quoted start\" then", Some("r")),
        row(3, "=\"x\"", Some("s")),
    ];
    assert_eq!(read_rows, expected);
    let own = b"result_id\tref\ttext\n1\tr\t\"He said \"\"no\"\"\"\n2\ts\t\"He\" left\n";
    let expected = [
        row(2, "\"He said \"\"no\"\"\"", Some("r")),
        row(3, "\"He\" left", Some("s")),
    ];
    assert_eq!(rows("a.tsv", own), expected);
}

#[test]
fn a_line_that_names_the_separator_is_no_header() {
    for text in [
        "sep=;\r\nref;text\r\na;one, two\r\n",
        "\u{feff}\"sep=;\"\nref;text\na;one, two\n",
        "SEP=^\nref^text\na^one, two",
    ] {
        let expected = [row(3, "one, two", Some("a"))];
        assert_eq!(rows("a.csv", text.as_bytes()), expected, "{text:?}");
    }
    assert_eq!(
        rows("a.csv", b"ref|text\na|one, two\n"),
        [row(2, "one, two", Some("a"))]
    );
}

#[test]
fn empty_cells_at_the_end_of_a_line_need_no_name() {
    for text in [
        "ref,text,\n1,x\n2,y,\n",
        "ref,text\n1,x,\n2,y,,\n",
        "\u{feff}\u{feff}ref,text\n1,x\n2,y\n",
    ] {
        let expected = [row(2, "x", Some("1")), row(3, "y", Some("2"))];
        assert_eq!(rows("a.csv", text.as_bytes()), expected, "{text:?}");
    }
    assert_eq!(
        error("a.csv", b"ref,text,\n1,x,y\n2\n"),
        "line 3 has 1 cell, the header has 3"
    );
}

#[test]
fn a_title_above_the_header_is_named() {
    let title = "was taken for the header, and line 3 looks like it: remove the rows above";
    let error_of = |text: &str| error("a.csv", text.as_bytes());
    assert_eq!(
        error_of("Tickets of May\n\nref,text\n1,x\n"),
        format!("line 1 {title}")
    );
    assert_eq!(
        error_of("Tickets,\nof,May\nref,text\n"),
        format!("line 1 {title}")
    );
    assert!(error_of("a,b\n1,2\n").starts_with("it lacks the column text"));
}

#[test]
fn json_is_read_in_an_array_and_over_several_lines() {
    let expected = |lines: [u64; 2]| {
        [
            row(lines[0], "one", Some("a")),
            row(lines[1], "{[\"two", Some("b")),
        ]
    };
    let (one, two) = (
        r#"{"ref":"a","text":"one"}"#,
        r#"{"ref":"b","text":"{[\"two"}"#,
    );
    let pretty = |object: &str| object.replace('{', "{\n ").replace(",\"", ",\n \"");
    for (text, lines) in [
        (format!("[{one}, {two}]"), [1, 1]),
        (format!("\u{feff}[\r\n  {one},\r\n  {two}\r\n]\r\n"), [2, 3]),
        (format!("{one},\n{two},\n"), [1, 2]),
        (format!("{one} {two}"), [1, 1]),
        (format!("{one}\n{two}"), [1, 2]),
        (
            "[\n {\n  \"ref\": \"a\",\n  \"text\": \"one\"\n },\n {\n  \"ref\": \"b\",\n  \
             \"text\": \"{[\\\"two\"\n }\n]"
                .to_owned(),
            [2, 6],
        ),
    ] {
        for name in ["a.json", "a.jsonl", "a.csv", "a"] {
            assert_eq!(
                rows(name, text.as_bytes()),
                expected(lines),
                "{name} {text:?}"
            );
        }
    }
    let object = pretty(r#"{"ref":"a","text":"one"}"#);
    assert_eq!(
        rows("a.json", object.as_bytes()),
        [row(1, "one", Some("a"))]
    );
    for (text, words) in [
        ("[{\"text\":\"a\"},", "line 1 begins JSON that never ends"),
        ("[\n{\"text\":\n\"a", "line 2 begins JSON that never ends"),
        (
            "[{\"text\":\"a\"},\n  {\"text\":b}]",
            "line 2 is not valid JSON (column 11)",
        ),
        (
            "{\"text\":\"a\"}\n{\"text\":\"b\",\"n\":NaN}",
            "line 2 has NaN or Infinity",
        ),
        (
            "{\"count\": 1,\n \"tickets\":[{\"text\":\"a\"}]}",
            "its rows are in a list inside it, tickets: write that list as the whole file, for \
             example with jq '.tickets'",
        ),
    ] {
        let found = error("a.json", text.as_bytes());
        assert!(found.starts_with(words), "{text:?}: {found}");
    }
}

#[test]
fn markup_and_parquet_under_another_name_are_named() {
    for (bytes, words) in [
        (&b"<html><body>Sign in</body></html>"[..], "an HTML page"),
        (b"\xff\xfe<\0t\0a\0b\0l\0e\0", "an HTML page"),
        (b"PAR1\x15\0", "the Parquet file is damaged"),
    ] {
        assert!(error("a.csv", bytes).contains(words));
    }
}

#[test]
fn cells_of_a_workbook_that_nobody_wrote_are_counted() {
    let cell = |name: &str, text: &str| {
        format!(r#"<c r="{name}" t="inlineStr"><is><t>{text}</t></is></c>"#)
    };
    let sheet = format!(
        r#"<row r="1">{}{}</row>
        <row r="2"><c r="A2"><v>12345678901234567</v></c><c r="B2"><f>C2</f></c></row>
        <row r="3"><c r="A3"><v>1234567890123457</v></c><c r="B3" t="e"><v>#N/A</v></c></row>
        <row r="4"><c r="B4"><f>C4</f></c></row>
        <row r="5">{}{}<c r="C5" t="e"><v>#REF!</v></c></row>"#,
        cell("A1", "ref") + &cell("B1", "text"),
        cell("C1", "other"),
        cell("A5", "r"),
        cell("B5", "x"),
    );
    let (_folder, path) = file("a.xlsx", &workbook(&sheet, "<sst/>"));
    let input = InputFile::open(InputSource::Path(&path), &wanted()).unwrap();
    let mut rows = input.rows(&wanted()).unwrap();
    let mut read = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        read.push(row.values);
    }
    let texts = |text: &str, reference: &str| {
        [text, reference].map(|text| RawValue::Text {
            text: text.to_owned(),
            has_unpaired_surrogate: false,
        })
    };
    assert_eq!(
        read,
        [
            texts("", "12345678901234600"),
            texts("", "1234567890123457"),
            texts("", ""),
            texts("x", "r"),
        ]
    );
    let odd = OddCells {
        errors: 1,
        uncalculated: 2,
        inexact: 1,
        not_text: 0,
        hidden_rows: 0,
    };
    assert_eq!(rows.odd_cells(), odd);
    let columns = rows.columns();
    assert_eq!(rows.cells_of_last(&columns), ["r", "x", "#REF!"]);
}

#[test]
fn cells_beside_the_table_of_a_sheet_are_columns_without_a_name() {
    let inline = |place: &str, text: &str| {
        format!(r#"<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>"#)
    };
    let sheet = [
        inline("A1", "ref") + &inline("B1", "text"),
        inline("A2", "1") + &inline("B2", "x"),
        inline("A3", "2") + &inline("B3", "y") + &inline("D3", "a note"),
    ];
    let sheet = sheet.map(|cells| format!("<row>{cells}</row>")).concat();
    let bytes = workbook(&sheet, "<sst/>");
    let expected = [row(2, "x", Some("1")), row(3, "y", Some("2"))];
    assert_eq!(rows("a.xlsx", &bytes), expected);
    let stored = StoredInput::of_bytes("a.xlsx", bytes);
    let input = InputFile::open(InputSource::Stored(stored), &wanted()).unwrap();
    let mut read = input.rows(&wanted()).unwrap();
    while read.next().unwrap().is_some() {}
    assert_eq!(read.columns(), ["ref", "text", "", ""]);
    assert_eq!(read.unused_columns(), ["column_3", "column_4"]);
    assert_eq!(
        read.cells_of_last(&read.columns()),
        ["2", "y", "", "a note"]
    );
}

#[test]
fn an_empty_sheet_is_named_with_the_others() {
    let words = error("a.xlsx", &workbook("", "<sst/>"));
    assert!(
        words.starts_with("its sheet Sales & more is empty: name another one with --sheet: "),
        "{words}"
    );
}

#[test]
fn the_columns_of_json_lines_are_those_of_its_rows() {
    let bytes = b"{\"zeta\":1,\"text\":\"a\"}\n{\"text\":\"b\",\"ref\":null}";
    let stored = StoredInput::of_bytes("a.jsonl", bytes.to_vec());
    let input = InputFile::open(InputSource::Stored(stored), &wanted()).unwrap();
    let mut read = input.rows(&wanted()).unwrap();
    read.next().unwrap();
    assert_eq!(read.columns(), ["text", "zeta"]);
    read.next().unwrap();
    assert_eq!(read.columns(), ["text", "ref", "zeta"]);
}
