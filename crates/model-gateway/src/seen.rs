//! What a server showed of the outcomes' probabilities: how far an answer is made of its own
//! numbers. For whoever judges a server; no answer depends on it.

use refract_domain::probability::Probability;

/// What was shown of the outcomes of a call's questions, as far as they were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Outcomes of these questions.
    pub outcomes: usize,
    /// Those that got a number of their own. The others share what was left of the probability,
    /// or have 0 in the protocol `systemone`.
    pub shown: usize,
    /// In the protocol `chat`: how codes were found, of the question with the least on them.
    pub codes: Option<CodesSeen>,
}

/// How the codes of one question were found among the tokens of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodesSeen {
    /// What of the whole probability was on the codes, before it was normalised.
    pub mass: Probability,
    /// Tokens that the answer has before its code: quotes, white space, thinking.
    pub tokens_before: usize,
    /// Tokens that the code is cut into; `None` where the answer begins with no code.
    pub tokens: Option<usize>,
}

impl Seen {
    /// Both, of two questions or requests.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        let codes = self.codes.into_iter().chain(other.codes);
        Self {
            outcomes: self.outcomes + other.outcomes,
            shown: self.shown + other.shown,
            codes: codes.min_by_key(|codes| codes.mass),
        }
    }
}
