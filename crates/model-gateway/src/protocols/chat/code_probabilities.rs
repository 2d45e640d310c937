//! Probabilities of a question's codes, as far as an answer shows them.
//!
//! A code of two characters is a letter and a digit. Its letter is *resolved* once the
//! probabilities of the digits after the letter are known.
//!
//! Tokens that begin codes of two characters.

use refract_domain::answer::Probability;

use super::prompt::{CODES_PER_LETTER, CodePiece, CodeShape, codes_of, letter};
use super::written_answer::without_lead;
use crate::report::{ParsedCodes, ParsedOutcomes};

/// Largest share of the codes' probability that may stay unread (readings).
const MOST_UNREAD: f64 = 0.01;
/// Largest share of the probability of `yes` and `no` that may be on unlisted spellings.
const MOST_UNSPELLED: f64 = 0.001;
/// A digit with at least this share of its letter's probability is certain.
const SURE_DIGIT: f64 = 0.95;

/// Probabilities of codes, not yet normalised.
#[derive(Default)]
pub(super) struct CodeProbabilities {
    /// Number of the question's outcomes; further codes stand for no outcome.
    pub(super) outcomes: usize,
    /// Probability of each code of the shape, as far as known.
    pub(super) codes: Vec<f64>,
    /// Unresolved first tokens of codes of two characters.
    pub(super) first_tokens: Vec<FirstToken>,
    /// The resolved part of each letter.
    letters: Vec<LetterReading>,
    /// Index of the code that the model wrote, if it wrote a well-formed one.
    pub(super) written: Option<usize>,
    /// Sum of the listed probabilities of the question's codes.
    pub(super) mass: f64,
    /// Upper bound on the probability of code tokens that the server did not list.
    pub(super) hidden: f64,
    /// Upper bound on the probability of spellings of `yes` and `no` that the server did not list.
    pub(super) hidden_spellings: f64,
    /// Number of outcomes with a listed probability.
    pub(super) listed: usize,
    /// Number of tokens listed at the position where the code begins.
    pub(super) alternatives: usize,
    /// Whether the answer has reached the place of a code: it has a token that is more than white
    /// space, quotes or thinking.
    pub(super) is_at_code: bool,
    /// Number of tokens before the code.
    pub(super) tokens_before: usize,
    /// Number of tokens of the written code.
    pub(super) code_tokens: Option<usize>,
}

/// What is known about the ten codes of a letter.
#[derive(Clone, Default)]
struct LetterReading {
    /// Total probability of the letter's resolved first tokens.
    read: f64,
    /// The part of `read` for each digit.
    digits: [f64; CODES_PER_LETTER],
    /// Estimated probability of tokens that the server did not list.
    estimated: f64,
}

impl LetterReading {
    /// Whether the letter is resolved and one digit has nearly all of its probability.
    fn has_sure_digit(&self) -> bool {
        let sum: f64 = self.digits.iter().sum();
        let most = self.digits.iter().copied().fold(0.0, f64::max);
        self.read > 0.0 && most > SURE_DIGIT * sum
    }
}

/// Probability of each digit after a letter.
pub(super) struct DigitProbabilities {
    pub(super) probabilities: Vec<f64>,
    /// Number of digits with a listed probability.
    pub(super) listed: usize,
    /// Sum of the estimated probabilities of digits that the server did not list.
    pub(super) estimated: f64,
}

impl CodeProbabilities {
    /// All probabilities are 0, for a question with this many outcomes.
    pub(super) fn new(shape: CodeShape, outcomes: usize) -> Self {
        let letters = shape.codes().div_ceil(CODES_PER_LETTER);
        Self {
            outcomes,
            codes: vec![0.0; shape.codes()],
            letters: vec![LetterReading::default(); letters],
            ..Self::default()
        }
    }

    /// Adds the listed probability of a token.
    pub(super) fn add_token(&mut self, piece: CodePiece, token: &[u8], probability: f64) {
        match piece {
            CodePiece::Code(place) => self.add_code(place, probability),
            CodePiece::First(letter) => {
                let known = self.first_token(letter, token);
                self.add_first_token(known, letter, token, probability);
            }
        }
    }

    /// Adds an estimated probability of a code or first letter.
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

    /// Splits a first token's probability over its codes, by the digits that continue the token.
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

    /// Resolves a listed first token.
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

    /// Resolves all first tokens with the letter of the token at `index`, in every spelling.
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

    /// Splits the probability of unresolved first tokens like that of the letter's resolved tokens,
    /// or evenly if the letter has none.
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

    /// The unresolved probability of each letter.
    pub(super) fn letter_shares(&self) -> Vec<f64> {
        let mut shares = vec![0.0; self.letters.len()];
        for token in &self.first_tokens {
            if let Some(share) = shares.get_mut(token.letter) {
                *share += token.probability;
            }
        }
        shares
    }

    /// Whether the model wrote a well-formed code that the question lacks.
    pub(super) fn writes_no_outcome(&self) -> bool {
        self.written.is_some_and(|code| code >= self.outcomes)
    }

    /// Sum of the known probabilities of the question's codes.
    pub(super) fn sum(&self) -> f64 {
        let letters = self.outcomes.div_ceil(CODES_PER_LETTER);
        let codes: f64 = self.codes.iter().take(self.outcomes).sum();
        codes + self.letter_shares().iter().take(letters).sum::<f64>()
    }

    /// Number of outcomes whose code has a probability, either itself or as the only code of its
    /// letter.
    pub(super) fn outcomes_with_probability(&self) -> usize {
        let codes = self.codes.iter().take(self.outcomes).copied();
        let letters = self.letter_shares().into_iter().enumerate();
        let single = letters.filter(|(letter, _)| codes_of(*letter, self.outcomes) == 1);
        codes
            .chain(single.map(|(_, probability)| probability))
            .filter(|probability| *probability > 0.0)
            .count()
    }

    /// Indexes of the first tokens to resolve so that at most [`MOST_UNREAD`] stays unread: as few
    /// letters as possible, the most probable first, each by its most probable token.
    pub(super) fn letters_to_follow_up(&self) -> Vec<usize> {
        let shares = self.letter_shares().into_iter().enumerate();
        let unread = shares.filter(|(letter, _)| self.is_unread(*letter));
        let letters = self.needed(unread.collect());
        let tokens = letters.into_iter();
        let tokens = tokens.filter_map(|letter| self.most_probable_of(letter));
        tokens.collect()
    }

    /// Indexes of the first tokens to resolve, in every spelling, so that at most [`MOST_UNREAD`]
    /// stays unread. A letter with a certain digit after one spelling needs no further one: the
    /// digit is then certain after the others too.
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

    /// Whether unlisted codes may matter and the server may list more tokens: it listed as many as
    /// were asked for.
    pub(super) fn hides_codes(&self, asked: u16) -> bool {
        self.alternatives >= usize::from(asked) && self.hidden > MOST_UNREAD * self.sum()
    }

    /// Whether unlisted spellings of `yes` and `no` may matter and the server may list more tokens.
    pub(super) fn hides_spellings(&self, asked: u16) -> bool {
        self.alternatives >= usize::from(asked)
            && self.hidden_spellings > MOST_UNSPELLED * self.sum()
    }

    /// The listed share of the outcomes' probabilities.
    pub(super) fn parsed(&self) -> ParsedOutcomes {
        let mass = Probability::from_f64(self.mass.clamp(0.0, 1.0));
        let codes = ParsedCodes {
            mass: mass.unwrap_or_default(),
            unread: Probability::from_f64(self.unread()).unwrap_or_default(),
            tokens_before: self.tokens_before,
            tokens: self.code_tokens,
        };
        ParsedOutcomes {
            outcomes: self.outcomes,
            listed: self.listed.min(self.outcomes),
            codes: Some(codes),
        }
    }

    /// Share of the codes' probability that was not read: that of unresolved letters and of
    /// unlisted codes.
    fn unread(&self) -> f64 {
        let shares = self.letter_shares().into_iter().enumerate();
        let unread = shares.zip(&self.letters).map(|((letter, share), reading)| {
            // until the letter is resolved, its share includes the estimate
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

    /// Whether a letter has codes and none of its first tokens is resolved. A letter with one code
    /// counts too: another digit may follow it.
    fn is_unread(&self, letter: usize) -> bool {
        let reading = self.letters.get(letter);
        codes_of(letter, self.outcomes) > 0 && reading.is_some_and(|letter| letter.read <= 0.0)
    }

    /// The fewest places to resolve so that at most [`MOST_UNREAD`] stays unread, the most probable
    /// first. `shares` pairs each place with its probability.
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

    /// Adds a probability to the first token at index `at`, or adds a new first token.
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

/// A token that begins codes of two characters: a letter, possibly after characters that may
/// precede a code. Tokens of one letter, such as `B` and ` B`, may be followed by different digits.
pub(super) struct FirstToken {
    pub(super) letter: usize,
    pub(super) token: Vec<u8>,
    /// Total probability of the token's codes until they are resolved.
    pub(super) probability: f64,
}

impl FirstToken {
    /// The token as the beginning of a message, such as ` B` for a letter after a space.
    pub(super) fn spelling(&self) -> String {
        let letter = letter(self.letter).to_string();
        // a special token is not text, so no message can begin with it
        let is_text =
            without_lead(&self.token) == letter.as_bytes() && !self.token.starts_with(b"<|");
        let spelled = is_text.then(|| String::from_utf8(self.token.clone()).ok());
        spelled.flatten().unwrap_or(letter)
    }
}
