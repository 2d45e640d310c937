//! The lens: which columns a reader sees, and what stands in each (spec 2.5).
//!
//! A lens belongs to the prism and not to a version. It is applied whenever a result is read, so
//! a changed lens changes what old results return, without asking a model again.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::answer::{Answer, Distribution};
use crate::cutoffs::{Cutoff, Cutoffs, YesNoLabel};
use crate::decimal::Decimal;
use crate::key::{ColumnName, OutcomeKey, QuestionKey};
use crate::probability::Probability;
use crate::question::{Question, QuestionKind, QuestionType};

/// What a column shows of its question's answer. Each output is of one question type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Output {
    /// Choice: the chosen outcome.
    Top,
    /// Choice: the chosen outcome's probability.
    TopProbability,
    /// Choice: every outcome with its probability.
    AllOptions,
    /// Yes / No: `yes`, `no` or `unsure`.
    Label(Cutoffs),
    /// Yes / No: the probability of yes.
    YesProbability,
    /// Scale: the most probable level.
    Level,
    /// Scale: that level's position, 1 for the lowest.
    Number,
    /// Scale: the expected level number.
    Average,
    /// Scale: the most probable level's probability.
    LevelProbability,
    /// Scale: every level with its probability.
    AllLevels,
}

impl Output {
    /// The outputs of a question type by name, as the specification lists them.
    pub fn names(question_type: QuestionType) -> &'static [&'static str] {
        match question_type {
            QuestionType::Choice => &["top", "probability", "all"],
            QuestionType::YesNo => &["label", "probability"],
            QuestionType::Scale => &["level", "number", "average", "probability", "all"],
        }
    }

    /// The output of that name for questions of that type; `label` without cutoffs.
    pub fn parse(question_type: QuestionType, name: &str) -> Option<Self> {
        let output = match (question_type, name) {
            (QuestionType::Choice, "top") => Self::Top,
            (QuestionType::Choice, "probability") => Self::TopProbability,
            (QuestionType::Choice, "all") => Self::AllOptions,
            (QuestionType::YesNo, "label") => Self::Label(Cutoffs::default()),
            (QuestionType::YesNo, "probability") => Self::YesProbability,
            (QuestionType::Scale, "level") => Self::Level,
            (QuestionType::Scale, "number") => Self::Number,
            (QuestionType::Scale, "average") => Self::Average,
            (QuestionType::Scale, "probability") => Self::LevelProbability,
            (QuestionType::Scale, "all") => Self::AllLevels,
            _ => return None,
        };
        Some(output)
    }

    /// The output's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Top => "top",
            Self::TopProbability | Self::YesProbability | Self::LevelProbability => "probability",
            Self::AllOptions | Self::AllLevels => "all",
            Self::Label(_) => "label",
            Self::Level => "level",
            Self::Number => "number",
            Self::Average => "average",
        }
    }

    /// The type of question that it reads.
    pub fn question_type(self) -> QuestionType {
        match self {
            Self::Top | Self::TopProbability | Self::AllOptions => QuestionType::Choice,
            Self::Label(_) | Self::YesProbability => QuestionType::YesNo,
            Self::Level
            | Self::Number
            | Self::Average
            | Self::LevelProbability
            | Self::AllLevels => QuestionType::Scale,
        }
    }

    /// The cutoffs of a `label`; `None` for every other output.
    pub fn cutoffs(self) -> Option<Cutoffs> {
        if let Self::Label(cutoffs) = self {
            Some(cutoffs)
        } else {
            None
        }
    }

    /// What the default column name has after the question key.
    pub fn name_suffix(self) -> &'static str {
        match self {
            Self::Top | Self::Label(_) | Self::Level => "",
            Self::TopProbability | Self::YesProbability | Self::LevelProbability => "_probability",
            Self::AllOptions | Self::AllLevels => "_all",
            Self::Number => "_number",
            Self::Average => "_average",
        }
    }

    /// The output of a column of the automatic lens.
    fn automatic(question_type: QuestionType) -> Self {
        match question_type {
            QuestionType::Choice => Self::Top,
            QuestionType::YesNo => Self::Label(Cutoffs::AUTOMATIC),
            QuestionType::Scale => Self::Level,
        }
    }
}

/// One column of a lens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "ColumnJson", try_from = "ColumnJson")]
pub struct Column {
    /// Unique in its lens.
    pub name: ColumnName,
    /// The question that it reads.
    pub question: QuestionKey,
    /// What it shows of the answer.
    pub output: Output,
}

/// A column as it is saved: like the lens file's, with the question's type.
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

/// A prism's lens.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Lens {
    /// One column per question of the latest version; follows the prism.
    #[default]
    Automatic,
    /// Columns that were saved; 1 to 300.
    Custom(Vec<Column>),
}

impl Lens {
    /// The lens after a version with these questions was saved: without the columns whose question
    /// the version removed, and automatic again when no column is left (spec 2.5).
    pub fn after_save(self, saved: &[Question]) -> Self {
        match self {
            Self::Automatic => Self::Automatic,
            Self::Custom(mut columns) => {
                let is_read = |column: &Column| saved.iter().any(|q| q.key == column.question);
                columns.retain(is_read);
                if columns.is_empty() {
                    Self::Automatic
                } else {
                    Self::Custom(columns)
                }
            }
        }
    }
}

/// The column that the automatic lens has for a question.
pub(crate) fn automatic_column(question: &Question) -> Option<Column> {
    // a question key has the shape of a column name and is none of the row names
    let name = ColumnName::parse(question.key.as_str()).ok()?;
    let output = Output::automatic(question.question_type());
    Some(Column {
        name,
        question: question.key.clone(),
        output,
    })
}

/// What stands in one column of one result.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// Nothing.
    Null,
    /// An outcome of a Choice or a level of a Scale.
    Outcome {
        /// For json and jsonl.
        key: &'a str,
        /// For cells; of the version that answered.
        label: &'a str,
    },
    /// A Yes / No label.
    YesNo(YesNoLabel),
    /// A probability.
    Probability(Probability),
    /// A level's position, from 1.
    Position(u32),
    /// An expected level number.
    Average(Average),
    /// Every outcome with its probability.
    All {
        /// Of the version that answered; it has the labels.
        question: &'a Question,
        /// In the prism's order.
        probabilities: &'a Distribution,
    },
}

/// An expected level number, in hundredths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Average(u32);

impl Average {
    /// The sum of position times probability, rounded half away from zero to two decimals.
    fn of(probabilities: &[(OutcomeKey, Probability)]) -> Self {
        let positions = 1_u64..;
        let weighed = positions
            .zip(probabilities)
            .map(|(n, (_, p))| n * u64::from(p.millionths()));
        let hundredths = (weighed.sum::<u64>() + 5_000) / 10_000;
        // ten levels give 55 at most
        Self(u32::try_from(hundredths).unwrap_or(u32::MAX))
    }

    /// The number written out.
    #[inline]
    pub fn decimal(self) -> Decimal {
        Decimal::new(self.0, 2)
    }

    /// The level that is nearest, from 1; the higher of two that are equally near.
    pub fn nearest_level(self) -> u32 {
        (self.0 + 50) / 100
    }
}

/// A plain decimal without trailing zeros.
impl std::fmt::Display for Average {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.decimal().fmt(f)
    }
}

impl Column {
    /// What the column shows of a question of the version that answered, and of its answer.
    ///
    /// `Null` when the version has no such question, has it with another type, or the answer has
    /// nothing to show.
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

#[cfg(test)]
mod tests;
