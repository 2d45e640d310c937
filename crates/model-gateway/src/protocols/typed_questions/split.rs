//! Splits the questions about one submission into as few requests as possible.

use std::ops::Range;

use bytes::Bytes;
use refract_domain::limits::CHARS_PER_TOKEN;
use refract_domain::prism::PrismVersion;
use refract_domain::prism::question::Question;
use refract_domain::submission::Submission;
use refract_domain::submission::model_input::{State, json_chars};

use super::format::{TypedFormat, write_json};
use crate::connection::request_body::RequestBody;

/// Approximate size in bytes of a question's key and of the JSON around the question.
const AROUND_A_QUESTION: usize = 32;
/// Approximate size in bytes of the JSON around all questions.
const AROUND_THE_QUESTIONS: usize = 32;

/// One request and the questions that it asks.
pub(crate) struct SplitRequest<'a> {
    pub(crate) body: RequestBody,
    pub(crate) questions: &'a [Question],
}

impl TypedFormat {
    /// Writes all questions about a submission, in order, into the fewest requests with at most
    /// `request_tokens` estimated tokens each. `model` is the model's name. A question that is too
    /// large by itself is sent alone.
    ///
    /// The text and the questions are written once, and all requests share the bytes. Characters
    /// are counted only if the bytes do not all fit into one request.
    pub(super) fn split<'a>(
        &self,
        model: &str,
        version: &'a PrismVersion,
        submission: &Submission,
        request_tokens: usize,
    ) -> Vec<SplitRequest<'a>> {
        let state = State {
            prism_context: version.context(),
            submission,
        };
        let questions = version.questions();
        let mut json = br#"{"model":"#.to_vec();
        write_json(&mut json, model);
        json.extend_from_slice(self.before_state.as_bytes());
        (self.write_state)(&mut json, &state, room_for_questions(version));
        json.extend_from_slice(self.before_questions.as_bytes());
        let beginning = json.len();
        let mut written: Vec<Range<usize>> = Vec::with_capacity(questions.len());
        for question in questions {
            if !written.is_empty() {
                json.push(b',');
            }
            let start = json.len();
            (self.write_question)(&mut json, question);
            written.push(start..json.len());
        }
        let bytes = Bytes::from(json);
        let groups = if bytes.len() + self.end.len() <= most_chars(request_tokens) {
            let all = 0..questions.len();
            vec![all]
        } else {
            let written = written.iter().cloned();
            let chars = written.map(|question| chars(bytes.get(question).unwrap_or_default()));
            let frame_chars = self.frame_chars() + json_chars(&state);
            fewest_groups(chars, frame_chars, request_tokens)
        };
        let requests = groups.into_iter().filter_map(|group| {
            let first = written.get(group.start)?;
            let last = written.get(group.end.checked_sub(1)?)?;
            Some(SplitRequest {
                body: RequestBody::new([
                    bytes.slice(..beginning),
                    bytes.slice(first.start..last.end),
                    Bytes::from_static(self.end.as_bytes()),
                ]),
                questions: questions.get(group)?,
            })
        });
        requests.collect()
    }

    /// Number of requests for questions with these numbers of characters and a state of
    /// `state_chars`.
    pub(crate) fn requests(
        &self,
        questions: &[usize],
        state_chars: usize,
        request_tokens: usize,
    ) -> usize {
        let frame_chars = self.frame_chars() + state_chars;
        fewest_groups(questions.iter().copied(), frame_chars, request_tokens).len()
    }

    /// Number of characters of each question, with its key.
    pub(crate) fn question_chars(&self, version: &PrismVersion) -> Vec<usize> {
        let questions = version.questions().iter().map(|question| {
            let mut json = Vec::new();
            (self.write_question)(&mut json, question);
            chars(&json)
        });
        questions.collect()
    }

    /// Number of characters around text and questions, for the estimate. The model's name does not
    /// count, and the comma after it counts for the brace before it.
    fn frame_chars(&self) -> usize {
        self.before_state.len() + self.before_questions.len() + self.end.len()
    }
}

/// Ranges of questions, each as long as possible. In a fixed order, no other split has fewer.
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

/// Approximate size in bytes of all questions of a request.
fn room_for_questions(version: &PrismVersion) -> usize {
    let questions = version.question_chars().iter();
    let bytes: usize = questions.map(|chars| chars + AROUND_A_QUESTION).sum();
    AROUND_THE_QUESTIONS + bytes
}

fn most_chars(request_tokens: usize) -> usize {
    request_tokens.saturating_mul(CHARS_PER_TOKEN)
}

/// Number of characters of a text in UTF-8.
fn chars(text: &[u8]) -> usize {
    let is_first = |byte: &&u8| (**byte & 0xC0) != 0x80;
    text.iter().filter(is_first).count()
}

#[cfg(test)]
mod tests;
