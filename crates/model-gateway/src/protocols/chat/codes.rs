//! Codes that stand for outcomes. The model is asked to write one of them.
//!
//! A code and its outcome have the same index: among all codes of the shape, and among the
//! question's outcomes. In a Yes / No question, `yes` comes first.

use refract_domain::prism::{Question, QuestionKind};

/// A Choice question with more outcomes than this has codes of two characters.
const MOST_LETTERS: usize = 20;
/// Number of two-character codes with the same letter.
pub(crate) const CODES_PER_LETTER: usize = 10;

/// The shape that all codes of a question have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CodeShape {
    /// `yes` and `no`.
    YesNo,
    /// `0` to `9`.
    Digit,
    /// `A` to `Z`.
    Letter,
    /// `A0`, `A1`, … `Z9`.
    LetterDigit,
}

/// What a token spells at its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CodePiece {
    /// A whole code, by its index.
    Code(usize),
    /// The first letter of ten two-character codes, by its index in the alphabet.
    First(usize),
}

impl CodeShape {
    /// All shapes.
    pub(crate) const ALL: [Self; 4] = [Self::YesNo, Self::Digit, Self::Letter, Self::LetterDigit];

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

    /// Number of outcomes of a question whose codes have this shape.
    pub(crate) fn outcomes(self, question: &Question) -> usize {
        match self {
            Self::YesNo => self.codes(),
            Self::Digit | Self::Letter | Self::LetterDigit => question.outcomes().count(),
        }
    }

    /// Number of codes of this shape.
    pub(crate) fn codes(self) -> usize {
        match self {
            Self::YesNo => 2,
            Self::Digit => 10,
            Self::Letter => 26,
            Self::LetterDigit => 26 * CODES_PER_LETTER,
        }
    }

    /// The code at an index.
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

    /// Whether a token begins with `yes` or `no` as a whole word; `true` for other shapes.
    pub(crate) fn is_whole_word(self, token: &[u8]) -> bool {
        let is_word = |word: &str| first_word(token).eq_ignore_ascii_case(word.as_bytes());
        self != Self::YesNo || is_word("yes") || is_word("no")
    }

    /// The code, or first letter of a code, at the beginning of a token.
    pub(crate) fn read(self, token: &[u8]) -> Option<CodePiece> {
        let word = first_word(token);
        match (self, word) {
            (Self::YesNo, _) => yes_no(word).map(CodePiece::Code),
            (Self::Digit, [digit]) => place(*digit, b'0'..=b'9').map(CodePiece::Code),
            (Self::Letter, [letter]) => place(*letter, b'A'..=b'Z').map(CodePiece::Code),
            (Self::LetterDigit, [letter]) => place(*letter, b'A'..=b'Z').map(CodePiece::First),
            (Self::LetterDigit, [letter, digit]) => {
                let letter = place(*letter, b'A'..=b'Z')?;
                let digit = place(*digit, b'0'..=b'9')?;
                Some(CodePiece::Code(letter * CODES_PER_LETTER + digit))
            }
            (Self::Digit | Self::Letter | Self::LetterDigit, _) => None,
        }
    }
}

/// The capital letter at an index of the alphabet.
pub(crate) fn letter(place: usize) -> char {
    ('A'..='Z').nth(place).unwrap_or('Z')
}

/// Whether a byte continues a word: then the letters before it are not a code.
pub(crate) fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii() || byte == b'_'
}

/// The word at the beginning of a token.
fn first_word(token: &[u8]) -> &[u8] {
    let end = (0..token.len()).find(|at| !goes_on(token, *at));
    token.get(..end.unwrap_or(token.len())).unwrap_or(token)
}

/// Whether a word continues at this byte. An apostrophe belongs to a word only between two letters.
fn goes_on(token: &[u8], at: usize) -> bool {
    match token.get(at) {
        Some(b'\'') => token.get(at + 1).copied().is_some_and(is_of_word),
        Some(byte) => is_of_word(*byte),
        None => false,
    }
}

/// Reads `yes` or `no`, or the first letters of `yes` or `no`: a tokenizer may cut the word there.
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

/// Number of codes with this letter in a question with this many outcomes.
pub(crate) fn codes_of(letter: usize, outcomes: usize) -> usize {
    outcomes
        .saturating_sub(letter * CODES_PER_LETTER)
        .min(CODES_PER_LETTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_read_as_its_own_place() {
        for shape in CodeShape::ALL {
            for place in 0..shape.codes() {
                let code = shape.code(place);
                for token in [code.clone(), format!("{code})"), format!("{code}'")] {
                    assert_eq!(
                        shape.read(token.as_bytes()),
                        Some(CodePiece::Code(place)),
                        "{token}"
                    );
                }
            }
        }
        assert_eq!(CodeShape::LetterDigit.code(254), "Z4");
    }

    #[test]
    fn words_are_no_codes() {
        for (shape, token) in [
            (CodeShape::YesNo, "not"),
            (CodeShape::YesNo, "yesterday"),
            (CodeShape::Digit, "10"),
            (CodeShape::Digit, "A"),
            (CodeShape::Letter, "a"),
            (CodeShape::Letter, "I'm"),
            (CodeShape::Letter, "A0"),
            (CodeShape::Letter, "É"),
            (CodeShape::LetterDigit, "A12"),
            (CodeShape::LetterDigit, "AB"),
            (CodeShape::LetterDigit, ""),
        ] {
            assert_eq!(shape.read(token.as_bytes()), None, "{token}");
        }
        assert_eq!(CodeShape::YesNo.read(b"YES."), Some(CodePiece::Code(0)));
        assert_eq!(CodeShape::LetterDigit.read(b"B"), Some(CodePiece::First(1)));
    }
}
