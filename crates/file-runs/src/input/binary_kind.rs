//! Recognizes files that are not text by their first bytes.

use super::input_encoding::InputEncoding;

/// First bytes of files that are not text, with the kind of file and what to do about it.
const BEGINNINGS: [(&[u8], &str); 8] = [
    (b"\x1f\x8b", "it is compressed with gzip: unpack it first"),
    (
        b"\x28\xb5\x2f\xfd",
        "it is compressed with Zstandard: unpack it first",
    ),
    (b"\xfd7zXZ\0", "it is compressed with xz: unpack it first"),
    (
        b"PK\x03\x04",
        "it is a ZIP archive, as spreadsheets (.xlsx, .ods) are: save the table as CSV in UTF-8",
    ),
    (
        b"\xd0\xcf\x11\xe0",
        "it is an old Excel workbook (.xls) or one with a password: save the table without a password \
         as .xlsx, or as CSV in UTF-8",
    ),
    (
        b"ARROW1\0",
        "it is an Arrow file, which is not supported: write it as CSV or JSON Lines",
    ),
    (b"%PDF-", "it is a PDF: a text is needed"),
    (
        b"SQLite format 3\0",
        "it is an SQLite database: write the table as CSV",
    ),
];
/// What to do about a workbook with a password.
const LOCKED: &str = "it is a workbook with a password: save it without one, or as CSV in UTF-8";
/// The beginning of the name of the part that holds a workbook with a password, in UTF-16.
const LOCKED_PART: &[u8] = b"E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k";
/// What to do about a Parquet file.
const PARQUET: &str = "it is a Parquet file, which is not supported: write it as CSV or JSON Lines";
/// The bytes of bzip2 data after its header of four bytes.
const BZIP2_BLOCK: &[u8] = b"1AY&SY";

/// The kind of a file that is not text, and what to do about it; `None` for text. `start` is the
/// file's first bytes: up to a few thousand, more bytes make the result more certain.
pub fn binary_kind(start: &[u8]) -> Option<&'static str> {
    // Parquet goes on with a page or a footer, whose first bytes are no text
    if matches!(start, [b'P', b'A', b'R', b'1' | b'E', next, ..] if next.is_ascii_control() && !b"\t\n\r".contains(next))
    {
        return Some(PARQUET);
    }
    if start.starts_with(b"\xd0\xcf\x11\xe0") && memchr::memmem::find(start, LOCKED_PART).is_some()
    {
        return Some(LOCKED);
    }
    let mut known = BEGINNINGS.iter();
    if let Some((_, what)) = known.find(|(beginning, _)| start.starts_with(beginning)) {
        return Some(what);
    }
    if start.starts_with(b"BZh") && start.get(4..10) == Some(BZIP2_BLOCK) {
        return Some("it is compressed with bzip2: unpack it first");
    }
    if InputEncoding::utf_16(start).is_some() {
        return Some("it is not UTF-8 but UTF-16: save it as UTF-8");
    }
    // the last character may be cut off
    let is_text =
        std::str::from_utf8(start).map_or_else(|error| error.error_len().is_none(), |_| true);
    (start.contains(&0) && !is_text).then_some("it is no text, but binary data")
}

/// The kind of a text that is markup and no table, and what to do about it. `start` is its beginning in
/// UTF-8.
pub(crate) fn markup_kind(start: &[u8]) -> Option<&'static str> {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let start = start.trim_ascii_start();
    let begins = |name: &[u8]| {
        let start = start.get(..name.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(name))
    };
    let is_html = [
        &b"<!doctype html"[..],
        b"<html",
        b"<table",
        b"<meta",
        b"<head",
    ];
    if is_html.into_iter().any(begins) {
        return Some(
            "it is an HTML page, which some programs call .xls or .csv, and which a download may be \
             in place of a file: save the table as CSV in UTF-8",
        );
    }
    begins(b"<?xml").then_some("it is XML: save the table as CSV in UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_text_is_named() {
        for (start, words) in [
            (&b"\x1f\x8b\x08\0\0\0\0\0"[..], "gzip"),
            (b"\x28\xb5\x2f\xfd\x04", "Zstandard"),
            (b"BZh91AY&SY\x8f", "bzip2"),
            (b"\xfd7zXZ\0\0\x04", "xz"),
            (b"PK\x03\x04\x14\0\x06\0", ".xlsx"),
            (b"\xd0\xcf\x11\xe0\xa1\xb1", ".xls"),
            (b"PAR1\x15\x04", "Parquet"),
            (b"PARE\x1c\x04", "Parquet"),
            (
                b"\xd0\xcf\x11\xe0..E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0",
                "a password: save it without",
            ),
            (b"%PDF-1.7", "PDF"),
            (b"SQLite format 3\0", "SQLite"),
            (b"\xff\xfet\0", "UTF-16"),
            (b"\0t\0e", "UTF-16"),
            (b"\x7fELF\x02\x01\x01\0\x90\xff", "binary"),
        ] {
            let kind = binary_kind(start);
            assert!(
                kind.is_some_and(|kind| kind.contains(words)),
                "{words}: {kind:?}"
            );
        }
    }

    #[test]
    fn markup_under_another_name_is_named() {
        for (start, words) in [
            (&b"\xef\xbb\xbf\r\n<!DOCTYPE html><html>"[..], "HTML"),
            (b"<Table border=1>", "HTML"),
            (b"<?xml version=\"1.0\"?>", "XML"),
        ] {
            assert!(markup_kind(start).is_some_and(|kind| kind.contains(words)));
        }
        assert_eq!(markup_kind(b"<b>text</b>,ref\n"), None);
    }

    #[test]
    fn text_is_no_binary_data() {
        for start in [
            &b""[..],
            b"text,ref\n",
            b"BZh,PK",
            b"PAR1,PAR2\n",
            b"\xef\xbb\xbftext\n",
            b"text\na\0b\n",
            b"text\n\xc3\xbc\0\xc3",
            b"Latin\xfc1\n",
        ] {
            assert_eq!(binary_kind(start), None, "{start:?}");
        }
    }
}
