//! Writes System One requests: one, or the fewest that fit where one would be too large.

use std::ops::Range;

use bytes::Bytes;
use refract_domain::limits::CHARS_PER_TOKEN;
use refract_domain::model_input::{self, State, SystemOneQuestion, json_chars};
use refract_domain::prism::PrismVersion;
use refract_domain::question::Question;
use refract_domain::submission::Submission;
use serde::Serialize;

use crate::request_body::RequestBody;

/// Characters of `{"state":` `,"questions":{` `}}` around state and questions, for the estimate.
const FRAME_CHARS: usize = r#"{"state":,"questions":{}}"#.len();
const END: &[u8] = b"}}";

/// One request and the questions that it asks.
pub(crate) struct SystemOneRequest<'a> {
    pub(crate) body: RequestBody,
    pub(crate) questions: &'a [Question],
}

/// Writes all questions into one request, or, in order, into the fewest requests of which each is
/// estimated at `request_tokens` at most. A question that is too large by itself is sent alone.
///
/// State and questions are written once: the requests share the bytes.
pub(crate) fn split<'a>(
    model: &str,
    version: &'a PrismVersion,
    submission: &Submission,
    request_tokens: usize,
) -> Vec<SystemOneRequest<'a>> {
    let mut text = CountedJson::default();
    text.raw(br#"{"model":"#);
    text.value(model);
    text.raw(br#","state":"#);
    let state_chars = text.value(&State {
        prism_context: version.context(),
        submission,
    });
    text.raw(br#","questions":{"#);
    let beginning = text.bytes.len();
    let mut questions = Vec::with_capacity(version.questions().len());
    for question in version.questions() {
        if !questions.is_empty() {
            text.raw(b",");
        }
        let start = text.bytes.len();
        let mut chars = text.value(question.key.as_str());
        text.raw(b":");
        chars += text.value(&SystemOneQuestion(question));
        questions.push(WrittenQuestion {
            bytes: start..text.bytes.len(),
            chars: chars + ":".len(),
        });
    }
    let bytes = Bytes::from(text.bytes);
    let most_chars = request_tokens.saturating_mul(CHARS_PER_TOKEN);
    let chars = questions.iter().map(|question| question.chars);
    let groups = fewest_groups(chars, FRAME_CHARS + state_chars, most_chars);
    groups
        .into_iter()
        .filter_map(|group| {
            let first = questions.get(group.start)?;
            let last = questions.get(group.end.checked_sub(1)?)?;
            Some(SystemOneRequest {
                body: RequestBody::new([
                    bytes.slice(..beginning),
                    bytes.slice(first.bytes.start..last.bytes.end),
                    Bytes::from_static(END),
                ]),
                questions: version.questions().get(group)?,
            })
        })
        .collect()
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
    most_chars: usize,
) -> Vec<Range<usize>> {
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

/// Characters of each question as [`split`] counts them.
pub(crate) fn question_chars(version: &PrismVersion) -> Vec<usize> {
    let written = version.questions().iter().map(|question| {
        json_chars(&question.key) + ":".len() + model_input::question_chars(question)
    });
    written.collect()
}

/// How many requests [`split`] makes for a state of this many characters.
pub(crate) fn requests(questions: &[usize], state_chars: usize, request_tokens: usize) -> usize {
    let most_chars = request_tokens.saturating_mul(CHARS_PER_TOKEN);
    let chars = questions.iter().copied();
    fewest_groups(chars, FRAME_CHARS + state_chars, most_chars).len()
}

/// JSON text that counts characters while it grows.
#[derive(Default)]
struct CountedJson {
    bytes: Vec<u8>,
}

impl CountedJson {
    fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Writes a value and counts its characters.
    fn value(&mut self, value: &(impl Serialize + ?Sized)) -> usize {
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
