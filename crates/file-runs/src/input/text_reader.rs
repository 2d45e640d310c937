//! Reads text of any [encoding](InputEncoding) as UTF-8, and line ends of classic Mac OS as line
//! feeds.

use std::io::{self, Read};

use encoding_rs::{Decoder, DecoderResult, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::input_encoding::InputEncoding;

/// Number of bytes that are decoded at once.
const CHUNK: usize = 16 * 1024;
/// A byte that UTF-8 never has, in place of bytes that cannot be decoded: readers of the text find
/// its line.
const NOT_TEXT: u8 = 0xff;

/// How the lines of a file end, by its first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineEnd {
    /// Line feeds.
    Lf,
    /// Carriage return and line feed.
    CrLf,
    /// Carriage returns alone, as classic Mac OS wrote and some programs still do.
    Cr,
}

/// A text and the form in which it was written.
pub(crate) struct InputText {
    /// The text in UTF-8, with `\n` for the line ends of [`LineEnd::Cr`].
    pub(crate) text: Box<dyn Read + Send>,
    /// The encoding of the file.
    pub(crate) encoding: InputEncoding,
    /// The line ends of the file.
    pub(crate) line_end: LineEnd,
}

impl LineEnd {
    /// Detects the line ends by the beginning of a text.
    pub(crate) fn detect(start: &[u8]) -> Self {
        let mut lines = start.split(|byte| *byte == b'\n');
        let first = lines.next().unwrap_or_default();
        match (lines.next(), first.last()) {
            (Some(_), Some(b'\r')) => Self::CrLf,
            (None, _) if first.contains(&b'\r') => Self::Cr,
            (Some(_) | None, _) => Self::Lf,
        }
    }
}

impl InputText {
    /// Reads bytes of an encoding as text.
    pub(crate) fn new(
        bytes: Box<dyn Read + Send>,
        encoding: InputEncoding,
        line_end: LineEnd,
    ) -> Self {
        let decoded = decoded(bytes, encoding);
        let text = match line_end {
            LineEnd::Lf | LineEnd::CrLf => decoded,
            LineEnd::Cr => Box::new(LineFeeds(decoded)),
        };
        Self {
            text,
            encoding,
            line_end,
        }
    }
}

/// Reads bytes of an encoding as UTF-8, with [`NOT_TEXT`] for what cannot be decoded. A byte order
/// mark of UTF-16 is left out.
pub(crate) fn decoded(
    bytes: Box<dyn Read + Send>,
    encoding: InputEncoding,
) -> Box<dyn Read + Send> {
    let encoding = match encoding {
        InputEncoding::Utf8 => return bytes,
        InputEncoding::Utf16Le => UTF_16LE,
        InputEncoding::Utf16Be => UTF_16BE,
        InputEncoding::Windows1252 => WINDOWS_1252,
    };
    let decoder = encoding.new_decoder_with_bom_removal();
    Box::new(Transcoder {
        bytes,
        decoder,
        has_ended: false,
        text: Vec::new(),
        read: 0,
    })
}

/// Decodes chunk by chunk.
struct Transcoder {
    bytes: Box<dyn Read + Send>,
    decoder: Decoder,
    has_ended: bool,
    /// The last decoded chunk.
    text: Vec<u8>,
    /// The part of the chunk that was read.
    read: usize,
}

impl Transcoder {
    /// Decodes the next chunk.
    fn refill(&mut self) -> io::Result<()> {
        let mut bytes = [0; CHUNK];
        let found = self.bytes.read(&mut bytes)?;
        self.has_ended = found == 0;
        let mut rest = bytes.get(..found).unwrap_or_default();
        let room = self
            .decoder
            .max_utf8_buffer_length_without_replacement(found);
        self.text.clear();
        self.read = 0;
        loop {
            let from = self.text.len();
            self.text.resize(from + room.unwrap_or(4 * CHUNK), 0);
            let out = self.text.get_mut(from..).unwrap_or_default();
            let (result, used, written) =
                self.decoder
                    .decode_to_utf8_without_replacement(rest, out, self.has_ended);
            self.text.truncate(from + written);
            rest = rest.get(used..).unwrap_or_default();
            match result {
                DecoderResult::InputEmpty => return Ok(()),
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(..) => self.text.push(NOT_TEXT),
            }
        }
    }
}

impl Read for Transcoder {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.read == self.text.len() && !self.has_ended {
            self.refill()?;
        }
        let mut unread = self.text.get(self.read..).unwrap_or_default();
        let read = unread.read(buffer)?;
        self.read += read;
        Ok(read)
    }
}

/// Reads carriage returns as line feeds.
struct LineFeeds(Box<dyn Read + Send>);

impl Read for LineFeeds {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        for byte in buffer.iter_mut().take(read).filter(|byte| **byte == b'\r') {
            *byte = b'\n';
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
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
}
