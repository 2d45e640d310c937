//! Changes what the HTTP server would take amiss in a head, before it sees it.
//!
//! - **Offers to leave HTTP/1.1.** The server closes a connection after `Connection: upgrade`, as
//!   every Java client and `curl --http2` send it, and reads a body after `Upgrade: websocket`
//!   until the connection ends. Refract upgrades nothing, and an offer that is not taken changes
//!   nothing (RFC 9110, 7.8): the first letter of such a word is overwritten.
//! - **A POST of HTTP/1.0 without a length**, as nginx forwards one without a body: the server
//!   refuses it, but it has no body (RFC 9112, 6.3). It gets the length 0.
//!
//! It also finds the ends of request heads in the bytes of a connection. The HTTP server parses
//! every head in its buffer at once, at some 7 KB each, and queues the requests: 128 KiB with a
//! thousand small requests would become 7 MB.

use memchr::{memchr, memchr_iter};
use tokio::io::ReadBuf;

/// Overwrites the first letter of a word: the field stays valid and of the same length.
const OVERWRITTEN: u8 = b'-';
/// The length of the longest field name that matters.
const LONGEST: usize = "content-length".len();
/// Ends a head whose body is empty.
const NO_BODY: &[u8] = b"Content-Length: 0\r\n\r\n";

/// What is known of a head, of which the earlier bytes were passed on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HeadFields {
    place: HeadPlace,
    is_old_post: bool,
    has_length: bool,
}

/// A position in a head.
#[derive(Clone, Copy, Debug)]
enum HeadPlace {
    /// In the request line, or in an empty line before it.
    RequestLine {
        length: usize,
        /// Whether what was read of it begins as a POST does.
        is_post: bool,
        last: [u8; 8],
    },
    /// In a field's name: its letters so far, in lower case, and their number.
    Name([u8; LONGEST], usize),
    /// In a value of which no word may begin with this letter, in lower case.
    Words { forbidden: u8, is_start: bool },
    /// In the rest of a line that does not matter.
    Rest,
}

impl HeadFields {
    /// Changes the bytes of a head in `buf` from this position on; `is_end` where the head ends
    /// with them.
    pub(crate) fn change(&mut self, buf: &mut ReadBuf<'_>, from: usize, is_end: bool) {
        let bytes = buf.filled_mut().get_mut(from..).unwrap_or_default();
        let mut at = 0;
        while let Some(rest) = bytes.get_mut(at..).filter(|rest| !rest.is_empty()) {
            at += self.change_first(rest);
        }
        if !is_end {
            return;
        }
        let lacks_length = self.is_old_post && !self.has_length;
        let empty_line = empty_line_at_end(bytes);
        *self = Self::default();
        // no room, or an empty line that came in two pieces, is too rare to wait for
        if lacks_length && empty_line > 0 && buf.remaining() >= NO_BODY.len() {
            buf.set_filled(buf.filled().len() - empty_line);
            buf.put_slice(NO_BODY);
        }
    }

    /// Reads on in bytes that are not empty, and returns how many were read.
    fn change_first(&mut self, bytes: &mut [u8]) -> usize {
        if let HeadPlace::Rest = self.place {
            let Some(end) = memchr(b'\n', bytes) else {
                return bytes.len();
            };
            self.place = HeadPlace::name();
            return end + 1;
        }
        if let Some(byte) = bytes.first_mut() {
            self.place = self.after(byte);
        }
        1
    }

    /// The position after this byte, which is overwritten if it begins a forbidden word.
    fn after(&mut self, byte: &mut u8) -> HeadPlace {
        match (self.place, *byte) {
            (HeadPlace::RequestLine { length: 0, .. }, b'\n') => HeadPlace::default(),
            (HeadPlace::RequestLine { is_post, last, .. }, b'\n') => {
                self.is_old_post = is_post && last == *b"HTTP/1.0";
                HeadPlace::name()
            }
            (place, b'\r') => place,
            (_, b'\n') => HeadPlace::name(),
            (
                HeadPlace::RequestLine {
                    length,
                    is_post,
                    mut last,
                },
                letter,
            ) => {
                last.rotate_left(1);
                if let Some(end) = last.last_mut() {
                    *end = letter;
                }
                HeadPlace::RequestLine {
                    length: length + 1,
                    is_post: is_post && b"POST ".get(length).is_none_or(|at| *at == letter),
                    last,
                }
            }
            (HeadPlace::Name(name, length), b':') => match name.get(..length) {
                Some(b"connection") => HeadPlace::words(b'u'),
                Some(b"upgrade") => HeadPlace::words(b'w'),
                Some(b"content-length") => {
                    self.has_length = true;
                    HeadPlace::Rest
                }
                _ => HeadPlace::Rest,
            },
            (HeadPlace::Name(mut name, length), letter) => match name.get_mut(length) {
                Some(next) => {
                    *next = letter.to_ascii_lowercase();
                    HeadPlace::Name(name, length + 1)
                }
                None => HeadPlace::Rest,
            },
            (HeadPlace::Words { forbidden, .. }, b' ' | b'\t' | b',') => {
                HeadPlace::words(forbidden)
            }
            (
                HeadPlace::Words {
                    forbidden,
                    is_start,
                },
                letter,
            ) => {
                if is_start && letter.eq_ignore_ascii_case(&forbidden) {
                    *byte = OVERWRITTEN;
                }
                HeadPlace::Words {
                    forbidden,
                    is_start: false,
                }
            }
            (HeadPlace::Rest, _) => HeadPlace::Rest,
        }
    }
}

impl HeadPlace {
    fn name() -> Self {
        Self::Name([0; LONGEST], 0)
    }

    fn words(forbidden: u8) -> Self {
        Self::Words {
            forbidden,
            is_start: true,
        }
    }
}

impl Default for HeadPlace {
    fn default() -> Self {
        Self::RequestLine {
            length: 0,
            is_post: true,
            last: [0; 8],
        }
    }
}

/// The length of the empty line with which these bytes end; 0 where it began before them.
fn empty_line_at_end(bytes: &[u8]) -> usize {
    match bytes {
        [.., b'\n', b'\r', b'\n'] | [b'\r', b'\n'] => 2,
        [.., b'\n', b'\n'] => 1,
        _ => 0,
    }
}

/// The last bytes of a head that were passed on, in which its end may have begun.
///
/// A head ends with its first empty line, not counting empty lines before its first line. As in the
/// HTTP server, a line feed alone also ends a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastOfHead([u8; 4]);

impl LastOfHead {
    /// Appends these bytes and keeps the last four.
    pub(crate) fn follow(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().skip(bytes.len().saturating_sub(4)) {
            let [_, second, third, fourth] = self.0;
            self.0 = [second, third, fourth, *byte];
        }
    }

    /// The position after the head's end in the next bytes; `None` if the head goes on.
    pub(crate) fn end_in(self, bytes: &[u8]) -> Option<usize> {
        let mut ends = memchr_iter(b'\n', bytes).filter(|at| self.is_end(bytes, *at));
        ends.next().map(|at| at + 1)
    }

    /// Whether the line feed at this position ends an empty line after a line that is not empty.
    fn is_end(self, bytes: &[u8], at: usize) -> bool {
        let [_, second, third, fourth] = self.0;
        let before = match bytes.get(..at) {
            Some([.., first, second, third, fourth]) => [*first, *second, *third, *fourth],
            Some([a, b, c]) => [fourth, *a, *b, *c],
            Some([a, b]) => [third, fourth, *a, *b],
            Some([a]) => [second, third, fourth, *a],
            _ => self.0,
        };
        let ([line @ .., b'\n', b'\r'] | [line @ .., b'\n']) = before.as_slice() else {
            return false;
        };
        !matches!(line, [.., b'\n'] | [.., b'\n', b'\r'])
    }
}

impl Default for LastOfHead {
    fn default() -> Self {
        // empty lines before a head do not end it
        Self([b'\n'; 4])
    }
}

#[cfg(test)]
mod tests;
