//! How probable each code of a question is, as far as an answer shows it.

use refract_domain::probability::Probability;

use super::codes::{CODES_PER_LETTER, CodePiece, CodeShape, codes_of};
use crate::coverage::{CodeCoverage, OutcomeCoverage};

/// Probabilities of codes, not yet normalised.
pub(super) struct CodeProbabilities {
    /// Outcomes of the question; codes beyond them stand for no outcome.
    pub(super) outcomes: usize,
    /// Probability of each code of the shape, as far as it is known.
    pub(super) codes: Vec<f64>,
    /// Probability of each first letter whose codes are not told apart yet.
    pub(super) letters: Vec<f64>,
    /// Place of the well-formed code that the model wrote.
    pub(super) written: Option<usize>,
    /// Sum of the probabilities that the server listed for codes of the question.
    pub(super) mass: f64,
    /// Outcomes whose own probability the server listed.
    pub(super) listed: usize,
    /// Tokens before the code.
    pub(super) tokens_before: usize,
    /// Tokens of the code that the model wrote.
    pub(super) code_tokens: Option<usize>,
}

impl CodeProbabilities {
    /// Probabilities of 0 for a question with this many outcomes.
    pub(super) fn new(shape: CodeShape, outcomes: usize) -> Self {
        Self {
            outcomes,
            codes: vec![0.0; shape.codes()],
            letters: vec![0.0; shape.codes().div_ceil(CODES_PER_LETTER)],
            written: None,
            mass: 0.0,
            listed: 0,
            tokens_before: 0,
            code_tokens: None,
        }
    }

    pub(super) fn add(&mut self, piece: CodePiece, probability: f64) {
        let slot = match piece {
            CodePiece::Code(place) => self.codes.get_mut(place),
            CodePiece::First(place) => self.letters.get_mut(place),
        };
        if let Some(slot) = slot {
            *slot += probability;
        }
    }

    /// Splits the probability of a letter among its codes, by the probabilities of their digits.
    pub(super) fn resolve(&mut self, letter: usize, digits: &[f64]) {
        let Some(share) = self.letters.get_mut(letter).map(std::mem::take) else {
            return;
        };
        for (digit, probability) in digits.iter().enumerate() {
            let code = CodePiece::Code(letter * CODES_PER_LETTER + digit);
            self.add(code, share * probability);
        }
    }

    /// Sum of the probabilities of the question's codes so far.
    pub(super) fn sum(&self) -> f64 {
        let letters = self.outcomes.div_ceil(CODES_PER_LETTER);
        let codes: f64 = self.codes.iter().take(self.outcomes).sum();
        codes + self.letters.iter().take(letters).sum::<f64>()
    }

    /// Outcomes whose code has a probability so far, as a whole or as the only code of its letter.
    pub(super) fn outcomes_with_probability(&self) -> usize {
        let codes = self.codes.iter().take(self.outcomes).copied();
        let letters = self.letters.iter().copied().enumerate();
        let single = letters.filter(|(letter, _)| codes_of(*letter, self.outcomes) == 1);
        codes
            .chain(single.map(|(_, probability)| probability))
            .filter(|probability| *probability > 0.0)
            .count()
    }

    /// How much of the outcomes' probabilities the server listed.
    pub(super) fn coverage(&self) -> OutcomeCoverage {
        let mass = Probability::from_f64(self.mass.clamp(0.0, 1.0));
        let codes = CodeCoverage {
            mass: mass.unwrap_or_default(),
            tokens_before: self.tokens_before,
            tokens: self.code_tokens,
        };
        OutcomeCoverage {
            outcomes: self.outcomes,
            listed: self.listed.min(self.outcomes),
            codes: Some(codes),
        }
    }
}
