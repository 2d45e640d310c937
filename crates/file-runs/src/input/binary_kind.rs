//! Recognizes files that are not text by their first bytes.

use super::input_encoding::InputEncoding;

/// First bytes of files that are not text, with the kind of file and what to do about it.
const BEGINNINGS: [(&[u8], &str); 9] = [
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
        "it is an old Excel workbook (.xls): save the table as CSV in UTF-8",
    ),
    (
        b"PAR1\x15",
        "it is a Parquet file, which is not supported: write it as CSV or JSON Lines",
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
/// The bytes of bzip2 data after its header of four bytes.
const BZIP2_BLOCK: &[u8] = b"1AY&SY";

/// The kind of a file that is not text, and what to do about it; `None` for text. `start` is the
/// file's first bytes: up to a few thousand, more bytes make the result more certain.
pub fn binary_kind(start: &[u8]) -> Option<&'static str> {
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
