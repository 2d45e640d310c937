//! The model's input: the text to judge, and the questions about it.
//!
//! The form is that of the System One format, with the text in `state` and an object for each
//! question. All protocols share this wording; the token estimate measures the JSON (spec 8,
//! readings).

use std::borrow::Cow;
use std::io;

use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};
use serde_with::{As, Map, Same};

use crate::prism::{OutcomeRef, Question, QuestionKind};
use crate::submission::Submission;

/// The line between the prism's context and the call's context.
const CALL_CONTEXT_LINE: &str = "Context for this call:";

/// The prism's context and the call's context as one text; `None` without either.
pub fn context<'a>(prism: Option<&'a str>, call: Option<&'a str>) -> Option<Cow<'a, str>> {
    match (prism, call) {
        (None, None) => None,
        (Some(prism), None) => Some(Cow::Borrowed(prism)),
        (None, Some(call)) => Some(Cow::Owned(format!("{CALL_CONTEXT_LINE}\n{call}"))),
        (Some(prism), Some(call)) => {
            Some(Cow::Owned(format!("{prism}\n{CALL_CONTEXT_LINE}\n{call}")))
        }
    }
}

/// A question's text and, on a new line, the question's instructions.
pub fn question_text(question: &Question) -> Cow<'_, str> {
    match &question.instructions {
        None => Cow::Borrowed(&question.text),
        Some(instructions) => Cow::Owned(format!("{}\n{instructions}", question.text)),
    }
}

/// An outcome as the model reads it: `Label`, or `Label: description`.
pub fn outcome_text(outcome: OutcomeRef<'_>) -> Cow<'_, str> {
    match outcome.description {
        None => Cow::Borrowed(outcome.label),
        Some(description) => Cow::Owned(format!("{}: {description}", outcome.label)),
    }
}

/// The text to judge. In JSON an object: `context` first, if there is one, then the fields in the
/// prism's order.
#[derive(Clone, Copy)]
pub struct State<'a> {
    /// The prism's context.
    pub prism_context: Option<&'a str>,
    /// The call's values and context.
    pub submission: &'a Submission,
}

impl State<'_> {
    /// Size in bytes of the state's JSON if no character has to be escaped; a few bytes too many at
    /// most.
    pub fn unescaped_bytes(&self) -> usize {
        let contexts = [self.prism_context, self.submission.context()];
        let contexts = contexts.into_iter().flatten().map(str::len).sum::<usize>();
        let frame = r#""context":"","#.len() + CALL_CONTEXT_LINE.len() + r"\n\n".len();
        contexts + frame + self.submission.field_values().unescaped_bytes()
    }
}

impl Serialize for State<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(context) = context(self.prism_context, self.submission.context()) {
            map.serialize_entry("context", &context)?;
        }
        for (key, value) in self.submission.fields() {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// One question in the System One format, which the token estimate measures.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum SystemOneQuestion<'a> {
    /// A Choice question.
    Choice {
        /// The question's text and instructions.
        instructions: Cow<'a, str>,
        /// The text of each outcome under its key.
        #[serde(serialize_with = "As::<Map<Same, Same>>::serialize")]
        criteria: Vec<(&'a str, Cow<'a, str>)>,
    },
    /// A Yes / No question.
    Noul {
        /// The question's text and instructions.
        instructions: Cow<'a, str>,
    },
    /// A Scale question.
    Score {
        /// The question's text and instructions.
        instructions: Cow<'a, str>,
        /// The text of each level, lowest first.
        criteria: Vec<Cow<'a, str>>,
    },
}

impl<'a> From<&'a Question> for SystemOneQuestion<'a> {
    fn from(question: &'a Question) -> Self {
        let instructions = question_text(question);
        let outcomes = question.outcomes();
        match question.kind {
            QuestionKind::Choice { .. } => Self::Choice {
                instructions,
                criteria: outcomes.map(|one| (one.key, outcome_text(one))).collect(),
            },
            QuestionKind::YesNo => Self::Noul { instructions },
            QuestionKind::Scale { .. } => Self::Score {
                instructions,
                criteria: outcomes.map(outcome_text).collect(),
            },
        }
    }
}

impl SystemOneQuestion<'_> {
    /// The question as compact JSON.
    pub fn json(&self) -> Box<str> {
        // these values cannot fail to serialise
        serde_json::to_string(self).unwrap_or_default().into()
    }
}

/// Characters of a value's compact JSON.
pub fn json_chars(value: &impl Serialize) -> usize {
    let mut counter = CharCounter(0);
    // neither the counter nor these values can fail
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

/// Counts characters of UTF-8 without storing them.
struct CharCounter(usize);

impl io::Write for CharCounter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let continuations = bytes.iter().filter(|byte| (**byte & 0xC0) == 0x80).count();
        self.0 += bytes.len() - continuations;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
