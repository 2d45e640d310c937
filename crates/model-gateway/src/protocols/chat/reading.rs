//! Reads the probability of each code from the bytes of tokens, at any beginning of the answer.
//!
//! Servers put white space, quotes or thinking before the code, and tokenizers cut codes
//! differently. An alternative before the code counts with its probability times the probability of
//! reaching its position. Alternatives with a quote count only if the answer is quoted.

use super::code_probabilities::CodeProbabilities;
use super::codes::{CodePiece, CodeShape, codes_of};
use super::completion::{AnswerToken, TokenPosition};
use super::digits::digits_at;
use super::thinking::after_thinking;
use super::token_text::{is_marked, is_sentence, text_of, tokens_of, without_lead};
use super::unlisted;

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
        if let (Some(CodePiece::First(letter)), Some(next)) = (piece, next.first()) {
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
