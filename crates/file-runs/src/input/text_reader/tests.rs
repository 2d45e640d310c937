use super::*;

fn text(bytes: Vec<u8>, encoding: InputEncoding) -> Vec<u8> {
    let mut text = Vec::new();
    let bytes = Box::new(io::Cursor::new(bytes));
    decoded(bytes, encoding).read_to_end(&mut text).unwrap();
    text
}

#[test]
fn characters_across_the_edge_of_a_chunk_are_whole() {
    for shift in 0..4 {
        let before = "x".repeat(CHUNK - 2 + shift);
        let expected = format!("{before}ä😀é{}", "ü".repeat(CHUNK));
        let units: Vec<u16> = expected.encode_utf16().collect();
        let little = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big = units.iter().flat_map(|unit| unit.to_be_bytes());
        let marked = [0xfe, 0xff].into_iter().chain(big).collect();
        assert_eq!(text(little, InputEncoding::Utf16Le), expected.as_bytes());
        assert_eq!(text(marked, InputEncoding::Utf16Be), expected.as_bytes());
    }
}

#[test]
fn what_cannot_be_decoded_is_no_utf_8() {
    for bytes in [&b"a\0\x3d\xd8b\0"[..], b"a\0\x3d\xd8", b"a\0b"] {
        let text = text(bytes.to_vec(), InputEncoding::Utf16Le);
        assert!(text.starts_with(b"a\xff"), "{text:?}");
    }
    let text = text(b"a\x80\x81".to_vec(), InputEncoding::Windows1252);
    assert_eq!(text, "a€\u{81}".as_bytes());
}

#[test]
fn the_first_line_shows_how_lines_end() {
    for (start, line_end) in [
        (&b"a,b\r\nc\n"[..], LineEnd::CrLf),
        (b"a,b\nc\r\n", LineEnd::Lf),
        (b"a,b\rc\rd", LineEnd::Cr),
        (b"a,b", LineEnd::Lf),
        (b"", LineEnd::Lf),
    ] {
        assert_eq!(LineEnd::detect(start), line_end, "{start:?}");
    }
}

fn detected(bytes: &[u8]) -> InputEncoding {
    InputEncoding::detect(bytes).unwrap()
}

fn windows_1252(text: &str) -> Vec<u8> {
    WINDOWS_1252.encode(text).0.into_owned()
}

#[test]
fn most_of_what_is_not_ascii_decides() {
    let ascii = "x".repeat(3 * WINDOW - 1);
    for text in ["für", "«très» déjà vu", "naïve – “quoted” …", "ß", "€ 5"] {
        for before in ["", "text\n", &ascii] {
            let text = format!("{before}{text}");
            assert_eq!(detected(text.as_bytes()), InputEncoding::Utf8, "{text}");
            let legacy = windows_1252(&text);
            assert_eq!(detected(&legacy), InputEncoding::Windows1252);
        }
    }
    assert_eq!(detected(b""), InputEncoding::Utf8);
    assert_eq!(detected(ascii.as_bytes()), InputEncoding::Utf8);
}

#[test]
fn a_damaged_file_in_utf_8_stays_one() {
    let mut damaged = "schön\n".repeat(10).into_bytes();
    damaged.extend(b"\xff\xff\xe4\n");
    assert_eq!(detected(&damaged), InputEncoding::Utf8);
    let marked = [BYTE_ORDER_MARK, b"text\n\xe4\n\xf6\n\xfc\n"].concat();
    assert_eq!(detected(&marked), InputEncoding::Utf8);
    let late = ["ö".as_bytes(), &vec![b'x'; 2 * WINDOW], &[0xe4; 99]].concat();
    assert_eq!(detected(&late), InputEncoding::Utf8);
}

#[test]
fn other_alphabets_are_not_taken_for_windows_1252() {
    for (encoding, text) in [
        (encoding_rs::WINDOWS_1251, "Где мой заказ?"),
        (encoding_rs::WINDOWS_1253, "Πού είναι η παραγγελία μου;"),
        (encoding_rs::SHIFT_JIS, "注文はどこですか"),
        (encoding_rs::GBK, "我的订单在哪里"),
    ] {
        let bytes = encoding.encode(text).0;
        assert!(std::str::from_utf8(&bytes).is_err(), "{text}");
        assert_eq!(detected(&bytes), InputEncoding::Utf8, "{text}");
    }
}

#[test]
fn utf_16_is_found_by_its_mark_or_its_zeros() {
    for (bytes, encoding) in [
        (&b"\xff\xfea\0"[..], InputEncoding::Utf16Le),
        (b"\xfe\xff\0a", InputEncoding::Utf16Be),
        (b"a\0b\0", InputEncoding::Utf16Le),
        (b"\0a\0b", InputEncoding::Utf16Be),
        (b"a\0\0\0", InputEncoding::Utf8),
    ] {
        assert_eq!(detected(bytes), encoding, "{bytes:?}");
    }
}
