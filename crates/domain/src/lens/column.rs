//! Columns: each shows one output of one question (spec 2.5).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::output::{Average, Output, Value};
use crate::answer::{Answer, Probability};
use crate::key::{ColumnName, OutcomeKey, QuestionKey};
use crate::lens::cutoffs::{Cutoff, Cutoffs};
use crate::prism::{Question, QuestionKind, QuestionType};
use crate::problem::ValidationError;

/// One column of a lens.
///
/// In JSON it has the stored form, which names the type of its question: `{"name": "angry", "question":
/// "angry", "type": "yes_no", "output": "label", "yes_from": 0.7}`. A lens file has no types, and is
/// checked against a version: read it with `refract_authoring::lens_file`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "ColumnJson", try_from = "ColumnJson")]
pub struct Column {
    /// The column's name, unique in the lens.
    pub name: ColumnName,
    /// Key of the question whose answer the column shows.
    pub question: QuestionKey,
    /// The output of the answer that the column shows.
    pub output: Output,
}

impl Column {
    /// The default name of a column in a lens file: the question's key, then the output's suffix
    /// (spec 2.5).
    ///
    /// # Errors
    /// The fault of the name; the key of a saved question causes none.
    pub fn default_name(
        question: &QuestionKey,
        output: Output,
    ) -> Result<ColumnName, ValidationError> {
        ColumnName::parse(&format!("{question}{}", output.name_suffix()))
    }

    /// The column of the automatic lens for a question.
    pub fn automatic(question: &Question) -> Option<Self> {
        // a question key is a valid column name: it is short enough and is no row name
        let name = ColumnName::parse(question.key.as_str()).ok()?;
        Some(Self {
            name,
            question: question.key.clone(),
            output: Output::automatic(question.question_type()),
        })
    }

    /// The column's value for an answer to a question of the version that answered.
    ///
    /// `Null` when that version has no such question or has it with another type, and when the
    /// answer has no such value.
    #[inline]
    pub fn value<'a>(
        &self,
        question: Option<&'a Question>,
        answer: Option<&'a Answer>,
    ) -> Value<'a> {
        let (Some(question), Some(answer)) = (question, answer) else {
            return Value::Null;
        };
        if question.question_type() != self.output.question_type() {
            return Value::Null;
        }
        match (self.output, answer) {
            (
                Output::Top,
                Answer::Choice {
                    value: Some(key), ..
                },
            ) => outcome(question, key),
            (
                Output::TopProbability,
                Answer::Choice {
                    value: Some(key),
                    probabilities,
                    ..
                },
            )
            | (
                Output::LevelProbability,
                Answer::Scale {
                    level: key,
                    probabilities,
                },
            ) => probability_of(key, probabilities),
            (Output::AllOptions, Answer::Choice { probabilities, .. })
            | (Output::AllLevels, Answer::Scale { probabilities, .. }) => Value::All {
                question,
                probabilities,
            },
            (Output::Label(cutoffs), Answer::YesNo { probability }) => {
                Value::YesNo(cutoffs.label(*probability))
            }
            (Output::YesProbability, Answer::YesNo { probability }) => {
                Value::Probability(*probability)
            }
            (Output::Level, Answer::Scale { level, .. }) => outcome(question, level),
            (Output::Number, Answer::Scale { level, .. }) => position(question, level),
            (Output::Average, Answer::Scale { probabilities, .. }) => {
                Value::Average(Average::of(probabilities))
            }
            _ => Value::Null,
        }
    }
}

fn outcome<'a>(question: &'a Question, key: &'a OutcomeKey) -> Value<'a> {
    match question.label_of(key) {
        Some(label) => Value::Outcome {
            key: key.as_str(),
            label,
        },
        None => Value::Null,
    }
}

fn probability_of<'a>(key: &OutcomeKey, probabilities: &[(OutcomeKey, Probability)]) -> Value<'a> {
    let found = probabilities.iter().find(|(outcome, _)| outcome == key);
    found.map_or(Value::Null, |(_, probability)| {
        Value::Probability(*probability)
    })
}

fn position<'a>(question: &Question, level: &OutcomeKey) -> Value<'a> {
    let QuestionKind::Scale { levels } = &question.kind else {
        return Value::Null;
    };
    let mut numbered = levels.iter().zip(1..);
    let found = numbered.find(|(candidate, _)| candidate.key == *level);
    found.map_or(Value::Null, |(_, position)| Value::Position(position))
}

/// A column in its saved form: that of the lens file, with the question's type.
#[derive(Serialize, Deserialize)]
struct ColumnJson {
    name: ColumnName,
    question: QuestionKey,
    #[serde(rename = "type")]
    question_type: QuestionType,
    output: Cow<'static, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    no_below: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    yes_from: Option<f64>,
}

impl From<Column> for ColumnJson {
    fn from(column: Column) -> Self {
        let cutoffs = column.output.cutoffs().unwrap_or_default();
        Self {
            question_type: column.output.question_type(),
            output: Cow::Borrowed(column.output.name()),
            name: column.name,
            question: column.question,
            no_below: cutoffs.no_below().map(Cutoff::value),
            yes_from: cutoffs.yes_from().map(Cutoff::value),
        }
    }
}

impl TryFrom<ColumnJson> for Column {
    type Error = &'static str;

    fn try_from(json: ColumnJson) -> Result<Self, Self::Error> {
        let output = Output::parse(json.question_type, &json.output).ok_or("no such output")?;
        let output = if output.cutoffs().is_some() {
            let cutoffs = Cutoffs::new(json.no_below, json.yes_from);
            Output::Label(cutoffs.map_err(|_| "cutoffs out of range")?)
        } else {
            output
        };
        Ok(Self {
            name: json.name,
            question: json.question,
            output,
        })
    }
}
