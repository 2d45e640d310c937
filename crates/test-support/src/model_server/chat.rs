//! A chat model with a known distribution over the outcomes. It behaves like an OpenAI-compatible
//! server that lists the most probable tokens at each position.

use serde_json::{Value, json};

use super::completion::{completion, cut, most_probable};
use super::reply::ScriptedReply;

/// A Choice question with more outcomes than this has codes of two characters.
const MOST_LETTERS: usize = 20;

/// A model that answers every question with the same distribution.
#[derive(Clone, Debug)]
pub struct ChatModel {
    /// Weights of the outcomes, in the order of the prompt. They need not sum to 1, and weights
    /// beyond the number of outcomes are ignored.
    pub weights: Vec<f64>,
    /// Total probability of all codes.
    pub on_codes: f64,
    /// Number of words that share the rest of the probability evenly; one is the word `The`.
    pub words: u32,
    /// The share of the probability after every second letter, beginning with `B`, on a word's end:
    /// the letter begins a word of the material.
    pub on_word_ends: f64,
    /// The share of the probability of `yes` and `no` on capitals, after a space. Other spellings of
    /// `no` have none.
    pub on_capitals: f64,
    /// How two-character codes are split into tokens.
    pub cut: CodeCut,
    /// The share of each first token's probability on its spelling after a space.
    pub spaced: f64,
    /// Whether the digits after a letter depend on the letter's spelling: after the less probable
    /// one of `B` and ` B`, the digits' probabilities are halfway to uniform.
    pub digits_depend_on_spelling: bool,
    /// Whether tokens of one character are written as a byte, such as `<0x42>`.
    pub names_bytes: bool,
    /// A token before the code, with its probability; otherwise the code comes without the token.
    pub before: Option<(String, f64)>,
    /// Upper bound on the listed alternatives at each position.
    pub top: usize,
    /// Whether the server refuses a request for more alternatives; otherwise it lists fewer.
    pub refuses_more: bool,
    /// The server's treatment of a request that gives the beginning of the answer.
    pub continues: Continues,
}

/// How a tokenizer splits two-character codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeCut {
    /// A letter and a digit, as common tokenizers do.
    Two,
    /// Every third code is one token; the others are a letter and a digit.
    Mixed,
    /// Every code is one token.
    Whole,
}

impl CodeCut {
    /// Whether the code at this index is two tokens.
    fn cuts(self, place: usize) -> bool {
        match self {
            Self::Two => true,
            Self::Mixed => !place.is_multiple_of(3),
            Self::Whole => false,
        }
    }
}

/// The treatment of a request that gives the beginning of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continues {
    /// The server continues a message of the assistant.
    Message,
    /// The server treats a message of the assistant as an earlier turn, and supports schemas.
    Schema,
    /// The server rejects a message of the assistant with an error, and supports schemas.
    RefusesMessage,
    /// The server supports neither: every answer starts from the beginning.
    Never,
}

impl ChatModel {
    /// A model that answers only with codes, without spaces, and lists at most the 20 most probable
    /// tokens.
    pub fn new(weights: Vec<f64>) -> Self {
        Self {
            weights,
            on_codes: 1.0,
            words: 1,
            on_word_ends: 0.0,
            on_capitals: 0.0,
            cut: CodeCut::Two,
            spaced: 0.0,
            digits_depend_on_spelling: false,
            names_bytes: false,
            before: None,
            top: 20,
            refuses_more: false,
            continues: Continues::Message,
        }
    }

    /// The model's probability of each outcome, for a question with this many outcomes.
    pub fn distribution(&self, outcomes: usize) -> Vec<f64> {
        let weights: Vec<f64> = self.weights.iter().copied().take(outcomes).collect();
        let total: f64 = weights.iter().sum();
        let own: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
        if outcomes <= MOST_LETTERS || !self.digits_depend_on_spelling {
            return own;
        }
        let less_probable = self.spaced.min(1.0 - self.spaced);
        let mut mixed = own.clone();
        for first in (0..outcomes).step_by(10) {
            let last = outcomes.min(first + 10);
            let places: Vec<usize> = (first..last)
                .filter(|place| self.cut.cuts(*place))
                .collect();
            let shares = places.iter().filter_map(|place| own.get(*place));
            let even = shares.sum::<f64>() / count(places.len());
            for place in places {
                if let Some(share) = mixed.get_mut(place) {
                    *share += (even - *share) / 2.0 * less_probable;
                }
            }
        }
        mixed
    }

    /// The reply of the model's server to all requests.
    pub fn reply(self) -> ScriptedReply {
        ScriptedReply::answering(move |request| self.answer_to(&request.json()))
    }

    /// The status and body of the server's answer to a chat request with this body.
    pub fn answer_to(&self, body: &Value) -> (u16, Value) {
        let asked = body.get("top_logprobs").and_then(Value::as_u64);
        let asked = asked.and_then(|asked| usize::try_from(asked).ok());
        let asked = asked.unwrap_or_default();
        if self.refuses_more && asked > self.top {
            let most = self.top;
            let message = format!(
                "Requested sample logprobs of {asked}, which is greater than max allowed: {most}"
            );
            return (400, json!({"error": {"message": message, "code": 400}}));
        }
        let is_refused = self.continues == Continues::RefusesMessage
            && last_role(body).as_deref() == Some("assistant");
        if is_refused {
            return (200, json!({"error": {"message": "messages end"}}));
        }
        let mut positions = self.positions(body);
        let most = ["max_tokens", "max_completion_tokens"];
        let most = most.iter().find_map(|limit| body.get(limit)?.as_u64());
        let end = cut(&mut positions, most);
        let mut answer = completion(&positions, self.top.min(asked), self.names_bytes);
        if let Some(reason) = answer.pointer_mut("/choices/0/finish_reason") {
            *reason = json!(end);
        }
        (200, answer)
    }

    /// The tokens at each position of the answer to a chat request with this body, with their
    /// probabilities.
    pub(super) fn positions(&self, body: &Value) -> Vec<Vec<(String, f64)>> {
        let messages = body.get("messages").and_then(Value::as_array).cloned();
        let messages = messages.unwrap_or_default();
        let asked = Asked::by(&messages);
        let codes = codes(&asked.outcomes);
        let total: f64 = self.weights.iter().take(codes.len()).sum();
        let codes: Vec<CodeTokens> = codes
            .into_iter()
            .zip(&self.weights)
            .enumerate()
            .map(|(place, (code, weight))| {
                let is_cut = code.len() == 2 && !is_word(&code) && self.cut.cuts(place);
                CodeTokens {
                    code,
                    probability: self.on_codes * weight / total,
                    is_cut,
                }
            })
            .collect();
        let begun = asked.begun;
        let has_schema = body.get("response_format").is_some();
        match self.continues {
            Continues::Message if !begun.is_empty() => vec![self.digits(&codes, &begun)],
            Continues::Schema | Continues::RefusesMessage if has_schema => {
                self.in_object(&codes, &allowed_letter(body))
            }
            Continues::Message
            | Continues::Schema
            | Continues::RefusesMessage
            | Continues::Never => self.answer(&codes),
        }
    }

    /// The tokens at each position of an answer without a given beginning.
    fn answer(&self, codes: &[CodeTokens]) -> Vec<Vec<(String, f64)>> {
        let mut first: Vec<(String, f64)> = Vec::new();
        for code in codes {
            let token: String = if code.is_cut {
                code.code.chars().take(1).collect()
            } else {
                code.code.clone()
            };
            let on_capitals = if is_word(&code.code) {
                self.on_capitals
            } else {
                0.0
            };
            let capitals = format!(" {}", token.to_uppercase());
            for (token, share) in [
                (capitals, on_capitals),
                (format!(" {token}"), self.spaced * (1.0 - on_capitals)),
                (token, (1.0 - self.spaced) * (1.0 - on_capitals)),
            ] {
                match first.iter_mut().find(|(known, _)| *known == token) {
                    Some((_, sum)) => *sum += code.probability * share,
                    None => first.push((token, code.probability * share)),
                }
            }
        }
        for (token, share) in &mut first {
            // a word takes nothing from the codes of its first letter
            *share /= 1.0 - self.on_word_ends_after(token);
        }
        let words = (0..self.words).map(|word| match word {
            0 => "The".to_owned(),
            _ => format!("The{word}"),
        });
        let each = (1.0 - self.on_codes) / f64::from(self.words);
        first.extend(words.map(|word| (word, each)));
        let sum: f64 = first.iter().map(|(_, share)| share).sum();
        for (_, share) in &mut first {
            *share /= sum;
        }
        let mut positions = Vec::new();
        if let Some((before, probability)) = &self.before {
            let mut position = vec![(before.clone(), *probability)];
            let others = first.iter().cloned();
            position.extend(others.map(|(token, share)| (token, share * (1.0 - probability))));
            positions.push(position);
        }
        let written = most_probable(&first).to_owned();
        positions.push(first);
        let is_begun = |code: &CodeTokens| code.is_cut && code.code.starts_with(written.trim());
        if codes.iter().any(is_begun) && written.trim().len() == 1 {
            positions.push(self.digits(codes, &written));
        }
        positions
    }

    /// The digits after a letter in this spelling, with their probabilities.
    fn digits(&self, codes: &[CodeTokens], spelling: &str) -> Vec<(String, f64)> {
        let letter = spelling.trim_start();
        let own = codes.iter().filter(|code| code.is_cut);
        let own: Vec<(String, f64)> = own
            .filter_map(|code| {
                let digit = code.code.strip_prefix(letter)?;
                Some((digit.to_owned(), code.probability))
            })
            .collect();
        let total: f64 = own.iter().map(|(_, probability)| probability).sum();
        let mut shares: Vec<f64> = own.iter().map(|(_, share)| share / total).collect();
        let is_usual = spelling.starts_with(' ') == (self.spaced > 0.5);
        if self.digits_depend_on_spelling && !is_usual {
            let even = 1.0 / count(shares.len());
            for share in &mut shares {
                *share = f64::midpoint(*share, even);
            }
        }
        let on_word = self.on_word_ends_after(spelling);
        let digits = own.into_iter().map(|(digit, _)| digit);
        let shares = shares.into_iter().map(|share| share * (1.0 - on_word));
        let word = (on_word > 0.0).then(|| ("reet".to_owned(), on_word));
        word.into_iter().chain(digits.zip(shares)).collect()
    }

    /// The probability after this token that it begins a word.
    fn on_word_ends_after(&self, token: &str) -> f64 {
        match token.trim_start().as_bytes() {
            [letter @ b'A'..=b'Z'] if letter % 2 == 0 => self.on_word_ends,
            _ => 0.0,
        }
    }

    fn in_object(&self, codes: &[CodeTokens], letter: &str) -> Vec<Vec<(String, f64)>> {
        let fixed = |text: &str| vec![(text.to_owned(), 1.0)];
        vec![
            fixed("{\""),
            fixed("code"),
            fixed("\":\""),
            fixed(letter),
            self.digits(codes, letter),
            fixed("\"}"),
        ]
    }
}

/// A code with its probability, and whether it is two tokens.
struct CodeTokens {
    code: String,
    probability: f64,
    is_cut: bool,
}

/// The letter at the beginning of all codes in the request's schema.
fn allowed_letter(body: &Value) -> String {
    let codes = body.pointer("/response_format/json_schema/schema/properties/code/enum/0");
    let first = codes.and_then(Value::as_str).unwrap_or_default();
    first.chars().take(1).collect()
}

/// The question of a chat request.
struct Asked {
    /// What ends with the question's outcomes.
    outcomes: String,
    /// The beginning of the code, if the request gives one.
    begun: String,
}

impl Asked {
    /// The question whose block is in the system message if the last message names its key, else the
    /// one at the end of the user message.
    fn by(messages: &[Value]) -> Self {
        let content = |at: usize| messages.get(at).and_then(content).unwrap_or_default();
        let (system, user, begun) = (content(0), content(1), content(2));
        let last = user.lines().next_back().unwrap_or_default();
        let (key, rest) = match begun.split_once(" = ") {
            Some(begun) => begun,
            None => (last.strip_suffix(" =").unwrap_or_default(), begun.as_str()),
        };
        let listed = system.split_once(&format!("\n## {key}\n"));
        match listed {
            Some((_, block)) => Self {
                outcomes: block.split("\n\n## ").next().unwrap_or_default().to_owned(),
                begun: rest.to_owned(),
            },
            None => Self {
                outcomes: user,
                begun,
            },
        }
    }
}

/// The codes at the end of a text, in order.
fn codes(text: &str) -> Vec<String> {
    let lines = text.lines().rev().map_while(|line| {
        let (code, _) = line.split_once(") ")?;
        (!code.is_empty() && code.len() <= 3).then(|| code.to_owned())
    });
    let mut codes: Vec<String> = lines.collect();
    codes.reverse();
    codes
}

fn is_word(code: &str) -> bool {
    code.chars().all(char::is_lowercase)
}

fn content(message: &Value) -> Option<String> {
    message.get("content")?.as_str().map(str::to_owned)
}

fn last_role(body: &Value) -> Option<String> {
    let last = body.get("messages")?.as_array()?.last()?;
    last.get("role")?.as_str().map(str::to_owned)
}

fn count(items: usize) -> f64 {
    f64::from(u32::try_from(items.max(1)).unwrap_or(u32::MAX))
}
