//! Estimates the probability of tokens that the server did not list.
//!
//! A server lists only the most probable alternatives. A code may be spelled by two tokens, plain
//! and after a space. If only one of them is listed, the other's probability is estimated from the
//! ratio of the two in other codes. Codes without a listed token share the remaining probability.
//! No unlisted token gets more than the least probable listed one. If the request named the tokens
//! to list, it named all that spell codes, and nothing is estimated.

use super::code_probabilities::CodeProbabilities;
use super::completion::{AnswerToken, TokenPosition};
use super::prompt::{CODES_PER_LETTER, CodePiece, CodeShape, codes_of};
use super::written_answer::{is_marked, without_lead};

/// The tokens that usually spell `yes` and `no`.
const SPELLINGS: [&str; 12] = [
    "yes", "Yes", "YES", " yes", " Yes", " YES", "no", "No", "NO", " no", " No", " NO",
];

/// A unit, that is a whole code or a first letter, with a probability.
#[derive(Clone, Copy)]
struct UnitProbability {
    unit: usize,
    probability: f64,
}

/// A unit without a listed token, and its number of codes.
struct UnlistedUnit {
    unit: usize,
    codes: usize,
}

/// Estimates the codes or first letters that the server did not list at a position. `reached` is
/// the probability that the answer reached the position.
pub(super) fn fill_codes(
    probabilities: &mut CodeProbabilities,
    shape: CodeShape,
    position: &TokenPosition,
    reached: f64,
) {
    let outcomes = probabilities.outcomes;
    let by_letter = shape == CodeShape::LetterDigit && !probabilities.first_tokens.is_empty();
    let whole_codes: Vec<f64> = probabilities.codes.iter().copied().take(outcomes).collect();
    let letters = outcomes.div_ceil(CODES_PER_LETTER);
    let units = if by_letter {
        let mut shares = probabilities.letter_shares();
        shares.truncate(letters);
        shares
    } else {
        whole_codes.clone()
    };
    let bounds = UnlistedBounds::of(position);
    let mut estimates = if shape == CodeShape::YesNo {
        // tokens of yes and no also differ in case, and servers list all that matter
        Vec::new()
    } else {
        unlisted_twins(shape, position, by_letter, bounds)
    };
    let of_twins: f64 = estimates.iter().map(|twin| twin.probability).sum();
    let shrunk = if of_twins > bounds.left {
        bounds.left / of_twins
    } else {
        1.0
    };
    for twin in &mut estimates {
        twin.probability *= shrunk;
    }
    let is_unlisted = |unit: usize, share: f64| {
        let own = whole_codes.iter().skip(unit * CODES_PER_LETTER);
        let own = own.take(codes_of(unit, outcomes));
        share <= 0.0 && (!by_letter || own.sum::<f64>() <= 0.0)
    };
    let unlisted = units.iter().copied().enumerate();
    let unlisted = unlisted.filter(|(unit, share)| is_unlisted(*unit, *share));
    let unlisted = unlisted.map(|(unit, _)| UnlistedUnit {
        unit,
        codes: if by_letter {
            codes_of(unit, outcomes)
        } else {
            1
        },
    });
    let unlisted: Vec<UnlistedUnit> = unlisted.collect();
    // if some codes are one token, all may be
    let without_token = whole_codes.iter().filter(|code| **code <= 0.0).count();
    let hidden_tokens = if by_letter && without_token == outcomes {
        unlisted.len()
    } else {
        without_token
    };
    let left = UnlistedBounds {
        left: bounds.left - of_twins * shrunk,
        ..bounds
    };
    estimates.extend(left.shared(&unlisted));
    for UnitProbability { unit, probability } in estimates {
        let piece = if by_letter {
            CodePiece::First(unit)
        } else {
            CodePiece::Code(unit)
        };
        let is_outcome = unit < units.len();
        if is_outcome {
            probabilities.add_estimate(piece, reached * probability);
        }
    }
    probabilities.hidden = bounds.of_tokens(hidden_tokens) * reached;
    if shape == CodeShape::YesNo {
        let is_listed =
            |spelling: &&str| listed(position).any(|token| *token.bytes == *spelling.as_bytes());
        let unlisted = SPELLINGS.iter().filter(|spelling| !is_listed(spelling));
        probabilities.hidden_spellings = bounds.of_tokens(unlisted.count()) * reached;
    }
}

/// Estimates the unlisted ones of the first `codes` digits at a position. Returns the sum of the
/// estimates.
pub(super) fn fill_digits(digits: &mut [f64], codes: usize, position: &TokenPosition) -> f64 {
    let unlisted = digits.iter().enumerate().take(codes);
    let unlisted = unlisted.filter(|(_, share)| **share <= 0.0);
    let unlisted: Vec<UnlistedUnit> = unlisted
        .map(|(unit, _)| UnlistedUnit { unit, codes: 1 })
        .collect();
    let mut filled = 0.0;
    for digit in UnlistedBounds::of(position).shared(&unlisted) {
        if let Some(share) = digits.get_mut(digit.unit) {
            *share = digit.probability;
            filled += digit.probability;
        }
    }
    filled
}

/// Upper bounds on the probability of unlisted tokens at a position.
#[derive(Clone, Copy)]
struct UnlistedBounds {
    /// Bound for all unlisted tokens together.
    left: f64,
    /// Bound for each unlisted token.
    least: f64,
}

impl UnlistedBounds {
    fn of(position: &TokenPosition) -> Self {
        if position.is_selection {
            return Self {
                left: 0.0,
                least: 0.0,
            };
        }
        let listed = || listed(position).map(|token| token.probability);
        Self {
            left: (1.0 - listed().sum::<f64>()).max(0.0),
            least: listed().fold(1.0, f64::min),
        }
    }

    /// Bound for this many unlisted tokens together.
    fn of_tokens(self, count: usize) -> f64 {
        let count = f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        (count * self.least).min(self.left)
    }

    /// Gives each code of these units an even part of the remaining probability.
    fn shared(self, unlisted: &[UnlistedUnit]) -> Vec<UnitProbability> {
        let codes = |unit: &UnlistedUnit| f64::from(u32::try_from(unit.codes).unwrap_or(1));
        let all: f64 = unlisted.iter().map(codes).sum();
        let shares = unlisted.iter().map(|unlisted| UnitProbability {
            unit: unlisted.unit,
            probability: (self.left * codes(unlisted) / all).min(self.least),
        });
        shares.collect()
    }
}

/// Estimates the unlisted twins of listed tokens. Two tokens are twins if they differ only by white
/// space at the beginning.
fn unlisted_twins(
    shape: CodeShape,
    position: &TokenPosition,
    by_letter: bool,
    bounds: UnlistedBounds,
) -> Vec<UnitProbability> {
    let mut plain: Vec<UnitProbability> = Vec::new();
    let mut spaced: Vec<UnitProbability> = Vec::new();
    for token in listed(position) {
        if is_marked(&token.bytes) {
            continue;
        }
        let bytes = without_lead(&token.bytes);
        let unit = match shape.read(bytes) {
            Some(CodePiece::First(unit)) if by_letter => unit,
            Some(CodePiece::Code(unit)) if !by_letter => unit,
            Some(CodePiece::First(_) | CodePiece::Code(_)) | None => continue,
        };
        let is_plain = bytes.len() == token.bytes.len();
        let tokens = if is_plain { &mut plain } else { &mut spaced };
        let probability = token.probability;
        tokens.push(UnitProbability { unit, probability });
    }
    let (mut plain_of_both, mut spaced_of_both) = (0.0, 0.0);
    for token in &plain {
        if let Some(spaced) = probability_of(&spaced, token.unit) {
            plain_of_both += token.probability;
            spaced_of_both += spaced;
        }
    }
    if plain_of_both <= 0.0 || spaced_of_both <= 0.0 {
        return Vec::new();
    }
    let ratio = spaced_of_both / plain_of_both;
    let without_twin = |tokens: &[UnitProbability], others: &[UnitProbability], ratio: f64| {
        let single = tokens
            .iter()
            .filter(|token| probability_of(others, token.unit).is_none());
        let twins = single.map(|token| UnitProbability {
            unit: token.unit,
            probability: (token.probability * ratio).min(bounds.least),
        });
        twins.collect::<Vec<_>>()
    };
    let mut twins = without_twin(&plain, &spaced, ratio);
    twins.extend(without_twin(&spaced, &plain, 1.0 / ratio));
    twins
}

fn probability_of(tokens: &[UnitProbability], unit: usize) -> Option<f64> {
    let own = tokens.iter().filter(|token| token.unit == unit);
    own.map(|token| token.probability)
        .reduce(|one, other| one + other)
}

fn listed(position: &TokenPosition) -> impl Iterator<Item = &AnswerToken> {
    position.others.iter().chain([&position.written])
}
