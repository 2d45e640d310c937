//! What a server hides below the probabilities that it shows.
//!
//! A token with a space before it may be shown where its plain twin is not: it has the twin's
//! share as other outcomes show it. Outcomes of which nothing is shown share what is left. No
//! hidden token can be more probable than the least of those shown.

use super::codes::{CODES_PER_LETTER, Piece, Shape};
use super::completion::{Position, Token};
use super::reading::{Reading, codes_of, without_lead};

/// Gives what was not seen at this place its share. The answer came to the place with a
/// probability of `reached`.
pub(super) fn share(
    reading: &mut Reading,
    shape: Shape,
    outcomes: usize,
    position: &Position,
    reached: f64,
) {
    let by_letter = shape == Shape::LetterDigit && reading.letters.iter().any(|share| *share > 0.0);
    let whole_codes = reading.codes.clone();
    let units = if by_letter {
        let letters = outcomes.div_ceil(CODES_PER_LETTER);
        reading.letters.get_mut(..letters)
    } else {
        reading.codes.get_mut(..outcomes)
    };
    let units = units.unwrap_or_default();
    let bounds = Bounds::of(position);
    let twins = if shape == Shape::YesNo {
        // its tokens vary in case too, and the server shows all that matter
        Vec::new()
    } else {
        twins(shape, position, by_letter, bounds)
    };
    let of_twins: f64 = twins.iter().map(|(_, probability)| probability).sum();
    let shrunk = if of_twins > bounds.left {
        bounds.left / of_twins
    } else {
        1.0
    };
    for (unit, probability) in twins {
        if let Some(share) = units.get_mut(unit) {
            *share += reached * shrunk * probability;
        }
    }
    let is_unseen = |unit: usize, share: f64| {
        let first = unit * CODES_PER_LETTER;
        let own = whole_codes
            .iter()
            .skip(first)
            .take(codes_of(unit, outcomes));
        share <= 0.0 && (!by_letter || own.sum::<f64>() <= 0.0)
    };
    let unseen = units.iter_mut().enumerate();
    let unseen = unseen.filter(|(unit, share)| is_unseen(*unit, **share));
    let left = Bounds {
        left: bounds.left - of_twins * shrunk,
        ..bounds
    };
    left.fill(unseen.map(|(_, share)| share).collect(), reached);
}

/// Gives the digits that were not seen their share.
pub(super) fn share_digits(digits: &mut [f64], codes: usize, position: &Position) {
    let unseen = digits.iter_mut().take(codes);
    let unseen = unseen.filter(|share| **share <= 0.0);
    Bounds::of(position).fill(unseen.collect(), 1.0);
}

/// What hidden tokens can have.
#[derive(Clone, Copy)]
struct Bounds {
    /// All together.
    left: f64,
    /// Each.
    least: f64,
}

impl Bounds {
    fn of(position: &Position) -> Self {
        let shown = || shown(position).map(|token| token.probability);
        Self {
            left: (1.0 - shown().sum::<f64>()).max(0.0),
            least: shown().fold(1.0, f64::min),
        }
    }

    fn fill(self, unseen: Vec<&mut f64>, reached: f64) {
        let count = u32::try_from(unseen.len()).unwrap_or(u32::MAX);
        let share = (self.left / f64::from(count.max(1))).min(self.least);
        for slot in unseen {
            *slot = share * reached;
        }
    }
}

/// What is hidden of units of which another token is shown: the unit and how much.
fn twins(shape: Shape, position: &Position, by_letter: bool, bounds: Bounds) -> Vec<(usize, f64)> {
    let mut plain: Vec<(usize, f64)> = Vec::new();
    let mut spaced: Vec<(usize, f64)> = Vec::new();
    for token in shown(position) {
        let bytes = without_lead(&token.bytes);
        let unit = match shape.read(bytes) {
            Some(Piece::First(unit)) if by_letter => unit,
            Some(Piece::Code(unit)) if !by_letter => unit,
            Some(Piece::First(_) | Piece::Code(_)) | None => continue,
        };
        let is_plain = bytes.len() == token.bytes.len();
        let tokens = if is_plain { &mut plain } else { &mut spaced };
        tokens.push((unit, token.probability));
    }
    let both = |(unit, plain): &(usize, f64)| Some((*plain, of(&spaced, *unit)?));
    let both: (f64, f64) = plain
        .iter()
        .filter_map(both)
        .fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
    if both.0 <= 0.0 || both.1 <= 0.0 {
        return Vec::new();
    }
    let ratio = both.1 / both.0;
    let without = |tokens: &[(usize, f64)], others: &[(usize, f64)], ratio: f64| {
        let alone = tokens
            .iter()
            .filter(|(unit, _)| of(others, *unit).is_none());
        let twins = alone.map(|(unit, shown)| (*unit, (shown * ratio).min(bounds.least)));
        twins.collect::<Vec<_>>()
    };
    let mut twins = without(&plain, &spaced, ratio);
    twins.extend(without(&spaced, &plain, 1.0 / ratio));
    twins
}

fn of(tokens: &[(usize, f64)], unit: usize) -> Option<f64> {
    let own = tokens.iter().filter(|(other, _)| *other == unit);
    own.map(|(_, probability)| *probability)
        .reduce(|one, other| one + other)
}

fn shown(position: &Position) -> impl Iterator<Item = &Token> {
    position.others.iter().chain([&position.written])
}
