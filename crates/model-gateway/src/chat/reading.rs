//! Reads how probable each code was, by the bytes of tokens, wherever the answer begins.
//!
//! Servers put white space, quotes or thinking before the code, and tokenizers cut codes
//! differently. What could have stood at each place before the code counts with the probability
//! that the answer came to that place.

use refract_domain::probability::Probability;

use super::codes::{CODES_PER_LETTER, Piece, Shape, is_of_word, letter};
use super::completion::{Position, Token};
use super::hidden;
use crate::seen::{CodesSeen, Seen};

/// Probabilities of codes, not yet normalised.
pub(super) struct Reading {
    /// Of each code of the shape, as far as it is known.
    pub(super) codes: Vec<f64>,
    /// Of each first letter, where its codes are still to be told apart.
    pub(super) letters: Vec<f64>,
    /// The place of the well-formed code that the model wrote.
    pub(super) written: Option<usize>,
    /// All that was seen on codes of the question.
    pub(super) seen: f64,
    /// Outcomes whose own probability was seen.
    pub(super) shown: usize,
    /// Tokens before the code.
    pub(super) tokens_before: usize,
    /// Tokens of the code that was written.
    pub(super) code_tokens: Option<usize>,
}

/// How probable each digit is after a letter.
pub(super) struct Digits {
    pub(super) shares: Vec<f64>,
    /// Those that the server showed.
    pub(super) shown: usize,
}

/// Reads an answer to a question of so many outcomes.
pub(super) fn read(shape: Shape, outcomes: usize, positions: &[Position]) -> Reading {
    let mut reading = Reading {
        codes: vec![0.0; shape.codes()],
        letters: vec![0.0; shape.codes().div_ceil(CODES_PER_LETTER)],
        written: None,
        seen: 0.0,
        shown: 0,
        tokens_before: 0,
        code_tokens: None,
    };
    let text: Vec<u8> = text_of(positions);
    let Some(after_thinking) = after_thinking(&text) else {
        return reading;
    };
    let mut reached = 1.0;
    let mut end = 0;
    for (index, position) in positions.iter().enumerate() {
        let start = end;
        end += position.written.bytes.len();
        if end <= after_thinking && end > 0 {
            continue;
        }
        for other in &position.others {
            if let Some(piece) = shape.read(without_lead(&other.bytes)) {
                reading.add(piece, reached * other.probability);
            }
        }
        let probability = reached * position.written.probability;
        let rest = text.get(start.max(after_thinking)..).unwrap_or_default();
        let rest = without_lead(rest);
        if text.len() - rest.len() >= end {
            // nothing but lead in this token
            reached = probability;
            continue;
        }
        reading.written = match shape.read(rest) {
            // a sentence that begins like a code which the question lacks is no code
            Some(Piece::Code(code)) if code >= outcomes && is_sentence(rest) => None,
            Some(Piece::Code(code)) => Some(code),
            Some(Piece::First(_)) | None => None,
        };
        let token_end = rest.len() - (text.len() - end);
        let token = rest.get(..token_end).unwrap_or_default();
        let piece = shape.read(token);
        match (piece, reading.written) {
            (Some(Piece::Code(_)), Some(written)) => {
                reading.add(Piece::Code(written), probability);
            }
            (Some(piece @ Piece::First(_)), _) => reading.add(piece, probability),
            (Some(Piece::Code(_)) | None, _) => {}
        }
        reading.tokens_before = index;
        reading.code_tokens = reading.written.and_then(|written| {
            let rest = positions.get(index + 1..).unwrap_or_default();
            tokens_of(shape.code(written).len(), token.len(), rest)
        });
        reading.seen = reading.on_outcomes(outcomes);
        reading.shown = reading.shown_outcomes(outcomes);
        hidden::share(&mut reading, shape, outcomes, position, reached);
        if let (Some(Piece::First(letter)), Some(next)) = (piece, positions.get(index + 1)) {
            let codes = codes_of(letter, outcomes);
            let digits = digits_at(next, b"", codes);
            reading.resolve(letter, &digits.shares);
            if codes > 1 {
                reading.shown += digits.shown;
            }
        }
        return reading;
    }
    reading.seen = reading.on_outcomes(outcomes);
    reading
}

impl Reading {
    fn add(&mut self, piece: Piece, probability: f64) {
        let slot = match piece {
            Piece::Code(place) => self.codes.get_mut(place),
            Piece::First(place) => self.letters.get_mut(place),
        };
        if let Some(slot) = slot {
            *slot += probability;
        }
    }

    /// What it saw of the outcomes.
    pub(super) fn saw(&self, outcomes: usize) -> Seen {
        let mass = Probability::from_f64(self.seen.clamp(0.0, 1.0));
        let codes = CodesSeen {
            mass: mass.unwrap_or_default(),
            tokens_before: self.tokens_before,
            tokens: self.code_tokens,
        };
        Seen {
            outcomes,
            shown: self.shown.min(outcomes),
            codes: Some(codes),
        }
    }

    fn on_outcomes(&self, outcomes: usize) -> f64 {
        let letters = outcomes.div_ceil(CODES_PER_LETTER);
        let codes: f64 = self.codes.iter().take(outcomes).sum();
        codes + self.letters.iter().take(letters).sum::<f64>()
    }

    /// Outcomes with a code that was seen whole, or alone behind its letter.
    fn shown_outcomes(&self, outcomes: usize) -> usize {
        let is_shown = |share: &f64| *share > 0.0;
        let codes = self.codes.iter().take(outcomes).copied();
        let letters = self.letters.iter().copied().enumerate();
        let alone = letters.filter(|(letter, _)| codes_of(*letter, outcomes) == 1);
        codes
            .chain(alone.map(|(_, share)| share))
            .filter(is_shown)
            .count()
    }

    /// Tells the codes of a letter apart.
    pub(super) fn resolve(&mut self, letter: usize, digits: &[f64]) {
        let Some(share) = self.letters.get_mut(letter).map(std::mem::take) else {
            return;
        };
        for (digit, probability) in digits.iter().enumerate() {
            let code = Piece::Code(letter * CODES_PER_LETTER + digit);
            self.add(code, share * probability);
        }
    }
}

/// How many of a question's codes begin with this letter.
pub(super) fn codes_of(letter: usize, outcomes: usize) -> usize {
    outcomes
        .saturating_sub(letter * CODES_PER_LETTER)
        .min(CODES_PER_LETTER)
}

/// How probable each digit is after this letter, from an answer that goes on from the letter or
/// writes it itself; `None` where it does neither.
pub(super) fn digits_after(place: usize, codes: usize, positions: &[Position]) -> Option<Digits> {
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
    for position in positions {
        let end = start + position.written.bytes.len();
        if at < end {
            let lead = position.written.bytes.get(..at - start)?;
            return Some(digits_at(position, lead, codes));
        }
        start = end;
    }
    None
}

/// How probable each digit is at a place of an answer, behind the bytes that the token has before
/// it.
fn digits_at(position: &Position, lead: &[u8], codes: usize) -> Digits {
    let mut digits = vec![0.0; CODES_PER_LETTER];
    let mut add = |token: &Token| {
        let bytes = token.bytes.strip_prefix(lead).unwrap_or(&token.bytes);
        if let Some(Piece::Code(digit)) = Shape::Digit.read(without_lead(bytes))
            && let Some(slot) = digits.get_mut(digit)
        {
            *slot += token.probability;
        }
    };
    add(&position.written);
    position.others.iter().for_each(add);
    let shown = digits.iter().take(codes).filter(|share| **share > 0.0);
    let shown = shown.count();
    hidden::share_digits(&mut digits, codes, position);
    Digits {
        shares: digits,
        shown,
    }
}

/// Tokens of a code of which the first has so many bytes; `None` where the answer ends before.
fn tokens_of(code: usize, first: usize, rest: &[Position]) -> Option<usize> {
    let mut bytes = first;
    let mut rest = rest.iter();
    let mut tokens = 1;
    while bytes < code {
        bytes += rest.next()?.written.bytes.len();
        tokens += 1;
    }
    Some(tokens)
}

fn text_of(positions: &[Position]) -> Vec<u8> {
    let tokens = positions
        .iter()
        .flat_map(|position| &position.written.bytes);
    tokens.copied().collect()
}

/// Where the answer begins behind thinking; `None` where the thinking does not end.
fn after_thinking(text: &[u8]) -> Option<usize> {
    const BEGIN: &[u8] = b"<think>";
    const END: &[u8] = b"</think>";
    match text.windows(END.len()).rposition(|bytes| bytes == END) {
        Some(at) => Some(at + END.len()),
        None => (!text.trim_ascii_start().starts_with(BEGIN)).then_some(0),
    }
}

/// Whether another word follows the first.
fn is_sentence(text: &[u8]) -> bool {
    let mut words = text.split(u8::is_ascii_whitespace).skip(1);
    words.any(|word| word.first().copied().is_some_and(is_of_word))
}

/// Without what may stand before a code: white space, quotes, emphasis, brackets, special tokens.
pub(super) fn without_lead(mut bytes: &[u8]) -> &[u8] {
    loop {
        if let Some(special) = bytes.strip_prefix(b"<|") {
            let Some(end) = special.windows(2).position(|bytes| bytes == b"|>") else {
                return bytes;
            };
            bytes = special.get(end + 2..).unwrap_or_default();
            continue;
        }
        match bytes.split_first() {
            Some((first, rest)) if is_lead(*first) => bytes = rest,
            Some(_) | None => return bytes,
        }
    }
}

fn is_lead(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || matches!(byte, b'"' | b'\'' | b'`' | b'*' | b'(' | b'[' | b'{' | b'#')
        || !byte.is_ascii()
}
