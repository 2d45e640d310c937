//! Tokens that begin codes of two characters.

use super::codes::letter;
use super::token_text::without_lead;

/// A token that begins codes of two characters: a letter, possibly after characters that may
/// precede a code. Tokens of one letter, such as `B` and ` B`, may be followed by different digits.
pub(super) struct FirstToken {
    pub(super) letter: usize,
    pub(super) token: Vec<u8>,
    /// Total probability of the token's codes until they are resolved.
    pub(super) probability: f64,
}

impl FirstToken {
    /// The token as the beginning of a message, such as ` B` for a letter after a space.
    pub(super) fn spelling(&self) -> String {
        let letter = letter(self.letter).to_string();
        // a special token is not text, so no message can begin with it
        let is_text =
            without_lead(&self.token) == letter.as_bytes() && !self.token.starts_with(b"<|");
        let spelled = is_text.then(|| String::from_utf8(self.token.clone()).ok());
        spelled.flatten().unwrap_or(letter)
    }
}
