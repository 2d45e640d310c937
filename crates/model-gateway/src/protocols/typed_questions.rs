//! The protocols `systemone`, `decisions` and `gemini`: a request asks many questions at once and gets a
//! typed answer with probabilities for each. The formats are separate modules: [`TypedFormat`] has what
//! distinguishes them.
//!
//! The questions about one submission are split into as few requests as possible.

pub(crate) mod reply;
pub(crate) mod request_limits;

use std::ops::Range;

use bytes::Bytes;
use refract_domain::answer::{Answer, Answers};
use refract_domain::key::QuestionKey;
use refract_domain::limits::CHARS_PER_TOKEN;
use refract_domain::prism::{PrismVersion, Question};
use refract_domain::submission::Submission;
use refract_domain::submission::model_input::{State, json_chars};

use self::reply::{TypedFormat, TypedReply, write_json};
use self::request_limits::{LearnedLimits, RequestLimits};
use crate::attempts::CallSender;
use crate::connection::request_body::RequestBody;
use crate::error::{Excess, ModelError};
use crate::protocols::concurrent::{all_answers, all_or_first_failure};
use crate::report::ReportedUsage;

/// Asks servers with a format of typed questions.
#[derive(Debug)]
pub(crate) struct TypedProtocol {
    pub(crate) format: &'static TypedFormat,
    /// Sent as `model`.
    pub(crate) model: String,
    /// Upper bounds on one request.
    pub(crate) limits: LearnedLimits,
}

impl TypedProtocol {
    /// Asks all questions, split into concurrent requests if one would be too large.
    pub(crate) async fn ask(
        &self,
        call: &CallSender<'_>,
        version: &PrismVersion,
        submission: &Submission,
    ) -> Result<Answers, ModelError> {
        let written = &self.format.write(&self.model, version, submission);
        let groups = written.groups(self.limits.now()).into_iter();
        all_answers(groups.map(|group| self.answers(call, written, group))).await
    }

    /// Asks a group of questions. A request that the server refuses for its size is halved.
    async fn answers(
        &self,
        call: &CallSender<'_>,
        written: &WrittenQuestions<'_>,
        group: Range<usize>,
    ) -> Result<Vec<(QuestionKey, Answer)>, ModelError> {
        let answered = self.ask_group(call, written, &group).await;
        match answered.as_ref().err().and_then(ModelError::excess) {
            Some(excess) if group.len() > 1 => {
                // boxed, so that a request that is not refused needs no memory for halves
                Box::pin(self.halves(call, written, group, excess)).await
            }
            Some(_) | None => answered,
        }
    }

    /// Asks a refused group in two halves, or in as many parts as the refusal asks for. The first
    /// part is asked alone: a text that is too long by itself then costs few requests. What the parts
    /// show is learned once they are answered, so that such a text teaches nothing.
    async fn halves(
        &self,
        call: &CallSender<'_>,
        written: &WrittenQuestions<'_>,
        group: Range<usize>,
        excess: Excess,
    ) -> Result<Vec<(QuestionKey, Answer)>, ModelError> {
        let half = group.len().div_ceil(2);
        let most = match excess {
            Excess::Questions(Some(most)) => most.min(half),
            Excess::Questions(None) | Excess::Tokens | Excess::Options => half,
        };
        let starts = group.clone().step_by(most);
        let parts: Vec<Range<usize>> = starts
            .map(|start| start..group.end.min(start + most))
            .collect();
        let mut answers = parts
            .iter()
            .map(|part| self.answers(call, written, part.clone()));
        let first = all_or_first_failure(answers.next()).await?;
        let others = all_or_first_failure(answers).await?;
        match excess {
            Excess::Questions(_) => self.limits.learn_questions(most),
            Excess::Tokens | Excess::Options => {
                let tokens = parts.iter().map(|part| written.tokens(part));
                self.limits.learn_tokens(tokens.max().unwrap_or(usize::MAX));
            }
        }
        Ok(first.into_iter().chain(others).flatten().collect())
    }

    /// Asks a group of questions in one request.
    async fn ask_group(
        &self,
        call: &CallSender<'_>,
        written: &WrittenQuestions<'_>,
        group: &Range<usize>,
    ) -> Result<Vec<(QuestionKey, Answer)>, ModelError> {
        let mut series = call.series();
        let body = written.body(group);
        let body = call.post(|_| body.clone(), &mut series).await?;
        let malformed = || self.format.malformed.clone();
        let reply = TypedReply::read(&body).ok_or_else(malformed)?;
        let usage = ReportedUsage::read(reply.model, reply.usage);
        call.recorder.add_usage(&usage);
        if reply.is_error {
            return Err(ModelError::ReportedError);
        }
        if let Some(reason) = reply.block_reason {
            return Err(ModelError::Blocked(reason));
        }
        let answers = reply.answers.ok_or_else(malformed)?;
        let read = (self.format.read)(answers, written.questions(group))?;
        call.recorder.add_parsed(read.parsed);
        Ok(read.answers)
    }
}

/// Approximate size in bytes of a question's key and of the JSON around the question.
const AROUND_A_QUESTION: usize = 32;
/// Approximate size in bytes of the JSON around all questions.
const AROUND_THE_QUESTIONS: usize = 32;

/// All questions about one submission as JSON, written once. The requests share its bytes.
struct WrittenQuestions<'a> {
    format: &'static TypedFormat,
    state: State<'a>,
    questions: &'a [Question],
    bytes: Bytes,
    /// Number of bytes before the first question.
    beginning: usize,
    /// Where each question is among the bytes.
    places: Vec<Range<usize>>,
}

impl TypedFormat {
    /// Writes all questions about a submission, in order. `model` is the model's name.
    fn write<'a>(
        &'static self,
        model: &str,
        version: &'a PrismVersion,
        submission: &'a Submission,
    ) -> WrittenQuestions<'a> {
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
        let mut places: Vec<Range<usize>> = Vec::with_capacity(questions.len());
        for (question, written) in questions.iter().zip(version.questions_json()) {
            if !places.is_empty() {
                json.push(b',');
            }
            let start = json.len();
            (self.write_question)(&mut json, question, written);
            places.push(start..json.len());
        }
        WrittenQuestions {
            format: self,
            state,
            questions,
            bytes: Bytes::from(json),
            beginning,
            places,
        }
    }

    /// Number of requests for questions with these numbers of characters and a state of
    /// `state_chars`.
    pub(crate) fn requests(
        &self,
        questions: &[usize],
        state_chars: usize,
        limits: RequestLimits,
    ) -> usize {
        let frame_chars = self.frame_chars() + state_chars;
        fewest_groups(questions.iter().copied(), frame_chars, limits).len()
    }

    /// Number of characters of each question, with its key.
    pub(crate) fn question_chars(&self, version: &PrismVersion) -> Vec<usize> {
        let questions = version.questions().iter().zip(version.questions_json());
        let questions = questions.map(|(question, written)| {
            let mut json = Vec::new();
            (self.write_question)(&mut json, question, written);
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

impl<'a> WrittenQuestions<'a> {
    /// The questions of each request, for the fewest requests within the limits. A question that is
    /// too large by itself is sent alone.
    ///
    /// Characters are counted only if the bytes do not all fit into one request.
    fn groups(&self, limits: RequestLimits) -> Vec<Range<usize>> {
        let bytes = self.bytes.len() + self.format.end.len();
        if bytes <= most_chars(limits) && self.places.len() <= limits.questions {
            let all = 0..self.places.len();
            return vec![all];
        }
        let frame_chars = self.format.frame_chars() + json_chars(&self.state);
        fewest_groups(self.chars(), frame_chars, limits)
    }

    /// Estimated tokens of a request for a group of questions.
    fn tokens(&self, group: &Range<usize>) -> usize {
        let frame_chars = self.format.frame_chars() + json_chars(&self.state);
        let questions = self.chars().skip(group.start).take(group.len());
        let questions: usize = questions.map(|chars| ",".len() + chars).sum();
        (frame_chars + questions).div_ceil(CHARS_PER_TOKEN)
    }

    /// The questions of a group.
    fn questions(&self, group: &Range<usize>) -> &'a [Question] {
        self.questions.get(group.clone()).unwrap_or_default()
    }

    /// The body of a request for a group of questions.
    fn body(&self, group: &Range<usize>) -> RequestBody {
        let places = self.places.get(group.clone()).unwrap_or_default();
        let first = places.first().map_or(self.beginning, |place| place.start);
        let end = places.last().map_or(first, |place| place.end);
        RequestBody::new([
            self.bytes.slice(..self.beginning),
            self.bytes.slice(first..end),
            Bytes::from_static(self.format.end.as_bytes()),
        ])
    }

    /// Number of characters of each question.
    fn chars(&self) -> impl Iterator<Item = usize> {
        let places = self.places.iter().cloned();
        places.map(|place| chars(self.bytes.get(place).unwrap_or_default()))
    }
}

/// Ranges of questions, each as long as possible. In a fixed order, no other split has fewer.
fn fewest_groups(
    questions: impl Iterator<Item = usize>,
    frame_chars: usize,
    limits: RequestLimits,
) -> Vec<Range<usize>> {
    let most_chars = most_chars(limits);
    let mut groups: Vec<Range<usize>> = Vec::with_capacity(1);
    let mut chars = 0;
    for (index, question_chars) in questions.enumerate() {
        chars += ",".len() + question_chars;
        match groups.last_mut() {
            Some(group) if chars <= most_chars && group.len() < limits.questions => {
                group.end = index + 1;
            }
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

fn most_chars(limits: RequestLimits) -> usize {
    limits.tokens.saturating_mul(CHARS_PER_TOKEN)
}

/// Number of characters of a text in UTF-8.
fn chars(text: &[u8]) -> usize {
    let is_first = |byte: &&u8| (**byte & 0xC0) != 0x80;
    text.iter().filter(is_first).count()
}

#[cfg(test)]
mod tests;
