//! Properties of all readers: no bytes end the process, and a table is the same table however a
//! spreadsheet writes it.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::super::input_outline::outline;
use super::super::*;

fn stored(name: &str, bytes: Vec<u8>) -> InputSource<'static> {
    InputSource::Stored(StoredInput::of_bytes(name, bytes))
}

fn wanted() -> WantedColumns {
    let column = |name: &str| WantedColumn {
        name: name.to_owned(),
        is_required: true,
    };
    WantedColumns(vec![column("text"), column("größe")])
}

/// The lines and cells of all rows.
fn read(name: &str, bytes: Vec<u8>) -> Result<Vec<(u64, Vec<String>)>, InputError> {
    let input = InputFile::open(stored(name, bytes), &wanted())?;
    let mut rows = input.rows(&wanted())?;
    let mut read = Vec::new();
    while let Some(row) = rows.next()? {
        read.push((row.line, rows.cells_of_last(&rows.columns())));
    }
    Ok(read)
}

fn encoded(text: &str, encoding: InputEncoding, has_mark: bool) -> Vec<u8> {
    let marked = if has_mark { "\u{feff}" } else { "" };
    let marked = format!("{marked}{text}");
    let units = marked.encode_utf16();
    match encoding {
        InputEncoding::Utf8 => marked.into_bytes(),
        InputEncoding::Utf16Le => units.flat_map(u16::to_le_bytes).collect(),
        InputEncoding::Utf16Be => units.flat_map(u16::to_be_bytes).collect(),
        InputEncoding::Windows1252 => encoding_rs::WINDOWS_1252.encode(text).0.into_owned(),
    }
}

/// A cell as people write: letters above ASCII stand between others.
fn cell() -> impl Strategy<Value = String> {
    prop::collection::vec("[a-z ,;\"'=\t|]{1,4}[äöüßéñ€–A]?", 1..5).prop_map(|parts| {
        let mut cell = parts.concat();
        cell.push('.');
        cell
    })
}

fn line_breaks() -> impl Strategy<Value = bool> {
    prop::bool::weighted(0.2)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_bytes_are_read_or_refused(
        begin in prop::sample::select(vec![
            &b""[..], b"text,gr\xc3\xb6\xc3\x9fe\n", b"{\"text\":1}\n", b"\xff\xfe", b"\xfe\xff",
            b"PK\x03\x04", b"t\0e\0x\0t\0", b"\xef\xbb\xbf", b"text;gr\xf6\xdfe\r",
        ]),
        bytes in prop::collection::vec(
            prop_oneof![any::<u8>(), prop::sample::select(b"\n\r,;\t\"{}:[a0\0\x80".to_vec())],
            0..200,
        ),
        name in prop::sample::select(vec!["", "a.csv", "a.tsv", "a.jsonl", "a.xlsx"]),
    ) {
        let bytes = [begin, &bytes].concat();
        let _ = outline(stored(name, bytes.clone()), 3);
        let _ = read(name, bytes);
    }

    #[test]
    fn a_table_is_the_same_in_every_form(
        cells in prop::collection::vec((cell(), cell(), line_breaks()), 1..20),
        encoding in prop::sample::select(vec![
            InputEncoding::Utf8, InputEncoding::Utf16Le, InputEncoding::Utf16Be,
            InputEncoding::Windows1252,
        ]),
        has_mark in any::<bool>(),
        separator in prop::sample::select(vec![",", ";", "\t"]),
        end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
        has_last_end in any::<bool>(),
    ) {
        let quoted = |cell: &str| format!("\"{}\"", cell.replace('"', "\"\""));
        let mut text = format!("größe{separator}text");
        let mut line = 2;
        let mut expected = Vec::new();
        // the lines of a text are read as they are, but for those of classic Mac OS
        let read_end = if end == "\r" { "\n" } else { end };
        for (first, second, has_break) in &cells {
            let lines = |end: &str| if *has_break { first.clone() + end + "more" } else { first.clone() };
            let _ = write!(text, "{end}{}{separator}{}", quoted(&lines(end)), quoted(second));
            expected.push((line, vec![lines(read_end), second.clone()]));
            line += if *has_break { 2 } else { 1 };
        }
        if has_last_end {
            text.push_str(end);
        }
        let bytes = encoded(&text, encoding, has_mark);
        let opened = InputFile::open(stored("a.csv", bytes.clone()), &wanted()).unwrap();

        prop_assert_eq!(opened.encoding(), encoding);
        prop_assert_eq!(read("a.csv", bytes).unwrap(), expected);
    }
}
