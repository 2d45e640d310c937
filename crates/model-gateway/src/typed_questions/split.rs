//! Splits the questions about one submission over as few requests as fit.

use std::ops::Range;

use bytes::Bytes;
use refract_domain::limits::CHARS_PER_TOKEN;
use refract_domain::question::Question;
use serde::Serialize;

use crate::request_body::RequestBody;

/// One request and the questions that it asks.
pub(crate) struct SplitRequest<'a> {
    pub(crate) body: RequestBody,
    pub(crate) questions: &'a [Question],
}

/// The JSON around the questions of a request.
pub(crate) struct QuestionsFrame {
    /// The JSON before the first question, with the text to judge.
    pub(crate) beginning: CountedJson,
    /// The JSON behind the last question.
    pub(crate) end: &'static [u8],
    /// Estimated characters of a request without questions.
    pub(crate) chars: usize,
}

/// Writes all questions into one request, or, in order, into the fewest requests of which each is
/// estimated at `request_tokens` at most. A question that is too large by itself is sent alone.
///
/// `write` writes a question and returns its characters. The text and the questions are written
/// once: the requests share the bytes.
pub(crate) fn split(
    frame: QuestionsFrame,
    questions: &[Question],
    request_tokens: usize,
    write: impl Fn(&mut CountedJson, &Question) -> usize,
) -> Vec<SplitRequest<'_>> {
    let mut json = frame.beginning;
    let beginning = json.bytes.len();
    let mut written: Vec<WrittenQuestion> = Vec::with_capacity(questions.len());
    for question in questions {
        if !written.is_empty() {
            json.raw(b",");
        }
        let start = json.bytes.len();
        let chars = write(&mut json, question);
        written.push(WrittenQuestion {
            bytes: start..json.bytes.len(),
            chars,
        });
    }
    let bytes = Bytes::from(json.bytes);
    let chars = written.iter().map(|question| question.chars);
    let groups = fewest_groups(chars, frame.chars, request_tokens);
    groups
        .into_iter()
        .filter_map(|group| {
            let first = written.get(group.start)?;
            let last = written.get(group.end.checked_sub(1)?)?;
            Some(SplitRequest {
                body: RequestBody::new([
                    bytes.slice(..beginning),
                    bytes.slice(first.bytes.start..last.bytes.end),
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

/// A question in the JSON text.
struct WrittenQuestion {
    bytes: Range<usize>,
    chars: usize,
}

/// Ranges of questions, each as long as it can be. As the order is kept, no other cut gives fewer.
fn fewest_groups(
    questions: impl Iterator<Item = usize>,
    frame_chars: usize,
    request_tokens: usize,
) -> Vec<Range<usize>> {
    let most_chars = request_tokens.saturating_mul(CHARS_PER_TOKEN);
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

/// JSON text that counts characters while it grows.
#[derive(Default)]
pub(crate) struct CountedJson {
    bytes: Vec<u8>,
}

impl CountedJson {
    /// The JSON so far.
    pub(crate) fn text(&self) -> &str {
        // everything that is written here is UTF-8
        str::from_utf8(&self.bytes).unwrap_or_default()
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Writes a value and counts its characters.
    pub(crate) fn value(&mut self, value: &(impl Serialize + ?Sized)) -> usize {
        let start = self.bytes.len();
        // writing these values into a vector cannot fail
        let _ = serde_json::to_writer(&mut self.bytes, value);
        let written = self.bytes.get(start..).unwrap_or_default();
        written
            .iter()
            .filter(|byte| (**byte & 0xC0) != 0x80)
            .count()
    }
}
