//! Writes Decisions requests: one, or the fewest that fit where one would be too large.

use std::borrow::Cow;

use refract_domain::limits;
use refract_domain::model_input::{State, json_chars, outcome_text, question_text};
use refract_domain::prism::PrismVersion;
use refract_domain::question::{Question, QuestionKind};
use refract_domain::submission::Submission;
use serde::Serialize;

use crate::typed_questions::split::{self, QuestionsFrame, SplitRequest, write_json};

/// Most questions of a request in the format.
const MOST_QUESTIONS: usize = 400;
/// Most choices of a question in the format.
const MOST_CHOICES: usize = 255;
/// Levels of a question in the format.
const MOST_LEVELS: usize = 10;

// no prism exceeds the limits of the format, so requests are split by their size alone
const _: () = assert!(
    *limits::QUESTIONS.end() <= MOST_QUESTIONS
        // with the two built-in outcomes
        && *limits::OPTIONS.end() + 2 <= MOST_CHOICES
        && *limits::LEVELS.end() <= MOST_LEVELS
);

/// Characters of `{"input":` `,"questions":[` `]}` around state and questions, for the estimate.
const FRAME_CHARS: usize = r#"{"input":,"questions":[]}"#.len();

/// Writes the questions about a submission into as few requests as fit. The state is a text that
/// holds JSON; the estimate counts the JSON, which is what the model reads.
pub(crate) fn split<'a>(
    model: &str,
    version: &'a PrismVersion,
    submission: &Submission,
    request_tokens: usize,
) -> Vec<SplitRequest<'a>> {
    let state = State {
        prism_context: version.context(),
        submission,
    };
    // a state without JSON does not occur
    let text = serde_json::to_string(&state).unwrap_or_default();
    let escaped = text.bytes().filter(|byte| matches!(byte, b'"' | b'\\'));
    let text_bytes = text.len() + escaped.count();
    let mut beginning = Vec::with_capacity(text_bytes + split::room_for_questions(version));
    beginning.extend_from_slice(br#"{"model":"#);
    write_json(&mut beginning, model);
    beginning.extend_from_slice(br#","input":"#);
    write_json(&mut beginning, &text);
    beginning.extend_from_slice(br#","questions":["#);
    let end = b"]}";
    split::split(
        QuestionsFrame { beginning, end },
        version.questions(),
        request_tokens,
        || FRAME_CHARS + json_chars(&state),
        |json, _, question| write_json(json, &DecisionsQuestion::new(question)),
    )
}

/// Characters of each question as [`split`] counts them.
pub(crate) fn question_chars(version: &PrismVersion) -> Vec<usize> {
    let questions = version.questions().iter();
    questions
        .map(|question| json_chars(&DecisionsQuestion::new(question)))
        .collect()
}

/// How many requests [`split`] makes for a state of this many characters.
pub(crate) fn requests(questions: &[usize], state_chars: usize, request_tokens: usize) -> usize {
    split::requests(questions, FRAME_CHARS + state_chars, request_tokens)
}

/// A question as it is sent.
#[derive(Serialize)]
struct DecisionsQuestion<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'a str,
    instructions: Cow<'a, str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    choices: Vec<DecisionsChoice<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    levels: Vec<DecisionsLevel<'a>>,
}

#[derive(Serialize)]
struct DecisionsChoice<'a> {
    value: &'a str,
    description: Cow<'a, str>,
}

#[derive(Serialize)]
struct DecisionsLevel<'a> {
    label: Cow<'a, str>,
}

impl<'a> DecisionsQuestion<'a> {
    fn new(question: &'a Question) -> Self {
        let plain = |kind| Self {
            kind,
            name: question.key.as_str(),
            instructions: question_text(question),
            choices: Vec::new(),
            levels: Vec::new(),
        };
        match question.kind {
            QuestionKind::YesNo => plain("predicate"),
            QuestionKind::Choice { .. } => Self {
                choices: choices(question),
                ..plain("choice")
            },
            QuestionKind::Scale { .. } => Self {
                levels: levels(question),
                ..plain("score")
            },
        }
    }
}

fn choices(question: &Question) -> Vec<DecisionsChoice<'_>> {
    let choices = question.outcomes().map(|outcome| DecisionsChoice {
        value: outcome.key,
        description: outcome_text(outcome),
    });
    choices.collect()
}

fn levels(question: &Question) -> Vec<DecisionsLevel<'_>> {
    let levels = question.outcomes().map(|outcome| DecisionsLevel {
        label: outcome_text(outcome),
    });
    levels.collect()
}
