//! The number of tokens that an answer needs on a server, learned from its answers.

use std::sync::atomic::{AtomicU8, Ordering};

use serde::{Deserialize, Serialize};

use super::code_probabilities::CodeProbabilities;
use super::codes::CodeShape;
use super::completion::Completion;

/// Most tokens that an answer gets: enough for an empty block of thinking before a code.
pub(super) const MOST_CODE_TOKENS: u8 = 8;

/// The least limit for servers that refuse smaller ones.
const LEAST_ACCEPTED: u8 = 16;

/// The most tokens up to a code that a server's answers had so far; 0 if it is not known yet.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TokenLimit(AtomicU8);

impl TokenLimit {
    /// A limit for answers that probably need this many tokens.
    pub(super) fn new(tokens: u8) -> Self {
        Self(AtomicU8::new(tokens))
    }

    /// The limit for the next answer: 1 to [`MOST_CODE_TOKENS`].
    pub(super) fn tokens(&self) -> u8 {
        match self.0.load(Ordering::Relaxed) {
            0 => MOST_CODE_TOKENS,
            known => known,
        }
    }

    /// Raises the limit to what an answer needed.
    pub(super) fn raise(&self, needed: usize) {
        let needed =
            u8::try_from(needed).map_or(MOST_CODE_TOKENS, |needed| needed.min(MOST_CODE_TOKENS));
        self.0.fetch_max(needed, Ordering::Relaxed);
    }
}

/// The limits of a server for each kind of request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct TokenLimits {
    /// For codes of one character, and `yes` and `no`, which their first token tells apart.
    decided_by_first: TokenLimit,
    letter_and_digit: TokenLimit,
    /// For the rest of a code after a given letter.
    pub(super) continued: TokenLimit,
    /// The least limit that the server takes.
    least: AtomicU8,
}

impl Default for TokenLimits {
    fn default() -> Self {
        Self {
            decided_by_first: TokenLimit::new(1),
            letter_and_digit: TokenLimit::new(2),
            continued: TokenLimit::new(0),
            least: AtomicU8::new(1),
        }
    }
}

impl TokenLimits {
    /// The limit for answers with codes of this shape.
    pub(super) fn of(&self, shape: CodeShape) -> &TokenLimit {
        match shape {
            CodeShape::YesNo | CodeShape::Digit | CodeShape::Letter => &self.decided_by_first,
            CodeShape::LetterDigit => &self.letter_and_digit,
        }
    }

    /// The limit to send where `tokens` are enough.
    pub(super) fn accepted(&self, tokens: u8) -> u8 {
        tokens.max(self.least.load(Ordering::Relaxed))
    }

    /// Sends larger limits from now on. Returns `false` if they are large already.
    pub(super) fn raise_least(&self) -> bool {
        self.least.swap(LEAST_ACCEPTED, Ordering::Relaxed) < LEAST_ACCEPTED
    }

    /// Learns from an answer, and from the reading of it.
    pub(super) fn learn(
        &self,
        shape: CodeShape,
        completion: &Completion,
        probabilities: &CodeProbabilities,
    ) {
        let of_code = match shape {
            CodeShape::YesNo | CodeShape::Digit | CodeShape::Letter => Some(1),
            CodeShape::LetterDigit => probabilities.code_tokens,
        };
        if completion.is_thinking {
            self.of(shape).raise(usize::MAX);
        } else if let (true, Some(of_code)) = (probabilities.is_at_code, of_code) {
            self.of(shape).raise(probabilities.tokens_before + of_code);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_grows_with_what_answers_needed_and_never_shrinks() {
        assert_eq!(TokenLimit::new(0).tokens(), MOST_CODE_TOKENS);
        let limit = TokenLimit::new(1);
        for (needed, expected) in [(1, 1), (3, 3), (2, 3), (500, MOST_CODE_TOKENS)] {
            limit.raise(needed);
            assert_eq!(limit.tokens(), expected, "{needed}");
        }
    }
}
