//! Reads text of any [encoding](InputEncoding) as UTF-8, and line ends of classic Mac OS as line
//! feeds. The encoding of a file is detected by its bytes.

use std::io::{self, Read};

use encoding_rs::{Decoder, DecoderResult, UTF_16BE, UTF_16LE, WINDOWS_1252};

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

/// Whether bytes begin with a byte order mark of UTF-32, or two characters of ASCII in it. No rows are
/// read from UTF-32.
pub(crate) fn is_utf_32(start: &[u8]) -> bool {
    matches!(
        start,
        [0xff, 0xfe, 0, 0, ..]
            | [0, 0, 0xfe, 0xff, ..]
            | [1..=0xff, 0, 0, 0, 1..=0xff, 0, 0, 0, ..]
            | [0, 0, 0, 1..=0xff, 0, 0, 0, 1..=0xff, ..]
    )
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
            _ if is_utf_32(start) => None,
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
mod tests;
