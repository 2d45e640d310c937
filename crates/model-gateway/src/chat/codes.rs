//! Codes that stand for outcomes: what the model is asked to write, and what it wrote.
//!
//! A code's place among all codes of its shape is the outcome's place in the question; for Yes /
//! No, `yes` comes first.

use refract_domain::question::{Question, QuestionKind};

/// Choices of more outcomes have codes of two characters.
const MOST_LETTERS: usize = 20;
/// Codes that begin with one letter, in the shape of two characters.
pub(crate) const CODES_PER_LETTER: usize = 10;

/// The shape that all codes of a question have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `yes` and `no`.
    YesNo,
    /// `0` to `9`.
    Digit,
    /// `A` to `Z`.
    Letter,
    /// `A0`, `A1`, … `Z9`.
    LetterDigit,
}

/// What a token says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A whole code, by its place.
    Code(usize),
    /// The letter that ten codes of two characters begin with, by its place in the alphabet.
    First(usize),
}

impl Shape {
    pub(crate) fn of(question: &Question) -> Self {
        match question.kind {
            QuestionKind::YesNo => Self::YesNo,
            QuestionKind::Scale { .. } => Self::Digit,
            QuestionKind::Choice { .. } if question.outcomes().count() <= MOST_LETTERS => {
                Self::Letter
            }
            QuestionKind::Choice { .. } => Self::LetterDigit,
        }
    }

    /// How many codes there are of this shape.
    pub(crate) fn codes(self) -> usize {
        match self {
            Self::YesNo => 2,
            Self::Digit => 10,
            Self::Letter => 26,
            Self::LetterDigit => 26 * CODES_PER_LETTER,
        }
    }

    /// The code at a place.
    pub(crate) fn code(self, place: usize) -> String {
        match self {
            Self::YesNo => if place == 0 { "yes" } else { "no" }.to_owned(),
            Self::Digit => place.to_string(),
            Self::Letter => letter(place).to_string(),
            Self::LetterDigit => format!(
                "{}{}",
                letter(place / CODES_PER_LETTER),
                place % CODES_PER_LETTER
            ),
        }
    }

    /// What a token says that begins here; `None` where it begins no code.
    pub(crate) fn read(self, token: &[u8]) -> Option<Piece> {
        let end = (0..token.len()).find(|at| !goes_on(token, *at));
        let word = token.get(..end.unwrap_or(token.len()))?;
        match (self, word) {
            (Self::YesNo, _) => yes_no(word).map(Piece::Code),
            (Self::Digit, [digit]) => place(*digit, b'0'..=b'9').map(Piece::Code),
            (Self::Letter, [letter]) => place(*letter, b'A'..=b'Z').map(Piece::Code),
            (Self::LetterDigit, [letter]) => place(*letter, b'A'..=b'Z').map(Piece::First),
            (Self::LetterDigit, [letter, digit]) => {
                let letter = place(*letter, b'A'..=b'Z')?;
                let digit = place(*digit, b'0'..=b'9')?;
                Some(Piece::Code(letter * CODES_PER_LETTER + digit))
            }
            (Self::Digit | Self::Letter | Self::LetterDigit, _) => None,
        }
    }
}

/// The capital letter at a place of the alphabet.
pub(crate) fn letter(place: usize) -> char {
    ('A'..='Z').nth(place).unwrap_or('Z')
}

/// Whether a byte continues a word, so that what ends before it is not a code by itself.
pub(crate) fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii() || byte == b'_'
}

/// Whether a word goes on at this byte; an apostrophe is part of it inside it alone.
fn goes_on(token: &[u8], at: usize) -> bool {
    match token.get(at) {
        Some(b'\'') => token.get(at + 1).copied().is_some_and(is_of_word),
        Some(byte) => is_of_word(*byte),
        None => false,
    }
}

/// Also where a tokenizer cuts the word: what can only go on to one of the two is that one.
fn yes_no(word: &[u8]) -> Option<usize> {
    let word = word.to_ascii_lowercase();
    match word.as_slice() {
        b"yes" | b"ye" | b"y" => Some(0),
        b"no" | b"n" => Some(1),
        _ => None,
    }
}

fn place(byte: u8, range: std::ops::RangeInclusive<u8>) -> Option<usize> {
    range
        .contains(&byte)
        .then(|| usize::from(byte - *range.start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_read_as_its_own_place() {
        for shape in [
            Shape::YesNo,
            Shape::Digit,
            Shape::Letter,
            Shape::LetterDigit,
        ] {
            for place in 0..shape.codes() {
                let code = shape.code(place);
                for token in [code.clone(), format!("{code})"), format!("{code}'")] {
                    assert_eq!(
                        shape.read(token.as_bytes()),
                        Some(Piece::Code(place)),
                        "{token}"
                    );
                }
            }
        }
        assert_eq!(Shape::LetterDigit.code(254), "Z4");
    }

    #[test]
    fn words_are_no_codes() {
        for (shape, token) in [
            (Shape::YesNo, "not"),
            (Shape::YesNo, "yesterday"),
            (Shape::Digit, "10"),
            (Shape::Digit, "A"),
            (Shape::Letter, "a"),
            (Shape::Letter, "I'm"),
            (Shape::Letter, "A0"),
            (Shape::Letter, "É"),
            (Shape::LetterDigit, "A12"),
            (Shape::LetterDigit, "AB"),
            (Shape::LetterDigit, ""),
        ] {
            assert_eq!(shape.read(token.as_bytes()), None, "{token}");
        }
        assert_eq!(Shape::YesNo.read(b"YES."), Some(Piece::Code(0)));
        assert_eq!(Shape::LetterDigit.read(b"B"), Some(Piece::First(1)));
    }
}
