//! How much of an answer consists of the server's own numbers. Coverage helps to judge a server; no
//! answer depends on it.

use refract_domain::answer::probability::Probability;

/// How many outcomes of the asked questions had a probability from the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParsedOutcomes {
    /// Number of outcomes of all questions that were read.
    pub outcomes: usize,
    /// Number of outcomes with a probability from the server. The others share the remaining
    /// probability; in the protocols `systemone`, `decisions` and `gemini` they have 0.
    pub listed: usize,
    /// Only in the protocol `chat`: how the codes of a question were found. The question is the one
    /// with the least probability on its codes, except for `unread`, which is the largest of all
    /// questions.
    pub codes: Option<ParsedCodes>,
}

/// How the codes of one question were found among the tokens of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedCodes {
    /// Sum of the probabilities read for codes, before normalisation.
    pub mass: Probability,
    /// Share of the codes' probability, from 0 to 1, that was not read but estimated or split
    /// evenly. The answer's total variation distance from the exact one is at most this, provided
    /// that both spellings of a letter, as `B` and ` B`, are followed by the same digits.
    pub unread: Probability,
    /// Number of tokens before the code: quotes, white space, thinking.
    pub tokens_before: usize,
    /// Number of tokens of the code; `None` if the answer does not begin with a code.
    pub tokens: Option<usize>,
}

impl ParsedOutcomes {
    /// The combined coverage of two questions or requests.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        let both = || self.codes.into_iter().chain(other.codes);
        let unread = both().map(|codes| codes.unread).max().unwrap_or_default();
        let codes = both().min_by_key(|codes| codes.mass);
        Self {
            outcomes: self.outcomes + other.outcomes,
            listed: self.listed + other.listed,
            codes: codes.map(|codes| ParsedCodes { unread, ..codes }),
        }
    }
}
