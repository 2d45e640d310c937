//! Probabilities of digits after the letter of a two-character code.

use super::code_probabilities::DigitProbabilities;
use super::codes::{CODES_PER_LETTER, CodePiece, CodeShape, is_of_word, letter};
use super::completion::{AnswerToken, TokenPosition};
use super::thinking::after_thinking;
use super::token_text::{is_marked, text_of, without_lead};
use super::unlisted;

/// Digits after a letter, and the number of the answer's tokens up to them.
pub(super) struct FoundDigits {
    pub(super) digits: DigitProbabilities,
    pub(super) tokens: usize,
}

/// Reads an answer that continues after the letter, or repeats the letter first. `None` for an
/// answer that does neither, such as a new beginning.
///
/// A letter may also begin a word, and that word may be more probable than every code: then the
/// digits are among the alternatives to it.
pub(super) fn digits_after(
    place: usize,
    codes: usize,
    positions: &[TokenPosition],
) -> Option<FoundDigits> {
    digits_in_text(place, codes, positions).or_else(|| {
        let first = positions.first()?;
        continues_a_letter(first).then(|| FoundDigits {
            digits: digits_at(first, b"", codes),
            tokens: 1,
        })
    })
}

/// Whether the tokens at a position follow a letter: digits are more probable than the letters at
/// the beginning of an answer.
fn continues_a_letter(position: &TokenPosition) -> bool {
    let all = || position.others.iter().chain([&position.written]);
    let sum = |shape: CodeShape| -> f64 {
        let read = all().filter(|token| {
            let piece = shape.read(without_lead(&token.bytes));
            piece.is_some() && !is_marked(&token.bytes)
        });
        read.map(|token| token.probability).sum()
    };
    sum(CodeShape::Digit) > sum(CodeShape::LetterDigit)
}

/// Reads the digits at the place in the written text where one follows the letter.
fn digits_in_text(place: usize, codes: usize, positions: &[TokenPosition]) -> Option<FoundDigits> {
    let letter = letter(place);
    let text = text_of(positions);
    let begin = after_thinking(&text)?;
    let rest = without_lead(text.get(begin..)?);
    let at = if rest.first()?.is_ascii_digit() {
        text.len() - rest.len()
    } else {
        let pairs = text.windows(2).enumerate().skip(begin);
        let mut codes = pairs.filter(|(at, pair)| {
            let before = at.checked_sub(1).and_then(|before| text.get(before));
            pair.first().copied().map(char::from) == Some(letter)
                && pair.last().is_some_and(u8::is_ascii_digit)
                && !before.copied().is_some_and(is_of_word)
        });
        codes.next()?.0 + 1
    };
    if text.get(at + 1).copied().is_some_and(is_of_word) {
        return None;
    }
    let mut start = 0;
    for (index, position) in positions.iter().enumerate() {
        let end = start + position.written.bytes.len();
        if at < end {
            let before = position.written.bytes.get(..at - start)?;
            return Some(FoundDigits {
                digits: digits_at(position, before, codes),
                tokens: index + 1,
            });
        }
        start = end;
    }
    None
}

/// Reads the digits among all tokens at a position, after the bytes `before` if a token begins with
/// them.
pub(super) fn digits_at(
    position: &TokenPosition,
    before: &[u8],
    codes: usize,
) -> DigitProbabilities {
    let mut probabilities = vec![0.0; CODES_PER_LETTER];
    let mut add = |token: &AnswerToken| {
        let bytes = token.bytes.strip_prefix(before).unwrap_or(&token.bytes);
        if !is_marked(bytes)
            && let Some(CodePiece::Code(digit)) = CodeShape::Digit.read(without_lead(bytes))
            && let Some(slot) = probabilities.get_mut(digit)
        {
            *slot += token.probability;
        }
    };
    add(&position.written);
    position.others.iter().for_each(add);
    let listed = probabilities
        .iter()
        .take(codes)
        .filter(|probability| **probability > 0.0)
        .count();
    let estimated = unlisted::fill_digits(&mut probabilities, codes, position);
    DigitProbabilities {
        probabilities,
        listed,
        estimated,
    }
}
