//! A question in a Decisions request.

use std::borrow::Cow;

use refract_domain::limits;
use refract_domain::prism::question::{Question, QuestionKind};
use refract_domain::submission::model_input::{outcome_text, question_text};
use serde::Serialize;

/// The format's upper bound on the questions of a request.
const MOST_QUESTIONS: usize = 400;
/// The format's upper bound on the choices of a question.
const MOST_CHOICES: usize = 255;
/// The format's upper bound on the levels of a question.
const MOST_LEVELS: usize = 10;

// no prism exceeds the format's limits, so only the size splits requests
const _: () = assert!(
    *limits::QUESTIONS.end() <= MOST_QUESTIONS
        // includes the two built-in outcomes
        && *limits::OPTIONS.end() + 2 <= MOST_CHOICES
        && *limits::LEVELS.end() <= MOST_LEVELS
);

/// A question as it is sent.
#[derive(Serialize)]
pub(super) struct DecisionsQuestion<'a> {
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
    pub(super) fn new(question: &'a Question) -> Self {
        let plain = |kind| Self {
            kind,
            name: question.key.as_str(),
            instructions: question_text(question),
            choices: Vec::new(),
            levels: Vec::new(),
        };
        let outcomes = question.outcomes();
        match question.kind {
            QuestionKind::YesNo => plain("predicate"),
            QuestionKind::Choice { .. } => {
                let choices = outcomes.map(|outcome| DecisionsChoice {
                    value: outcome.key,
                    description: outcome_text(outcome),
                });
                Self {
                    choices: choices.collect(),
                    ..plain("choice")
                }
            }
            QuestionKind::Scale { .. } => {
                let levels = outcomes.map(|outcome| DecisionsLevel {
                    label: outcome_text(outcome),
                });
                Self {
                    levels: levels.collect(),
                    ..plain("score")
                }
            }
        }
    }
}
