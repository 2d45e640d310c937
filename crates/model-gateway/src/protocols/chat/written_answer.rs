//! The answer that a model wrote: where it begins behind thinking, what may precede a code, where
//! a code ends, and what was written instead of one.
//!
//! Servers that part a model's thoughts from its answer may list the tokens of both (`SGLang`, Ollama),
//! with or without the markers between them. A thought may hold a code: only the tokens of the
//! content are read. White space and characters outside ASCII are not compared, since servers trim
//! and spell them differently.

use refract_domain::prism::Question;
use refract_domain::submission::model_input::outcome_text;

use super::completion::{Completion, TokenPosition};
use super::prompt::{CodeShape, is_of_word};
use crate::error::WrittenInstead;

/// The byte at which the content begins, 0 where only white space, quotes or special tokens precede
/// it. `None` if the tokens are those of another text.
pub(super) fn content_start(completion: &Completion) -> Option<usize> {
    let content = completion.content.as_deref().unwrap_or_default();
    let content: Vec<u8> = content.bytes().filter(|byte| is_compared(*byte)).collect();
    let text = text_of(without_end(&completion.positions));
    let places = text
        .iter()
        .enumerate()
        .filter(|(_, byte)| is_compared(**byte));
    let (places, compared): (Vec<usize>, Vec<u8>) = places.unzip();
    if content.is_empty()
        || compared.is_empty()
        || content.starts_with(&compared)
        || content.ends_with(&compared)
    {
        // a content may begin with what the request already wrote, and a list may be cut
        return Some(0);
    }
    let lead = text.len() - without_lead(&text).len();
    if compared.ends_with(&content) {
        let start = places.get(compared.len() - content.len()).copied()?;
        return Some(if start <= lead { 0 } else { start });
    }
    // the server may strip what the model wrote before or behind its answer
    let answer = without_lead(&content);
    let is_begun = text
        .get(lead..)?
        .iter()
        .copied()
        .filter(|byte| is_compared(*byte));
    is_begun
        .take(answer.len())
        .eq(answer.iter().copied())
        .then_some(0)
}

/// The positions without the special tokens that end an answer.
fn without_end(mut positions: &[TokenPosition]) -> &[TokenPosition] {
    while let Some((last, before)) = positions.split_last() {
        let token = last.written.bytes.trim_ascii();
        let is_special =
            token.first() == Some(&b'<') && token.last() == Some(&b'>') && token.len() > 2;
        if !is_special && !token.is_empty() {
            break;
        }
        positions = before;
    }
    positions
}

fn is_compared(byte: u8) -> bool {
    byte.is_ascii_graphic()
}

/// The bytes of all written tokens.
pub(super) fn text_of(positions: &[TokenPosition]) -> Vec<u8> {
    let tokens = positions
        .iter()
        .flat_map(|position| &position.written.bytes);
    tokens.copied().collect()
}

/// Whether a quote, emphasis or a bracket precedes the first word. A model that writes its codes
/// plainly gives such spellings a small probability of their own: they begin another kind of answer.
pub(super) fn is_marked(bytes: &[u8]) -> bool {
    let lead = bytes.len() - without_lead(bytes).len();
    bytes.iter().take(lead).copied().any(is_mark)
}

/// Strips what may precede a code: white space, quotes, emphasis, brackets, special tokens.
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

/// Whether a second word follows the first.
pub(super) fn is_sentence(text: &[u8]) -> bool {
    let mut words = text.split(u8::is_ascii_whitespace).skip(1);
    words.any(|word| word.first().copied().is_some_and(is_of_word))
}

/// Number of tokens of a code of `code` bytes, whose first token has `first` bytes; `None` if the
/// answer ends inside the code.
pub(super) fn tokens_of(code: usize, first: usize, rest: &[TokenPosition]) -> Option<usize> {
    let mut bytes = first;
    let mut rest = rest.iter();
    let mut tokens = 1;
    while bytes < code {
        bytes += rest.next()?.written.bytes.len();
        tokens += 1;
    }
    Some(tokens)
}

fn is_lead(byte: u8) -> bool {
    byte.is_ascii_whitespace() || is_mark(byte) || !byte.is_ascii()
}

fn is_mark(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`' | b'*' | b'(' | b'[' | b'{' | b'#')
}

/// Words before a code in answers of another form.
const NAMES_OF_CODES: [&str; 6] = ["answer", "choice", "code", "level", "option", "result"];

/// The kind of an answer that begins with `text`; the answer may have been cut after its first
/// token.
pub(super) fn written_instead(question: &Question, text: &[u8]) -> WrittenInstead {
    let text = String::from_utf8_lossy(text);
    let text = text.trim();
    let words = String::from_utf8_lossy(without_lead(text.as_bytes())).to_lowercase();
    let shape = CodeShape::of(question);
    let first = words.split([' ', ':', '.', ')', '\n']).next();
    let first = first.unwrap_or_default();
    if text.is_empty() {
        return WrittenInstead::Nothing;
    }
    if text.starts_with("<|")
        || text.starts_with("</")
        || text.starts_with('[') && words.starts_with('/')
    {
        return WrittenInstead::TemplateMarker;
    }
    let is_code = shape.read(first.to_uppercase().as_bytes()).is_some();
    let is_begun = |whole: &str| whole.starts_with(&words) || words.starts_with(whole);
    let is_other_form = is_code || NAMES_OF_CODES.iter().any(|name| is_begun(name));
    let mut outcomes = question.outcomes();
    let is_outcome = outcomes.any(|outcome| is_begun(&outcome_text(outcome).to_lowercase()));
    if words.chars().count() > 1 && is_outcome {
        WrittenInstead::AnswerWords
    } else if is_other_form {
        WrittenInstead::OtherForm
    } else {
        WrittenInstead::Prose
    }
}

#[cfg(test)]
mod tests;
