//! Where the heads of requests end in the bytes of a connection.
//!
//! The HTTP server makes a request of every head that it finds at once, at some 7 KB each, and keeps
//! those that wait: of 128 KiB with a thousand small requests it would make 7 MB.

use std::sync::LazyLock;

use memchr::memmem::Finder;

/// What ends a head.
const END: &[u8] = b"\r\n\r\n";
/// Finds ends of heads. Making it takes longer than a search.
static FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(END));

/// The last bytes of those that were let through, in which an end may have begun.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LastBytes([u8; 3]);

impl LastBytes {
    /// Remembers the last of these bytes, which follow those before.
    pub(crate) fn follow(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().skip(bytes.len().saturating_sub(3)) {
            let [_, second, third] = self.0;
            self.0 = [second, third, *byte];
        }
    }

    /// How many of the bytes that follow may be let through, so that at most one head ends in them,
    /// or none where one has ended; and whether one ends.
    pub(crate) fn up_to_second_end(self, bytes: &[u8], has_ended: bool) -> (usize, bool) {
        let mut ends = self
            .end_across(bytes)
            .into_iter()
            .chain(FINDER.find_iter(bytes).map(|at| at + END.len()));
        let first = if has_ended { Some(0) } else { ends.next() };
        match (first, ends.next()) {
            // the end's last byte is held back
            (Some(_), Some(second)) => (second - 1, true),
            (first, _) => (bytes.len(), first.is_some()),
        }
    }

    /// The length of the rest of an end that began in the bytes before.
    fn end_across(self, bytes: &[u8]) -> Option<usize> {
        (1..END.len()).find(|rest| {
            let (begun, missing) = END.split_at(END.len() - rest);
            self.0.ends_with(begun) && bytes.starts_with(missing)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is let through of a text, burst by burst, each of at most `most` bytes.
    fn bursts(text: &str, most: usize) -> Vec<String> {
        let (mut rest, mut last, mut bursts) = (text.as_bytes(), LastBytes::default(), Vec::new());
        while !rest.is_empty() {
            let offered = &rest[..most.min(rest.len())];
            let (through, _) = last.up_to_second_end(offered, false);
            let (burst, left) = rest.split_at(through);
            last.follow(burst);
            bursts.push(String::from_utf8(burst.to_vec()).unwrap());
            rest = left;
        }
        bursts
    }

    #[test]
    fn one_head_ends_in_each_burst() {
        assert_eq!(
            bursts("a\r\n\r\nb\r\n\r\nc\r\n\r\nd", 100),
            ["a\r\n\r\nb\r\n\r", "\nc\r\n\r", "\nd"]
        );
        assert_eq!(bursts("a\r\nb: c\r\n\r\n{}", 100).len(), 1);
        assert_eq!(bursts(&"\r\n".repeat(6), 100).concat(), "\r\n".repeat(6));
    }

    #[test]
    fn an_end_that_is_cut_anywhere_is_found() {
        let text = "a\r\n\r\nb\r\n\r\nc\r\n\r\n";
        for most in 1..text.len() {
            let bursts = bursts(text, most);
            assert_eq!(bursts.concat(), text);
            let mut so_far = String::new();
            for burst in bursts {
                let before = so_far.matches("\r\n\r\n").count();
                so_far.push_str(&burst);
                let ends = so_far.matches("\r\n\r\n").count() - before;
                assert!(ends <= 1, "{most}: {burst:?}");
            }
        }
    }

    #[test]
    fn after_an_end_none_is_let_through() {
        let last = LastBytes::default();
        assert_eq!(last.up_to_second_end(b"b\r\n\r\n", true), (4, true));
        assert_eq!(last.up_to_second_end(b"{\"a\":1}", true), (7, true));
    }
}
