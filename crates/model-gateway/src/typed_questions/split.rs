//! Splits the questions about one submission over as few requests as fit.

use std::ops::Range;

use bytes::Bytes;
use refract_domain::limits::CHARS_PER_TOKEN;
use refract_domain::prism::PrismVersion;
use refract_domain::question::Question;
use serde::Serialize;

use crate::request_body::RequestBody;

/// Bytes of a question's key and of the JSON around the question, about.
const AROUND_A_QUESTION: usize = 32;
/// Bytes of the model's name and of the JSON around state and questions, about.
const AROUND_THE_QUESTIONS: usize = 128;

/// One request and the questions that it asks.
pub(crate) struct SplitRequest<'a> {
    pub(crate) body: RequestBody,
    pub(crate) questions: &'a [Question],
}

/// The JSON around the questions of a request.
pub(crate) struct QuestionsFrame {
    /// The JSON before the first question, with the text to judge.
    pub(crate) beginning: Vec<u8>,
    /// The JSON behind the last question.
    pub(crate) end: &'static [u8],
}

/// Writes all questions into one request, or, in order, into the fewest requests of which each is
/// estimated at `request_tokens` at most. A question that is too large by itself is sent alone.
///
/// `write` writes a question. The text and the questions are written once: the requests share the
/// bytes. Characters are counted only where not all bytes fit into one request: `frame_chars` gives
/// those of a request without questions, which has no fewer bytes.
pub(crate) fn split(
    frame: QuestionsFrame,
    questions: &[Question],
    request_tokens: usize,
    frame_chars: impl FnOnce() -> usize,
    write: impl Fn(&mut Vec<u8>, usize, &Question),
) -> Vec<SplitRequest<'_>> {
    let mut json = frame.beginning;
    let beginning = json.len();
    let mut written: Vec<Range<usize>> = Vec::with_capacity(questions.len());
    for (index, question) in questions.iter().enumerate() {
        if !written.is_empty() {
            json.push(b',');
        }
        let start = json.len();
        write(&mut json, index, question);
        written.push(start..json.len());
    }
    let bytes = Bytes::from(json);
    let all = 0..questions.len();
    let groups = if bytes.len() + frame.end.len() <= most_chars(request_tokens) {
        vec![all]
    } else {
        let chars = written
            .iter()
            .map(|question| chars(bytes.get(question.clone()).unwrap_or_default()));
        fewest_groups(chars, frame_chars(), request_tokens)
    };
    groups
        .into_iter()
        .filter_map(|group| {
            let first = written.get(group.start)?;
            let last = written.get(group.end.checked_sub(1)?)?;
            Some(SplitRequest {
                body: RequestBody::new([
                    bytes.slice(..beginning),
                    bytes.slice(first.start..last.end),
                    Bytes::from_static(frame.end),
                ]),
                questions: questions.get(group)?,
            })
        })
        .collect()
}

/// How many requests [`split`] makes of questions with these characters.
pub(crate) fn requests(questions: &[usize], frame_chars: usize, request_tokens: usize) -> usize {
    fewest_groups(questions.iter().copied(), frame_chars, request_tokens).len()
}

/// Ranges of questions, each as long as it can be. As the order is kept, no other cut gives fewer.
fn fewest_groups(
    questions: impl Iterator<Item = usize>,
    frame_chars: usize,
    request_tokens: usize,
) -> Vec<Range<usize>> {
    let most_chars = most_chars(request_tokens);
    let mut groups: Vec<Range<usize>> = Vec::with_capacity(1);
    let mut chars = 0;
    for (index, question_chars) in questions.enumerate() {
        chars += ",".len() + question_chars;
        match groups.last_mut() {
            Some(group) if chars <= most_chars => group.end = index + 1,
            Some(_) | None => {
                groups.push(index..index + 1);
                chars = frame_chars + question_chars;
            }
        }
    }
    groups
}

/// Bytes that everything but the state takes in a request of all questions, about.
pub(crate) fn room_for_questions(version: &PrismVersion) -> usize {
    let questions = version.questions_json().iter();
    let bytes: usize = questions.map(|json| json.len() + AROUND_A_QUESTION).sum();
    AROUND_THE_QUESTIONS + bytes
}

fn most_chars(request_tokens: usize) -> usize {
    request_tokens.saturating_mul(CHARS_PER_TOKEN)
}

/// Characters of a text in UTF-8.
fn chars(text: &[u8]) -> usize {
    let is_first = |byte: &&u8| (**byte & 0xC0) != 0x80;
    text.iter().filter(is_first).count()
}

/// Writes a value behind what is there already.
pub(crate) fn write_json(json: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    // writing these values into a vector cannot fail
    let _ = serde_json::to_writer(json, value);
}

#[cfg(test)]
mod tests;
