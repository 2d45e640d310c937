//! How probable each code of a question is, as far as an answer shows it.

use refract_domain::answer::probability::Probability;

use super::codes::{CODES_PER_LETTER, CodePiece, CodeShape, codes_of, letter};
use super::token_text::without_lead;
use crate::report::coverage::{CodeCoverage, OutcomeCoverage};

/// Part of the probability on the codes that may be left unread (readings).
const MOST_UNREAD: f64 = 0.01;
/// Part of a letter's probability that makes a digit sure.
const SURE_DIGIT: f64 = 0.95;

/// Probabilities of codes, not yet normalised.
#[derive(Default)]
pub(super) struct CodeProbabilities {
    /// Outcomes of the question; codes beyond them stand for no outcome.
    pub(super) outcomes: usize,
    /// Probability of each code of the shape, as far as it is known.
    pub(super) codes: Vec<f64>,
    /// First tokens of codes of two characters.
    pub(super) first_tokens: Vec<FirstToken>,
    /// What was read of the codes of each letter.
    letters: Vec<LetterReading>,
    /// Place of the well-formed code that the model wrote.
    pub(super) written: Option<usize>,
    /// Sum of the probabilities that the server listed for codes of the question.
    pub(super) mass: f64,
    /// Bound of the probability of tokens of codes that the server did not list.
    pub(super) hidden: f64,
    /// Outcomes whose own probability the server listed.
    pub(super) listed: usize,
    /// Tokens that the server listed where the code begins.
    pub(super) alternatives: usize,
    /// Tokens before the code.
    pub(super) tokens_before: usize,
    /// Tokens of the code that the model wrote.
    pub(super) code_tokens: Option<usize>,
}

/// A token that begins codes: a letter, with what may stand before a code in front of it. Tokens of
/// one letter, such as `B` and ` B`, may be followed by different digits.
pub(super) struct FirstToken {
    pub(super) letter: usize,
    token: Vec<u8>,
    /// Probability of the token's codes together, as long as they are not told apart.
    probability: f64,
}

/// What was read of the ten codes of a letter.
#[derive(Clone, Default)]
struct LetterReading {
    /// Probability of first tokens whose codes were told apart.
    read: f64,
    /// The part of `read` on each digit.
    digits: [f64; CODES_PER_LETTER],
    /// Probability that was estimated for tokens that the server did not list.
    estimated: f64,
}

impl LetterReading {
    /// Whether the letter was read and one digit after it has nearly all of the probability.
    fn has_sure_digit(&self) -> bool {
        let sum: f64 = self.digits.iter().sum();
        let most = self.digits.iter().copied().fold(0.0, f64::max);
        self.read > 0.0 && most > SURE_DIGIT * sum
    }
}

/// How probable each digit is after a letter.
pub(super) struct DigitProbabilities {
    pub(super) probabilities: Vec<f64>,
    /// Digits whose probability the server listed.
    pub(super) listed: usize,
    /// Sum of the probabilities that were estimated for digits that the server did not list.
    pub(super) estimated: f64,
}

impl FirstToken {
    /// The token as the beginning of a message: ` B` for a letter that the model spells so.
    pub(super) fn spelling(&self) -> String {
        let letter = letter(self.letter).to_string();
        // a special token is no text that a message can begin with
        let is_text =
            without_lead(&self.token) == letter.as_bytes() && !self.token.starts_with(b"<|");
        let spelled = is_text.then(|| String::from_utf8(self.token.clone()).ok());
        spelled.flatten().unwrap_or(letter)
    }
}

impl CodeProbabilities {
    /// Probabilities of 0 for a question with this many outcomes.
    pub(super) fn new(shape: CodeShape, outcomes: usize) -> Self {
        let letters = shape.codes().div_ceil(CODES_PER_LETTER);
        Self {
            outcomes,
            codes: vec![0.0; shape.codes()],
            letters: vec![LetterReading::default(); letters],
            ..Self::default()
        }
    }

    /// Adds the probability of a token that the server listed.
    pub(super) fn add_token(&mut self, piece: CodePiece, token: &[u8], probability: f64) {
        match piece {
            CodePiece::Code(place) => self.add_code(place, probability),
            CodePiece::First(letter) => {
                let known = self.first_token(letter, token);
                self.add_first_token(known, letter, token, probability);
            }
        }
    }

    /// Adds a probability that was estimated for a code or first letter.
    pub(super) fn add_estimate(&mut self, piece: CodePiece, probability: f64) {
        let letter = match piece {
            CodePiece::Code(place) => {
                self.add_code(place, probability);
                place / CODES_PER_LETTER
            }
            CodePiece::First(place) => {
                let most_probable = self.most_probable_of(place);
                self.add_first_token(most_probable, place, b"", probability);
                place
            }
        };
        if let Some(letter) = self.letters.get_mut(letter) {
            letter.estimated += probability;
        }
    }

    /// Tells the codes of a first token apart, as an answer that continues it shows.
    pub(super) fn resolve(&mut self, index: usize, digits: &DigitProbabilities) {
        let Some(token) = self.first_tokens.get_mut(index) else {
            return;
        };
        let (place, share) = (token.letter, std::mem::take(&mut token.probability));
        for (digit, probability) in digits.probabilities.iter().enumerate() {
            self.add_code(place * CODES_PER_LETTER + digit, share * probability);
        }
        let Some(letter) = self.letters.get_mut(place) else {
            return;
        };
        if letter.read <= 0.0 && codes_of(place, self.outcomes) > 1 {
            self.listed += digits.listed;
        }
        letter.read += share;
        letter.estimated += share * digits.estimated;
        for (sum, probability) in letter.digits.iter_mut().zip(&digits.probabilities) {
            *sum += share * probability;
        }
    }

    /// Tells the codes of a listed first token apart.
    pub(super) fn resolve_listed(
        &mut self,
        letter: usize,
        token: &[u8],
        digits: &DigitProbabilities,
    ) {
        if let Some(index) = self.first_token(letter, token) {
            self.resolve(index, digits);
        }
    }

    /// Tells the codes of all first tokens of one token's letter apart, whatever their spelling.
    pub(super) fn resolve_letter_of(&mut self, index: usize, digits: &DigitProbabilities) {
        let Some(letter) = self.first_tokens.get(index).map(|token| token.letter) else {
            return;
        };
        for index in 0..self.first_tokens.len() {
            if self.first_tokens.get(index).map(|token| token.letter) == Some(letter) {
                self.resolve(index, digits);
            }
        }
    }

    /// Splits the probability of first tokens that were not told apart: like the other tokens of
    /// the letter, or evenly where none was read.
    pub(super) fn split_rest(&mut self) {
        for token in std::mem::take(&mut self.first_tokens) {
            let codes = codes_of(token.letter, self.outcomes);
            let even = 1.0 / f64::from(u32::try_from(codes.max(1)).unwrap_or(1));
            let letter = self.letters.get(token.letter).cloned().unwrap_or_default();
            for (digit, sum) in letter.digits.iter().enumerate().take(codes) {
                let part = if letter.read > 0.0 {
                    sum / letter.read
                } else {
                    even
                };
                let place = token.letter * CODES_PER_LETTER + digit;
                self.add_code(place, token.probability * part);
            }
        }
    }

    /// The probability of each letter whose codes are not told apart.
    pub(super) fn letter_shares(&self) -> Vec<f64> {
        let mut shares = vec![0.0; self.letters.len()];
        for token in &self.first_tokens {
            if let Some(share) = shares.get_mut(token.letter) {
                *share += token.probability;
            }
        }
        shares
    }

    /// Sum of the probabilities of the question's codes so far.
    pub(super) fn sum(&self) -> f64 {
        let letters = self.outcomes.div_ceil(CODES_PER_LETTER);
        let codes: f64 = self.codes.iter().take(self.outcomes).sum();
        codes + self.letter_shares().iter().take(letters).sum::<f64>()
    }

    /// Outcomes whose code has a probability so far, as a whole or as the only code of its letter.
    pub(super) fn outcomes_with_probability(&self) -> usize {
        let codes = self.codes.iter().take(self.outcomes).copied();
        let letters = self.letter_shares().into_iter().enumerate();
        let single = letters.filter(|(letter, _)| codes_of(*letter, self.outcomes) == 1);
        codes
            .chain(single.map(|(_, probability)| probability))
            .filter(|probability| *probability > 0.0)
            .count()
    }

    /// The most probable first token of each letter whose codes must be told apart so that no more
    /// than [`MOST_UNREAD`] is left unread: the fewest letters, by index, the most probable first.
    pub(super) fn letters_to_follow_up(&self) -> Vec<usize> {
        let shares = self.letter_shares().into_iter().enumerate();
        let unread = shares.filter(|(letter, _)| self.is_unread(*letter));
        let letters = self.needed(unread.collect());
        let tokens = letters.into_iter();
        let tokens = tokens.filter_map(|letter| self.most_probable_of(letter));
        tokens.collect()
    }

    /// The first tokens, in every spelling, whose codes must be told apart so that no more than
    /// [`MOST_UNREAD`] is left unread, by index. A token counts as read where one digit was found
    /// sure after another spelling of its letter: it is so after this one.
    pub(super) fn tokens_to_follow_up(&self) -> Vec<usize> {
        let tokens = self.first_tokens.iter().enumerate();
        let unread = tokens.filter(|(_, token)| {
            let letter = self.letters.get(token.letter);
            codes_of(token.letter, self.outcomes) > 0
                && !letter.is_some_and(LetterReading::has_sure_digit)
        });
        let shares = unread.map(|(index, token)| (index, token.probability));
        self.needed(shares.collect())
    }

    /// Whether codes that the server did not list may matter, and the server listed no fewer
    /// tokens than it was asked for, so that it may list more.
    pub(super) fn hides_codes(&self, asked: u16) -> bool {
        self.alternatives >= usize::from(asked) && self.hidden > MOST_UNREAD * self.sum()
    }

    /// How much of the outcomes' probabilities the server listed.
    pub(super) fn coverage(&self) -> OutcomeCoverage {
        let mass = Probability::from_f64(self.mass.clamp(0.0, 1.0));
        let codes = CodeCoverage {
            mass: mass.unwrap_or_default(),
            unread: Probability::from_f64(self.unread()).unwrap_or_default(),
            tokens_before: self.tokens_before,
            tokens: self.code_tokens,
        };
        OutcomeCoverage {
            outcomes: self.outcomes,
            listed: self.listed.min(self.outcomes),
            codes: Some(codes),
        }
    }

    /// Part of the probability on the codes that was not read: of letters whose codes are not told
    /// apart, and of codes that the server did not list.
    fn unread(&self) -> f64 {
        let shares = self.letter_shares().into_iter().enumerate();
        let unread = shares.zip(&self.letters).map(|((letter, share), reading)| {
            // an estimate is part of the share of its letter, until that is told apart
            let share = if self.is_unread(letter) { share } else { 0.0 };
            share.max(reading.estimated)
        });
        let unread: f64 = unread.sum();
        if unread > 0.0 {
            (unread / self.sum()).min(1.0)
        } else {
            0.0
        }
    }

    /// Whether a letter has codes of which none was told apart by its digit. The digit after a letter
    /// with one code may be another one too.
    fn is_unread(&self, letter: usize) -> bool {
        let reading = self.letters.get(letter);
        codes_of(letter, self.outcomes) > 0 && reading.is_some_and(|letter| letter.read <= 0.0)
    }

    /// The fewest of these places with their probabilities, the most probable first, without which
    /// more than [`MOST_UNREAD`] would be left unread.
    fn needed(&self, mut shares: Vec<(usize, f64)>) -> Vec<usize> {
        shares.sort_by(|one, other| other.1.total_cmp(&one.1));
        let most_unread = MOST_UNREAD * self.sum();
        let mut unread = 0.0;
        while let Some((_, probability)) = shares.last() {
            unread += probability;
            if unread > most_unread {
                break;
            }
            shares.pop();
        }
        shares.into_iter().map(|(place, _)| place).collect()
    }

    fn add_code(&mut self, place: usize, probability: f64) {
        if let Some(code) = self.codes.get_mut(place) {
            *code += probability;
        }
    }

    /// Adds a probability to the first token at this index, or a first token where there is none.
    fn add_first_token(&mut self, at: Option<usize>, letter: usize, token: &[u8], added: f64) {
        match at.and_then(|index| self.first_tokens.get_mut(index)) {
            Some(known) => known.probability += added,
            None => self.first_tokens.push(FirstToken {
                letter,
                token: token.to_vec(),
                probability: added,
            }),
        }
    }

    /// The index of a first token.
    fn first_token(&self, letter: usize, token: &[u8]) -> Option<usize> {
        let mut tokens = self.first_tokens.iter();
        tokens.position(|known| known.letter == letter && known.token == token)
    }

    /// The index of the most probable first token of a letter.
    fn most_probable_of(&self, letter: usize) -> Option<usize> {
        let tokens = self.first_tokens.iter().enumerate();
        let own = tokens.filter(|(_, token)| token.letter == letter);
        let most = own.max_by(|(_, one), (_, other)| one.probability.total_cmp(&other.probability));
        most.map(|(index, _)| index)
    }
}
