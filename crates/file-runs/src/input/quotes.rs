//! The quotes of CSV, checked as RFC 4180 has them.
//!
//! The crate `csv` reads on leniently: text after a closing quote joins the cell, and an unclosed quote
//! takes everything up to the next one, or to the end of the file. Both would ask about texts that the
//! file does not have. So the bytes pass a strict check before the crate sees them.

use std::io::{self, Read};

use super::text_reader::BYTE_ORDER_MARK;

/// A quote that RFC 4180 does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuoteError {
    /// A quoted cell has no closing quote.
    #[error(
        "line {opened} opens a quote that is never closed: in a quoted cell, write a quote twice (\"\")"
    )]
    Unclosed {
        /// The line of the opening quote.
        opened: u64,
    },
    /// A closing quote is followed by text.
    #[error(
        "line {line} has text after a closing quote{}: in a quoted cell, write a quote twice (\"\"), \
         not with a backslash (RFC 4180)",
        opened_before(*.opened, *.line)
    )]
    Followed {
        /// The line of the opening quote.
        opened: u64,
        /// The line of the closing quote.
        line: u64,
    },
}

fn opened_before(opened: u64, line: u64) -> String {
    if opened == line {
        String::new()
    } else {
        format!(", which line {opened} opens")
    }
}

/// The place of the next byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    CellStart,
    PlainCell,
    QuotedCell,
    /// After a quote in a quoted cell: its end, or the first half of a quote.
    AfterQuote,
}

/// What the last quoted cell holds so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Nothing,
    /// Text that needs no quotes.
    Ordinary,
    /// Something that programs quote a cell for: a quote, a separator, a line break or a comma.
    Special,
}

/// Follows cells and quotes through the bytes of a table.
#[derive(Debug)]
pub(crate) struct QuoteFollower {
    separator: u8,
    place: Place,
    line: u64,
    /// The line of the last opening quote.
    opened: u64,
    /// Number of bytes of a byte order mark that were passed.
    marked: usize,
    /// Whether a quoted cell held a quote.
    pub(crate) has_doubled: bool,
    /// Whether a quoted cell held a separator or a line break.
    pub(crate) has_hidden: bool,
    content: Content,
    /// Whether a quote stood where programs that quote cells put none: inside a cell that is not
    /// quoted, or around [`Content::Ordinary`].
    has_needless: bool,
}

impl QuoteFollower {
    /// Starts at the first byte of a table with this separator.
    pub(crate) fn new(separator: u8) -> Self {
        Self {
            separator,
            place: Place::CellStart,
            line: 1,
            opened: 1,
            marked: 0,
            has_doubled: false,
            has_hidden: false,
            content: Content::Nothing,
            has_needless: false,
        }
    }

    /// Goes on through the next bytes.
    pub(crate) fn follow(&mut self, bytes: &[u8]) -> Result<(), QuoteError> {
        for byte in bytes.iter().copied() {
            let is_end = byte == self.separator || byte == b'\n' || byte == b'\r';
            self.note(byte, is_end);
            self.place = match (self.place, byte) {
                (Place::CellStart, b'"') => {
                    self.opened = self.line;
                    Place::QuotedCell
                }
                (Place::CellStart, _) if self.is_mark(byte) => Place::CellStart,
                (Place::CellStart | Place::PlainCell, _) if is_end => Place::CellStart,
                (Place::CellStart | Place::PlainCell, _) => Place::PlainCell,
                (Place::QuotedCell, b'"') => Place::AfterQuote,
                (Place::QuotedCell, _) | (Place::AfterQuote, b'"') => Place::QuotedCell,
                (Place::AfterQuote, _) if is_end => Place::CellStart,
                (Place::AfterQuote, _) => {
                    return Err(QuoteError::Followed {
                        opened: self.opened,
                        line: self.line,
                    });
                }
            };
            self.line += u64::from(byte == b'\n');
        }
        Ok(())
    }

    /// Keeps what the next byte tells of the look of the cells.
    fn note(&mut self, byte: u8, is_end: bool) {
        match (self.place, byte) {
            (Place::CellStart, b'"') => self.content = Content::Nothing,
            (Place::PlainCell, b'"') => self.has_needless = true,
            (Place::AfterQuote, b'"') => {
                self.has_doubled = true;
                self.content = Content::Special;
            }
            (Place::AfterQuote, _) => self.has_needless |= self.content == Content::Ordinary,
            (Place::QuotedCell, b'"') | (Place::CellStart | Place::PlainCell, _) => {}
            (Place::QuotedCell, _) => {
                self.has_hidden |= is_end;
                if is_end || byte == b',' {
                    self.content = Content::Special;
                } else if self.content == Content::Nothing {
                    self.content = Content::Ordinary;
                }
            }
        }
    }

    /// Whether all quotes stand where programs that quote cells put them: around cells that need them.
    fn are_needed(&self) -> bool {
        let is_last_needless = self.place == Place::AfterQuote && self.content == Content::Ordinary;
        !(self.has_needless || is_last_needless)
    }

    /// Whether the byte belongs to a byte order mark at the beginning of the file.
    fn is_mark(&mut self, byte: u8) -> bool {
        let is_mark = self.line == 1 && BYTE_ORDER_MARK.get(self.marked) == Some(&byte);
        self.marked += usize::from(is_mark);
        is_mark
    }

    /// Checks that the table does not end inside a quoted cell.
    pub(crate) fn end(&self) -> Result<(), QuoteError> {
        match self.place {
            Place::QuotedCell => Err(QuoteError::Unclosed {
                opened: self.opened,
            }),
            Place::CellStart | Place::PlainCell | Place::AfterQuote => Ok(()),
        }
    }
}

/// Reads bytes up to the first quote that is not allowed, and fails there.
pub(crate) struct CheckedQuotes<R> {
    inner: R,
    follower: QuoteFollower,
}

impl<R> CheckedQuotes<R> {
    /// Checks the quotes of a table with this separator.
    pub(crate) fn new(inner: R, separator: u8) -> Self {
        Self {
            inner,
            follower: QuoteFollower::new(separator),
        }
    }
}

impl<R: Read> Read for CheckedQuotes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let bytes = buffer.get(..read).unwrap_or_default();
        let checked = self.follower.follow(bytes);
        let checked = checked.and_then(|()| match bytes {
            [] => self.follower.end(),
            [..] => Ok(()),
        });
        checked.map(|()| read).map_err(io::Error::other)
    }
}

/// Whether the cells of a tab-separated text are quoted as in CSV, as pandas, polars, csvkit and R
/// write them. In other such texts a quote is an ordinary character.
///
/// They are if every name in the header is quoted; or if all quotes at the beginning of a cell are as in
/// RFC 4180, and some quoted cell holds a quote, or a tab or line break without which the lines have
/// different numbers of cells.
///
/// Results, `are_own`, are written without quotes around cells and without tabs and line breaks in
/// them. So another program wrote them anew only if nothing else has a quote than cells that need it,
/// and each tab or line break in these shows in the numbers of cells. Results whose texts all look
/// so by chance are read as quoted too: such texts are rarer than such programs.
pub(crate) fn are_tab_cells_quoted(
    mut text: impl Read,
    start: &[u8],
    are_own: bool,
) -> io::Result<bool> {
    let start = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(start);
    let header = start.split(|byte| *byte == b'\n').next();
    let header = header.unwrap_or_default().trim_ascii_end();
    let is_quoted =
        |cell: &[u8]| cell.len() > 1 && cell.starts_with(b"\"") && cell.ends_with(b"\"");
    let mut names = header.split(|byte| *byte == b'\t');
    if names.all(is_quoted) {
        return Ok(true);
    }
    let mut follower = QuoteFollower::new(b'\t');
    let mut lines = LineCells::default();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = text.read(&mut buffer)?;
        let bytes = buffer.get(..read).unwrap_or_default();
        if follower.follow(bytes).is_err() {
            return Ok(false);
        }
        if bytes.is_empty() {
            break;
        }
        lines.count(bytes);
    }
    lines.end();
    let is_strict = follower.end().is_ok();
    let is_hiding = follower.has_hidden && lines.differ;
    let is_like_own = follower.has_hidden && !lines.differ || !follower.are_needed();
    Ok(is_strict && (follower.has_doubled || is_hiding) && !(are_own && is_like_own))
}

/// Compares the numbers of tabs in the lines of a text.
#[derive(Debug, Default)]
struct LineCells {
    tabs: u64,
    is_blank: bool,
    of_header: Option<u64>,
    differ: bool,
}

impl LineCells {
    fn count(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                b'\n' => self.end(),
                b'\t' => self.tabs += 1,
                b'\r' => {}
                _ => self.is_blank = false,
            }
        }
    }

    fn end(&mut self) {
        let is_blank = std::mem::replace(&mut self.is_blank, true);
        let tabs = std::mem::take(&mut self.tabs);
        if !(is_blank && tabs == 0) {
            self.differ |= *self.of_header.get_or_insert(tabs) != tabs;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<(), String> {
        let mut read = Vec::new();
        let mut checked = CheckedQuotes::new(text.as_bytes(), b',');
        let checked = checked.read_to_end(&mut read);
        checked.map(|_| ()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_quote_is_closed_and_followed_by_nothing_else_in_its_cell() {
        for text in [
            "",
            "a,b\n\"1\",\"2\"",
            "a\r\n\"x \"\"y\"\"\r\nz\"\r\n",
            "\u{feff}\"a\",b\n5\" pipe,he said \"no\"\n",
            "\"\",\"\"\"\"\n",
        ] {
            assert_eq!(check(text), Ok(()), "{text:?}");
        }
        for (text, words) in [
            ("a\n\"b\nc\n", "line 2 opens a quote that is never closed"),
            ("a\n\"b\" c\n", "line 2 has text after a closing quote:"),
            (
                "\u{feff}\"a\" b\n",
                "line 1 has text after a closing quote:",
            ),
            (
                "a\n\"say \\\"no\\\"\"",
                "line 2 has text after a closing quote:",
            ),
            (
                "a\n\"b\nc\nd \"e\"\n",
                "line 4 has text after a closing quote, which line 2 opens:",
            ),
        ] {
            let error = check(text).unwrap_err();
            assert!(error.starts_with(words), "{text:?}: {error}");
        }
    }

    #[test]
    fn quoted_cells_of_a_tab_separated_text_are_found_by_their_look() {
        for (text, is_quoted) in [
            ("a\tb\n1\t\"said \"\"no\"\"\"\n", true),
            ("a\tb\n1\t\"two\nlines\"\n2\tx\n", true),
            ("a\tb\n1\t\"two\tcells\"\n", true),
            ("\"a\"\t\"b\"\r\n\"1\"\t\"x\"\r\n", true),
            // quotes that belong to the texts
            ("a\tb\n1\t\"A friend\" of Bob\n", false),
            ("a\tb\n1\t\"Hello there\n2\tbye\"\n3\tx\n", false),
            ("a\tb\n1\t\"Hello there\n2\tx\n", false),
            ("a\tb\n1\t\"quoted\"\n", false),
            ("a\tb\n1\t2\n3\n", false),
        ] {
            let found = are_tab_cells_quoted(text.as_bytes(), text.as_bytes(), false).unwrap();
            assert_eq!(found, is_quoted, "{text:?}");
        }
    }
    #[test]
    fn results_that_another_program_wrote_are_known_from_our_own() {
        let header = "result_id\tref\ttext\n";
        for (rows, is_quoted) in [
            // pandas, polars with its empty text, Excel with its comma
            ("1\tr\t\"said \"\"no\"\"\"\n2\ts\tx\n", true),
            ("1\t\"\"\t\"said \"\"no\"\"\"\n", true),
            ("1\tr\t\"a, b\"\n2\ts\t\"said \"\"no\"\"\"", true),
            ("1\tr\t\"two\nlines\"\n2\ts\tx\n", true),
            ("1\tr\t\"two\tcells\"\n2\ts\tx\n", true),
            // quotes that belong to the texts
            ("1\tr\t\"said \"\"no\"\"\"\n2\ts\tof \"x\"\n", false),
            ("1\tr\t\"said \"\"no\"\"\"\n2\ts\t\"Hello\"\n", false),
            ("1\tr\t\"said \"\"no\"\"\"\n2\ts\t\"Hello\"", false),
            ("1\tr\t\"Hello\"\n", false),
            ("1\tr\t\"Hello\n2\ts\tsaid \"\"no\"\" bye\"\n", false),
            ("1\tr\t\"A friend\" of \"\"Bob\"\"\n", false),
        ] {
            let text = format!("{header}{rows}");
            let found = are_tab_cells_quoted(text.as_bytes(), text.as_bytes(), true).unwrap();
            assert_eq!(found, is_quoted, "{text:?}");
        }
    }
}
