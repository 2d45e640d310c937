mod forms;
mod properties;
mod round_trips;

use std::path::PathBuf;

use tempfile::TempDir;

use super::*;

fn wanted() -> WantedColumns {
    let column = |name: &str, is_required| WantedColumn {
        name: name.to_owned(),
        is_required,
    };
    WantedColumns(vec![column("text", true), column("ref", false)])
}

fn file(name: &str, bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

/// Line, text and ref of each row; `None` if the row has no text or ref.
type Read = Vec<(u64, Option<String>, Option<String>)>;

fn read(name: &str, bytes: &[u8]) -> Result<(InputKind, Read), String> {
    let (_folder, path) = file(name, bytes);
    let message = |error: InputError| error.to_string();
    let input = InputFile::open(InputSource::Path(&path), &wanted()).map_err(message)?;
    let mut rows = input.rows(&wanted()).map_err(message)?;
    let mut read = Vec::new();
    while let Some(row) = rows.next().map_err(message)? {
        let mut texts = row.values.into_iter().map(|value| match value {
            RawValue::Text { text, .. } => Some(text),
            RawValue::Absent { .. } => None,
            RawValue::Scalar { text, type_name } => Some(format!("<{type_name} {text}>")),
            RawValue::NoText(name) => Some(format!("<{name}>")),
        });
        read.push((row.line, texts.next().unwrap(), texts.next().unwrap()));
    }
    Ok((input.kind(), read))
}

#[track_caller]
fn rows(name: &str, bytes: &[u8]) -> Read {
    read(name, bytes).unwrap().1
}

#[track_caller]
fn error(name: &str, bytes: &[u8]) -> String {
    read(name, bytes).unwrap_err()
}

fn row(line: u64, text: &str, reference: Option<&str>) -> (u64, Option<String>, Option<String>) {
    (line, Some(text.to_owned()), reference.map(str::to_owned))
}

#[test]
fn lines_are_counted_through_quoted_breaks_and_blank_lines_with_any_line_end() {
    let long = "x\n".repeat(100);
    let text = format!("text\none\n\n\"two\n\"\"2\"\"\n\"\n\"{long}\"\nlast");
    let expected = |end: &str| {
        let with = |text: &str| text.replace('\n', end);
        [
            row(2, "one", None),
            row(4, &with("two\n\"2\"\n"), None),
            row(7, &with(&long), None),
            row(108, "last", None),
        ]
    };
    for ending in ["\n", "\r\n"] {
        let text = text.replace('\n', ending);
        assert_eq!(
            rows("a.csv", text.as_bytes()),
            expected(ending),
            "{ending:?}"
        );
        let whole = format!("{text}{ending}");
        assert_eq!(
            rows("a.csv", whole.as_bytes()),
            expected(ending),
            "{ending:?}"
        );
    }
    let texts = |rows: Read| {
        rows.into_iter()
            .map(|row| row.1.unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(texts(rows("a.csv", b"text\rone\rtwo")), ["one", "two"]);
}

#[test]
fn the_separator_is_the_one_under_which_the_header_has_what_is_wanted() {
    let csv = |separator| InputKind::Csv { separator };
    for (name, bytes, kind) in [
        ("a.csv", "ref,text\n1,x", csv(b',')),
        ("a.csv", "ref;text\n1;x", csv(b';')),
        ("a.csv", "ref\ttext\n1\tx", csv(b'\t')),
        ("a", "ref\ttext\n1\tx", csv(b'\t')),
        // more commas than semicolons
        ("a.csv", "ref;text;\"a,b,c,d\"\n1;x;y", csv(b';')),
        ("a.csv", "text\nx", csv(b',')),
        (
            "a.tsv",
            "ref\ttext\n1\tx",
            InputKind::Tsv { is_quoted: false },
        ),
        (
            "a.TAB",
            "ref\ttext\n1\tx",
            InputKind::Tsv { is_quoted: false },
        ),
        (
            "a.jsonl",
            "{\"text\":\"x\",\"ref\":\"1\"}",
            InputKind::JsonLines,
        ),
        (
            "a.txt",
            "\n {\"text\":\"x\",\"ref\":\"1\"}",
            InputKind::JsonLines,
        ),
    ] {
        let (found, rows) = read(name, bytes.as_bytes()).unwrap();
        assert_eq!(found, kind, "{bytes}");
        assert_eq!(rows[0].1.as_deref(), Some("x"), "{bytes}");
    }
}

#[test]
fn a_mark_of_utf_8_is_no_part_of_the_first_name() {
    assert_eq!(rows("a.csv", b"\xef\xbb\xbftext\nx"), [row(2, "x", None)]);
    let json = b"\xef\xbb\xbf{\"text\":\"x\"}";
    assert_eq!(rows("a.jsonl", json), [row(1, "x", None)]);
}

#[test]
fn cells_are_taken_as_they_are_and_names_without_the_space_around_them() {
    let text = "\" ref \", text \n\" 1 \",\"=1+1, \"\"a\"\";\t\"\n,";
    assert_eq!(
        rows("a.csv", text.as_bytes()),
        [row(2, "=1+1, \"a\";\t", Some(" 1 ")), row(3, "", Some(""))]
    );
    let text = "text\tref\n\"a\" said \"b\t'\n";
    assert_eq!(
        rows("a.tsv", text.as_bytes()),
        [row(2, "\"a\" said \"b", Some("'"))]
    );
}

#[test]
fn a_broken_file_is_refused_with_the_line() {
    for (bytes, words) in [
        (
            &b"text,ref\na,b\nc\n"[..],
            "line 3 has 1 cell, the header has 2",
        ),
        (
            b"text,ref\r\na,b\r\nc,d,e",
            "line 3 has 3 cells, the header has 2",
        ),
        (
            b"ref, text\n1, \"a, b\"\n",
            "line 2 has 3 cells, the header has 2: a quote counts only where a cell begins, so remove \
             the space before it",
        ),
        (
            b"text\na\n\"b\nc\n",
            "line 3 opens a quote that is never closed: in a quoted cell, write a quote twice (\"\")",
        ),
        (
            b"text\r\na\r\n\"b\r\nc",
            "line 3 opens a quote that is never closed: in a quoted cell, write a quote twice (\"\")",
        ),
        (
            b"text\n\xc3\xa4\n\xff\n",
            "line 3 is not UTF-8: save the file as UTF-8",
        ),
        (
            b"text,other\n\xc3\xa4,\xc3\n",
            "line 2 is not UTF-8: save the file as UTF-8",
        ),
        (
            b"text,other\na,\x8d\n",
            "line 2 is not UTF-8: save the file as UTF-8",
        ),
        (
            b"\xff\xfet\0e\0x\0t\0\n\0a\0\n\0\x3d\xd8\n\0",
            "line 3 is not UTF-16: save the file as UTF-8",
        ),
        (
            b"t\0e\0x\0t\0\n\0a\0\n\0b",
            "line 3 is not UTF-16: save the file as UTF-8",
        ),
        (
            b"\xff\xfe\0\0t\0\0\0e\0\0\0x\0\0\0t\0\0\0\n\0\0\0a\0\0\0",
            "it is not UTF-8 but UTF-32: save it as UTF-8",
        ),
        (
            b"\x1f\x8b\x08\0\0\0\0\0",
            "it is compressed with gzip: unpack it first",
        ),
        (b"", "it is empty"),
        (b"\xef\xbb\xbf\n\r\n", "it is empty"),
        (
            b"text,ref,text\n",
            "it has two columns that are called text",
        ),
        (
            b"text,text (2),text\n",
            "it has two columns that are called text",
        ),
        (
            b"text,text (1),text\n",
            "it has two columns that are called text",
        ),
        (b"body,ref\n", "it lacks the column text: it has body, ref"),
    ] {
        assert_eq!(error("a.csv", bytes), words);
    }
}

#[test]
fn an_empty_array_has_no_rows_whatever_the_name() {
    for name in ["a.json", "a.csv", "-"] {
        assert!(rows(name, b"[ ]\n").is_empty(), "{name}");
    }
}

#[test]
fn json_that_is_none_is_refused_with_the_line() {
    for (bytes, words) in [
        (
            &b"{\"text\":\"a\"}\n\n{\"text\":\n"[..],
            "line 3 is not valid JSON (column 8)",
        ),
        (b"[1]", "line 1: Expected object, received number"),
        (b"{\"a\":1}\n[1]", "line 2: Expected object, received array"),
        (b"{}\n\"x\"\n", "line 2: Expected object, received string"),
        (
            b"{}\n{\"a\":\"\x81\"}\n",
            "line 2 is not UTF-8: save the file as UTF-8",
        ),
    ] {
        assert_eq!(error("a.jsonl", bytes), words);
    }
}

#[test]
fn json_keeps_what_is_no_text_apart() {
    let text = b"{\"text\":5.0,\"ref\":null}\n{\"ref\":\"r\"}\n{\"text\":\"\",\"more\":{}}\n\
        {\"text\":[1],\"ref\":true}";
    assert_eq!(
        rows("a.ndjson", text),
        [
            (1, Some("<number 5.0>".to_owned()), None),
            (2, None, Some("r".to_owned())),
            row(3, "", None),
            row(4, "<array>", Some("<boolean true>")),
        ]
    );
}

#[test]
fn a_stream_is_read_as_often_as_a_file() {
    let bytes = b"text,ref\nx,1\ny,2\n";
    let mut stream = &bytes[..];
    let source = InputSource::Stream(Box::new(&mut stream));
    let input = InputFile::open(source, &wanted()).unwrap();
    for _ in 0..2 {
        let mut rows = input.rows(&wanted()).unwrap();
        let mut lines = 0;
        while rows.next().unwrap().is_some() {
            lines += 1;
        }
        assert_eq!(lines, 2);
    }
    input.check_unchanged(3).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let error = InputFile::open(InputSource::Path(folder.path()), &wanted());
    let error = error.err().unwrap().to_string();
    assert_eq!(error, "it is a folder: name a file in it");
}

#[test]
fn the_cells_of_a_row_are_those_of_all_its_columns() {
    for (name, bytes, expected) in [
        (
            "a.csv",
            "note, ref ,text\n=1,\"a\nb\",x\n",
            [("note", "=1"), ("ref", "a\nb"), ("text", "x")],
        ),
        (
            "a.jsonl",
            "{\"text\":\"x\",\"note\":{\"a\": 1},\"ref\":2.50}",
            [("text", "x"), ("ref", "2.50"), ("note", "{\"a\": 1}")],
        ),
    ] {
        let (_folder, path) = file(name, bytes.as_bytes());
        let input = InputFile::open(InputSource::Path(&path), &wanted()).unwrap();
        let mut rows = input.rows(&wanted()).unwrap();
        rows.next().unwrap().unwrap();
        let columns = rows.columns();
        let cells = rows.cells_of_last(&columns);
        let pairs = columns.iter().zip(&cells);
        let pairs: Vec<_> = pairs
            .map(|(name, cell)| (name.as_str(), cell.as_str()))
            .collect();
        assert_eq!(pairs, expected);
    }
}

#[test]
fn a_quote_that_swallows_the_file_is_found_before_memory_is_full() {
    let mut bytes = b"text\na\n\"".to_vec();
    bytes.resize(20 * 1024 * 1024, b'x');
    assert_eq!(
        error("a.csv", &bytes),
        "line 3 begins a row of over 16 MiB: a quote in it may never be closed"
    );
    bytes.splice(0..8, *b"{\"text\":");
    assert!(error("a.jsonl", &bytes).starts_with("line 1 begins a row of over 16 MiB"));
}

#[test]
fn a_file_that_is_written_to_is_found_changed() {
    use std::io::Write as _;

    let (_folder, path) = file("a.csv", b"text\na\n");
    let input = InputFile::open(InputSource::Path(&path), &wanted()).unwrap();
    input.check_unchanged(2).unwrap();
    let mut more = std::fs::File::options().append(true).open(&path).unwrap();
    more.write_all(b"b\n").unwrap();
    let error = input.check_unchanged(2).unwrap_err().to_string();
    assert_eq!(
        error,
        "it was changed while it was read, at line 2 or before"
    );
}
