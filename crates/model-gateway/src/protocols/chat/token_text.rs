//! The text of an answer as bytes: what may precede a code, and where a code ends.

use super::codes::is_of_word;
use super::completion::TokenPosition;

/// The bytes of all written tokens.
pub(super) fn text_of(positions: &[TokenPosition]) -> Vec<u8> {
    let tokens = positions
        .iter()
        .flat_map(|position| &position.written.bytes);
    tokens.copied().collect()
}

/// Whether a quote, emphasis or a bracket precedes the first word. A model that writes its codes
/// plainly gives such spellings a small probability of their own: they begin another kind of answer.
pub(super) fn is_marked(bytes: &[u8]) -> bool {
    let lead = bytes.len() - without_lead(bytes).len();
    bytes.iter().take(lead).copied().any(is_mark)
}

/// Strips what may precede a code: white space, quotes, emphasis, brackets, special tokens.
pub(super) fn without_lead(mut bytes: &[u8]) -> &[u8] {
    loop {
        if let Some(special) = bytes.strip_prefix(b"<|") {
            let Some(end) = special.windows(2).position(|bytes| bytes == b"|>") else {
                return bytes;
            };
            bytes = special.get(end + 2..).unwrap_or_default();
            continue;
        }
        match bytes.split_first() {
            Some((first, rest)) if is_lead(*first) => bytes = rest,
            Some(_) | None => return bytes,
        }
    }
}

/// Whether a second word follows the first.
pub(super) fn is_sentence(text: &[u8]) -> bool {
    let mut words = text.split(u8::is_ascii_whitespace).skip(1);
    words.any(|word| word.first().copied().is_some_and(is_of_word))
}

/// Number of tokens of a code of `code` bytes, whose first token has `first` bytes; `None` if the
/// answer ends inside the code.
pub(super) fn tokens_of(code: usize, first: usize, rest: &[TokenPosition]) -> Option<usize> {
    let mut bytes = first;
    let mut rest = rest.iter();
    let mut tokens = 1;
    while bytes < code {
        bytes += rest.next()?.written.bytes.len();
        tokens += 1;
    }
    Some(tokens)
}

fn is_lead(byte: u8) -> bool {
    byte.is_ascii_whitespace() || is_mark(byte) || !byte.is_ascii()
}

fn is_mark(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`' | b'*' | b'(' | b'[' | b'{' | b'#')
}
