//! Estimates the probability of tokens that the server did not list.
//!
//! A server lists the most probable alternatives only. A code may stand in two tokens, plain and
//! with a space before it, of which one is listed: the other one gets its probability from the
//! ratio between both that other codes show. Codes of which no token is listed share what is left.
//! No unlisted token is given more than the least probable listed one.

use super::code_probabilities::CodeProbabilities;
use super::codes::{CODES_PER_LETTER, CodePiece, CodeShape, codes_of};
use super::completion::{AnswerToken, TokenPosition};
use super::token_text::without_lead;

/// A unit, which is a whole code or a first letter, with a probability.
#[derive(Clone, Copy)]
struct UnitProbability {
    unit: usize,
    probability: f64,
}

/// Fills in the codes, or first letters, that the server did not list at a position. The answer
/// reached the position with a probability of `reached`.
pub(super) fn fill_codes(
    probabilities: &mut CodeProbabilities,
    shape: CodeShape,
    position: &TokenPosition,
    reached: f64,
) {
    let outcomes = probabilities.outcomes;
    let has_letters = probabilities.letters.iter().any(|share| *share > 0.0);
    let by_letter = shape == CodeShape::LetterDigit && has_letters;
    let whole_codes = probabilities.codes.clone();
    let units = if by_letter {
        let letters = outcomes.div_ceil(CODES_PER_LETTER);
        probabilities.letters.get_mut(..letters)
    } else {
        probabilities.codes.get_mut(..outcomes)
    };
    let units = units.unwrap_or_default();
    let bounds = UnlistedBounds::of(position);
    let twins = if shape == CodeShape::YesNo {
        // tokens of yes and no also differ in case, and servers list all that matter
        Vec::new()
    } else {
        unlisted_twins(shape, position, by_letter, bounds)
    };
    let of_twins: f64 = twins.iter().map(|twin| twin.probability).sum();
    let shrunk = if of_twins > bounds.left {
        bounds.left / of_twins
    } else {
        1.0
    };
    for twin in twins {
        if let Some(share) = units.get_mut(twin.unit) {
            *share += reached * shrunk * twin.probability;
        }
    }
    let is_unlisted = |unit: usize, share: f64| {
        let first = unit * CODES_PER_LETTER;
        let own = whole_codes
            .iter()
            .skip(first)
            .take(codes_of(unit, outcomes));
        share <= 0.0 && (!by_letter || own.sum::<f64>() <= 0.0)
    };
    let unlisted = units.iter_mut().enumerate();
    let unlisted = unlisted.filter(|(unit, share)| is_unlisted(*unit, **share));
    let left = UnlistedBounds {
        left: bounds.left - of_twins * shrunk,
        ..bounds
    };
    left.fill(unlisted.map(|(_, share)| share).collect(), reached);
}

/// Fills in the digits of the first `codes` codes that the server did not list at a position.
pub(super) fn fill_digits(digits: &mut [f64], codes: usize, position: &TokenPosition) {
    let unlisted = digits.iter_mut().take(codes);
    let unlisted = unlisted.filter(|share| **share <= 0.0);
    UnlistedBounds::of(position).fill(unlisted.collect(), 1.0);
}

/// Bounds of the probability of unlisted tokens at a position.
#[derive(Clone, Copy)]
struct UnlistedBounds {
    /// Bound for all unlisted tokens together.
    left: f64,
    /// Bound for each unlisted token.
    least: f64,
}

impl UnlistedBounds {
    fn of(position: &TokenPosition) -> Self {
        let listed = || listed(position).map(|token| token.probability);
        Self {
            left: (1.0 - listed().sum::<f64>()).max(0.0),
            least: listed().fold(1.0, f64::min),
        }
    }

    fn fill(self, unlisted: Vec<&mut f64>, reached: f64) {
        let count = u32::try_from(unlisted.len()).unwrap_or(u32::MAX);
        let share = (self.left / f64::from(count.max(1))).min(self.least);
        for slot in unlisted {
            *slot = share * reached;
        }
    }
}

/// Estimated probabilities of the unlisted twins of listed tokens. Two tokens are twins when one is
/// the other with a space, or another mark that may stand before a code, in front.
fn unlisted_twins(
    shape: CodeShape,
    position: &TokenPosition,
    by_letter: bool,
    bounds: UnlistedBounds,
) -> Vec<UnitProbability> {
    let mut plain: Vec<UnitProbability> = Vec::new();
    let mut spaced: Vec<UnitProbability> = Vec::new();
    for token in listed(position) {
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
