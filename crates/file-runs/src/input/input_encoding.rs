//! The encoding of a text file, detected by its bytes.

use std::io::{self, Read};

/// The byte order mark of UTF-8.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Number of bytes that decide between UTF-8 and Windows-1252, from the first one that is not ASCII.
const WINDOW: usize = 64 * 1024;
/// Bytes without a character in Windows-1252.
const UNUSED: [u8; 5] = [0x81, 0x8d, 0x8f, 0x90, 0x9d];
/// Length from which a run of bytes above ASCII is unusual in Windows-1252. Its letters above ASCII
/// stand between letters of ASCII; in texts of other alphabets they form whole words.
const LONG_RUN: usize = 3;

/// The encoding of a text file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputEncoding {
    /// UTF-8, with or without a byte order mark.
    Utf8,
    /// UTF-16, low byte first: what Windows calls Unicode.
    Utf16Le,
    /// UTF-16, high byte first.
    Utf16Be,
    /// Windows-1252, the legacy encoding of western Europe and America: what Excel saves as CSV there.
    Windows1252,
}

impl InputEncoding {
    /// The name of the encoding for people.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Utf16Le | Self::Utf16Be => "UTF-16",
            Self::Windows1252 => "Windows-1252",
        }
    }

    /// UTF-16, if bytes begin with its byte order mark, or two characters of ASCII in it.
    pub(crate) fn utf_16(start: &[u8]) -> Option<Self> {
        match start {
            [0xff, 0xfe, ..] | [1..=0xff, 0, 1..=0xff, 0, ..] => Some(Self::Utf16Le),
            [0xfe, 0xff, ..] | [0, 1..=0xff, 0, 1..=0xff, ..] => Some(Self::Utf16Be),
            _ => None,
        }
    }

    /// Detects the encoding. Reads up to the first byte that is not ASCII and a [`WINDOW`] from
    /// there: what follows cannot change the decision, so a single damaged line of a UTF-8 file is
    /// reported and never makes the rest unreadable.
    pub(crate) fn detect(mut bytes: impl Read) -> io::Result<Self> {
        let mut window = Vec::with_capacity(2 * WINDOW);
        let limit = u64::try_from(WINDOW).unwrap_or(u64::MAX);
        let mut is_start = true;
        loop {
            window.clear();
            bytes.by_ref().take(limit).read_to_end(&mut window)?;
            if is_start && window.starts_with(BYTE_ORDER_MARK) {
                return Ok(Self::Utf8);
            }
            if let Some(utf_16) = Self::utf_16(&window).filter(|_| is_start) {
                return Ok(utf_16);
            }
            is_start = false;
            if window.is_empty() {
                return Ok(Self::Utf8);
            }
            if let Some(first) = window.iter().position(|byte| !byte.is_ascii()) {
                bytes.take(limit).read_to_end(&mut window)?;
                let window = window.get(first..).unwrap_or_default();
                return Ok(Self::of_window(window));
            }
        }
    }

    /// Bytes are Windows-1252 if most of those above ASCII are not UTF-8, and look like letters of
    /// western languages.
    fn of_window(window: &[u8]) -> Self {
        let (mut valid, mut invalid) = (0, 0);
        for chunk in window.utf8_chunks() {
            valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
            invalid += usize::from(!chunk.invalid().is_empty());
        }
        if invalid <= valid || window.iter().any(|byte| UNUSED.contains(byte)) {
            return Self::Utf8;
        }
        let runs = window.split(u8::is_ascii).filter(|run| !run.is_empty());
        let (long, short): (Vec<_>, Vec<_>) = runs.partition(|run| run.len() >= LONG_RUN);
        if long.len() > short.len() {
            Self::Utf8
        } else {
            Self::Windows1252
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(bytes: &[u8]) -> InputEncoding {
        InputEncoding::detect(bytes).unwrap()
    }

    fn windows_1252(text: &str) -> Vec<u8> {
        encoding_rs::WINDOWS_1252.encode(text).0.into_owned()
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
}
