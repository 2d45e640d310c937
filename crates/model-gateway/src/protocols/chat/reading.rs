//! Reads the probability of each code from the bytes of tokens, at any beginning of the answer, and
//! makes the answer to the question from it.
//!
//! Servers put white space, quotes or thinking before the code, and tokenizers cut codes
//! differently. An alternative before the code counts with its probability times the probability of
//! reaching its position. Alternatives with a quote count only if the answer is quoted. The digits of
//! two-character codes are read after their letter.

use refract_domain::answer::Answer;
use refract_domain::prism::{Question, QuestionKind};

use super::code_probabilities::{CodeProbabilities, DigitProbabilities};
use super::completion::{AnswerToken, TokenPosition, after_thinking};
use super::prompt::{CODES_PER_LETTER, CodePiece, CodeShape, codes_of, is_of_word, letter};
use super::unlisted;
use super::written_answer::{is_marked, is_sentence, text_of, tokens_of, without_lead};
use crate::protocols::answers;

/// Reads an answer to a question with this many outcomes. Its content begins at the byte `content`
/// of the tokens.
pub(super) fn read(
    shape: CodeShape,
    outcomes: usize,
    positions: &[TokenPosition],
    content: usize,
) -> CodeProbabilities {
    let mut probabilities = CodeProbabilities::new(shape, outcomes);
    let text: Vec<u8> = text_of(positions);
    let after_thinking = match after_thinking(&text) {
        Some(end) => end.max(content),
        None if content > 0 => content,
        None => return probabilities,
    };
    let is_quoted = is_marked(text.get(after_thinking..).unwrap_or_default());
    let mut reached = 1.0;
    let mut end = 0;
    for (index, position) in positions.iter().enumerate() {
        let start = end;
        end += position.written.bytes.len();
        if end <= after_thinking && end > 0 {
            continue;
        }
        for other in &position.others {
            if let Some(piece) = shape.read(without_lead(&other.bytes))
                && (is_quoted || !is_marked(&other.bytes))
                && !is_other_word(shape, piece, other, position)
            {
                probabilities.add_token(piece, &other.bytes, reached * other.probability);
            }
        }
        let probability = reached * position.written.probability;
        let rest = text.get(start.max(after_thinking)..).unwrap_or_default();
        let rest = without_lead(rest);
        if text.len() - rest.len() >= end {
            // this token holds only characters that may precede a code
            reached = probability;
            continue;
        }
        if !position.is_known() {
            return CodeProbabilities::new(shape, outcomes);
        }
        probabilities.written = match shape.read(rest) {
            // a word that begins a sentence is no code if the question lacks that code
            Some(CodePiece::Code(code)) if code >= outcomes && is_sentence(rest) => None,
            Some(CodePiece::Code(code)) => Some(code),
            Some(CodePiece::First(_)) | None => None,
        };
        let token_end = rest.len() - (text.len() - end);
        let token = rest.get(..token_end).unwrap_or_default();
        let piece = shape.read(token);
        // if the answer continues a whole code, the written code is the one to count
        let counted = match (piece, probabilities.written) {
            (Some(CodePiece::Code(_)), written) => written.map(CodePiece::Code),
            (Some(CodePiece::First(_)) | None, _) => piece,
        };
        if let Some(counted) = counted {
            probabilities.add_token(counted, &position.written.bytes, probability);
        }
        let next = positions.get(index + 1..).unwrap_or_default();
        probabilities.alternatives = position.others.len() + 1;
        probabilities.tokens_before = index;
        probabilities.code_tokens = probabilities
            .written
            .and_then(|written| tokens_of(shape.code(written).len(), token.len(), next));
        probabilities.mass = probabilities.sum();
        probabilities.listed = probabilities.outcomes_with_probability();
        probabilities.is_at_code = true;
        unlisted::fill_codes(&mut probabilities, shape, position, reached);
        let next = next.first().filter(|next| next.is_known());
        if let (Some(CodePiece::First(letter)), Some(next)) = (piece, next) {
            let codes = codes_of(letter, outcomes);
            let digits = digits_at(next, b"", codes);
            probabilities.resolve_listed(letter, &position.written.bytes, &digits);
        }
        return probabilities;
    }
    probabilities.mass = probabilities.sum();
    probabilities
}

/// Whether a token is only the beginning of `yes` or `no` while the same position lists the whole
/// word: then the token begins other words.
fn is_other_word(
    shape: CodeShape,
    piece: CodePiece,
    token: &AnswerToken,
    position: &TokenPosition,
) -> bool {
    let mut listed = position.others.iter().chain([&position.written]);
    !shape.is_whole_word(without_lead(&token.bytes))
        && listed.any(|other| {
            let other = without_lead(&other.bytes);
            shape.is_whole_word(other) && shape.read(other) == Some(piece)
        })
}

/// Minimum probability on a question's codes; below it the question is unanswered (readings).
pub(super) const LEAST_MASS: f64 = 0.05;

/// The answer for these probabilities of codes; `None` if the question is unanswered.
pub(super) fn answer(question: &Question, mut probabilities: CodeProbabilities) -> Option<Answer> {
    let outcomes = probabilities.outcomes;
    probabilities.split_rest();
    let codes = probabilities.codes.get(..outcomes)?;
    let has_mass = probabilities.mass >= LEAST_MASS && codes.iter().sum::<f64>() >= LEAST_MASS;
    let is_unknown = probabilities.writes_no_outcome();
    match question.kind {
        QuestionKind::Choice { .. } if is_unknown => answers::without_value(question, codes),
        QuestionKind::Scale { .. } if is_unknown => None,
        QuestionKind::YesNo | QuestionKind::Scale { .. } | QuestionKind::Choice { .. } => has_mass
            .then(|| answers::from_weights(question, codes))
            .flatten(),
    }
}

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
        let first = positions.first().filter(|first| first.is_known())?;
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
            if !position.is_known() {
                return None;
            }
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
