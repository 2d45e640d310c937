//! How much of an answer is made of the server's own numbers. It helps to judge a server; no answer
//! depends on it.

use refract_domain::answer::probability::Probability;

/// How many outcomes of the questions asked had a probability that the server sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutcomeCoverage {
    /// Outcomes of all questions that were read.
    pub outcomes: usize,
    /// Outcomes with a probability that the server sent. The others share what was left of the
    /// probability, or have 0 in the protocols `systemone` and `decisions`.
    pub listed: usize,
    /// In the protocol `chat`: how codes were found, for the question with the least probability on
    /// its codes; `unread` is that of the question with the largest unread part.
    pub codes: Option<CodeCoverage>,
}

/// How the codes of one question were found among the tokens of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeCoverage {
    /// Sum of the probabilities read for codes, before they were normalised.
    pub mass: Probability,
    /// Part of the probability on the codes that was split evenly, or estimated, for want of a
    /// reading, from 0 to 1. The answer is off by at most this total variation distance where the
    /// two spellings of a letter, as `B` and ` B`, are followed by digits alike.
    pub unread: Probability,
    /// Tokens before the code: quotes, white space, thinking.
    pub tokens_before: usize,
    /// Tokens that the code is cut into; `None` where the answer begins with no code.
    pub tokens: Option<usize>,
}

impl OutcomeCoverage {
    /// The coverage of two questions or requests together.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        let both = || self.codes.into_iter().chain(other.codes);
        let unread = both().map(|codes| codes.unread).max().unwrap_or_default();
        let codes = both().min_by_key(|codes| codes.mass);
        Self {
            outcomes: self.outcomes + other.outcomes,
            listed: self.listed + other.listed,
            codes: codes.map(|codes| CodeCoverage { unread, ..codes }),
        }
    }
}
