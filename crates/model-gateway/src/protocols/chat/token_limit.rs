//! The number of tokens that an answer needs on a server, learned from its answers.

use std::sync::atomic::{AtomicU8, Ordering};

use serde::{Deserialize, Serialize};

use super::code_probabilities::CodeProbabilities;
use super::completion::Completion;
use super::prompt::CodeShape;

/// Most tokens that an answer gets: enough for an empty block of thinking before a code.
pub(super) const MOST_CODE_TOKENS: u8 = 8;

/// The names of the limit in refusals: some servers name another than the one that they were sent.
pub(super) const NAMES: [&str; 3] = ["max_tokens", "max_completion_tokens", "max_output_tokens"];

/// The least limit for servers that refuse smaller ones.
const LEAST_ACCEPTED: u8 = 16;

/// A form of the limit in requests. A server that refuses one is sent the next: each name with as few
/// tokens as are enough, then each with at least [`LEAST_ACCEPTED`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LimitForm(u8);

impl LimitForm {
    /// Number of forms.
    pub(super) const COUNT: u8 = 4;

    /// Whether the limit is called `max_tokens`; otherwise `max_completion_tokens`, which newer
    /// hosted models require.
    pub(super) fn is_max_tokens(self) -> bool {
        self.0.is_multiple_of(2)
    }

    /// The limit to send where `tokens` are enough.
    pub(super) fn at_least(self, tokens: u8) -> u8 {
        match self.0 {
            0 | 1 => tokens,
            _ => tokens.max(LEAST_ACCEPTED),
        }
    }
}

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
    /// The form of the limit that the server has not refused of late.
    form: AtomicU8,
}

impl Default for TokenLimits {
    fn default() -> Self {
        Self {
            decided_by_first: TokenLimit::new(1),
            letter_and_digit: TokenLimit::new(2),
            continued: TokenLimit::new(0),
            form: AtomicU8::new(0),
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

    /// The form to send now.
    pub(super) fn form(&self) -> LimitForm {
        LimitForm(self.form.load(Ordering::Relaxed))
    }

    /// Records that the server refused a limit of this form. After the last form comes the first: what
    /// refuses it may be another server behind the same address.
    pub(super) fn refuses(&self, sent: LimitForm) {
        let next = (sent.0 + 1) % LimitForm::COUNT;
        let order = Ordering::Relaxed;
        // not if another request has learned it already
        let _ = self.form.compare_exchange(sent.0, next, order, order);
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
