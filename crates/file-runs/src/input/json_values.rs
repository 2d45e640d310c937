//! Splits a JSON text into its rows: the elements of an array, or values one after the other, over any
//! number of lines.
//!
//! Commas between values are passed wherever they stand, so that JSON Lines with a comma after each line
//! are read too. Each value is parsed by itself: only one is in memory at a time.

use std::io::{BufRead as _, BufReader, Read};

use super::input_error::InputError;
use super::raw_row::ROW_BYTES;
use super::text_reader::BYTE_ORDER_MARK;

/// The values of a JSON text.
pub(crate) struct JsonValues {
    text: BufReader<Box<dyn Read + Send>>,
    line: u64,
    /// Number of bytes before the next one in its line.
    column: usize,
    /// Whether the text is an array that is not closed yet.
    is_in_array: bool,
    has_begun: bool,
}

/// Where a value begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JsonPlace {
    /// The line, from 1.
    pub(crate) line: u64,
    /// Number of bytes before the value in its line.
    pub(crate) column: usize,
}

impl JsonValues {
    /// Starts at the first byte.
    pub(crate) fn begin(text: BufReader<Box<dyn Read + Send>>) -> Self {
        Self {
            text,
            line: 1,
            column: 0,
            is_in_array: false,
            has_begun: false,
        }
    }

    /// Reads the next value into `value`; `None` after the last.
    pub(crate) fn next(&mut self, value: &mut Vec<u8>) -> Result<Option<JsonPlace>, InputError> {
        value.clear();
        let place = loop {
            let Some(byte) = self.peek()? else {
                let line = self.line;
                return if self.is_in_array {
                    Err(InputError::CutJson { line })
                } else {
                    Ok(None)
                };
            };
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b',' => {}
                b'[' if !self.has_begun => self.is_in_array = true,
                b']' if self.is_in_array => self.is_in_array = false,
                mark if self.line == 1 && !self.has_begun && BYTE_ORDER_MARK.contains(&mark) => {}
                _ => {
                    break JsonPlace {
                        line: self.line,
                        column: self.column,
                    };
                }
            }
            self.has_begun |= byte == b'[';
            self.pass(1, u64::from(byte == b'\n'));
            if byte == b'\n' {
                self.column = 0;
            }
        };
        self.has_begun = true;
        let mut end = ValueEnd::default();
        loop {
            let line = place.line;
            let bytes = self.text.fill_buf();
            let bytes = bytes.map_err(|error| InputError::Unreadable { line, error })?;
            if bytes.is_empty() {
                // the parser says what is wrong with a value that is cut between its brackets
                return if end.is_open() {
                    Err(InputError::CutJson { line })
                } else {
                    Ok(Some(place))
                };
            }
            let (used, is_whole) = end.find(bytes);
            let found = bytes.get(..used).unwrap_or_default();
            value.extend_from_slice(found);
            let breaks = memchr::memchr_iter(b'\n', found).count();
            let after = memchr::memrchr(b'\n', found);
            self.column = after.map_or(self.column + used, |last| used - last - 1);
            self.text.consume(used);
            self.line += u64::try_from(breaks).unwrap_or_default();
            if u64::try_from(value.len()).is_ok_and(|bytes| bytes >= ROW_BYTES) {
                return Err(InputError::TooLong { line });
            }
            if is_whole {
                return Ok(Some(place));
            }
        }
    }

    fn peek(&mut self) -> Result<Option<u8>, InputError> {
        let line = self.line;
        let bytes = self.text.fill_buf();
        let bytes = bytes.map_err(|error| InputError::Unreadable { line, error })?;
        Ok(bytes.first().copied())
    }

    fn pass(&mut self, bytes: usize, lines: u64) {
        self.text.consume(bytes);
        self.column += bytes;
        self.line += lines;
    }
}

/// Finds the end of a value by its brackets and strings.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ValueEnd {
    depth: u64,
    is_in_string: bool,
    is_escaped: bool,
}

impl ValueEnd {
    /// Whether the value goes on after the bytes so far, by its brackets and strings.
    pub(crate) fn is_open(self) -> bool {
        self.depth > 0 || self.is_in_string
    }

    /// Whether the bytes so far end inside a string.
    pub(crate) fn is_in_string(self) -> bool {
        self.is_in_string
    }

    /// The number of these bytes that belong to the value, and whether it ends there.
    pub(crate) fn find(&mut self, bytes: &[u8]) -> (usize, bool) {
        for (index, byte) in bytes.iter().enumerate() {
            if self.is_in_string {
                match byte {
                    _ if self.is_escaped => self.is_escaped = false,
                    b'\\' => self.is_escaped = true,
                    b'"' => {
                        self.is_in_string = false;
                        if self.depth == 0 {
                            return (index + 1, true);
                        }
                    }
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.is_in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth > 0 => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return (index + 1, true);
                    }
                }
                // a number or a name has no end of its own
                b',' | b']' | b'\n' if self.depth == 0 => return (index, true),
                _ => {}
            }
        }
        (bytes.len(), false)
    }
}
