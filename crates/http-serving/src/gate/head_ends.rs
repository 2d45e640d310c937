//! Finds the ends of request heads in the bytes of a connection.
//!
//! The HTTP server parses every head in its buffer at once, at some 7 KB each, and queues the
//! requests: 128 KiB with a thousand small requests would become 7 MB.

use memchr::memchr_iter;

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
mod tests {
    use super::*;

    /// The heads of a text that arrives in pieces of this length.
    fn heads(text: &str, piece: usize) -> Vec<String> {
        let (mut rest, mut last) = (text.as_bytes(), LastOfHead::default());
        let (mut heads, mut head) = (Vec::new(), Vec::new());
        while !rest.is_empty() {
            let offered = &rest[..piece.min(rest.len())];
            let end = last.end_in(offered);
            let (through, left) = rest.split_at(end.unwrap_or(offered.len()));
            last.follow(through);
            head.extend_from_slice(through);
            if end.is_some() {
                heads.push(String::from_utf8(std::mem::take(&mut head)).unwrap());
                last = LastOfHead::default();
            }
            rest = left;
        }
        heads.push(String::from_utf8(head).unwrap());
        heads
    }

    #[test]
    fn a_head_ends_with_its_first_empty_line_however_it_is_cut() {
        for end in ["\r\n\r\n", "\n\n", "\r\n\n", "\n\r\n"] {
            let (first, second) = (format!("a\r\nb: c{end}"), format!("d\ne: f{end}"));
            let text = format!("{first}{second}g\r\n");
            for piece in 1..=text.len() {
                assert_eq!(
                    heads(&text, piece),
                    [first.as_str(), &second, "g\r\n"],
                    "{piece}"
                );
            }
        }
    }

    #[test]
    fn empty_lines_before_a_head_end_nothing() {
        for line in ["\n", "\r\n"] {
            let empty = line.repeat(100);
            for piece in 1..9 {
                assert_eq!(heads(&empty, piece), [empty.as_str()]);
                let text = format!("{empty}a\n\n");
                assert_eq!(heads(&text, piece), [text.as_str(), ""]);
            }
        }
    }
}
