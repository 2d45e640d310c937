//! The lens: which columns a reader sees, and what stands in each (spec 2.5).
//!
//! A lens belongs to the prism and not to a version. It is applied whenever a result is read, so
//! a changed lens changes what old results return, without asking a model again.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::answer::{Answer, Distribution};
use crate::key::{ColumnName, OutcomeKey, QuestionKey};
use crate::prism::Definition;
use crate::probability::{ONE, Probability, write_decimal};
use crate::problem::Fault;
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

/// A probability at which a label changes: the number as it was written, compared exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cutoff {
    value: f64,
    /// The lowest probability that is at or above the cutoff, in millionths.
    first_at_or_above: u32,
}

impl Cutoff {
    const HALF: Self = Self {
        value: 0.5,
        first_at_or_above: ONE / 2,
    };

    /// A cutoff from a number above 0 and up to 1. The number meant is the shortest decimal that
    /// reads back as this double: what a person wrote.
    fn new(value: f64) -> Self {
        Self {
            value,
            first_at_or_above: ceil_millionths(value),
        }
    }

    /// The number as it was written.
    pub fn value(self) -> f64 {
        self.value
    }

    fn is_reached_by(self, probability: Probability) -> bool {
        probability.millionths() >= self.first_at_or_above
    }
}

/// The millionths of a number from 0 to 1, rounded up, in decimal arithmetic.
fn ceil_millionths(value: f64) -> u32 {
    let written = value.to_string();
    let (whole, decimals) = written.split_once('.').unwrap_or((&written, ""));
    let digits = decimals.bytes().chain(std::iter::repeat(b'0')).take(6);
    let millionths = digits.fold(whole.parse().unwrap_or(0), |sum: u32, digit| {
        sum * 10 + u32::from(digit - b'0')
    });
    let has_more = decimals.bytes().skip(6).any(|digit| digit != b'0');
    millionths + u32::from(has_more)
}

/// Where `no` ends and `yes` begins in a Yes / No label (spec 2.5).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cutoffs {
    no_below: Option<Cutoff>,
    yes_from: Option<Cutoff>,
}

impl Cutoffs {
    /// Those of the automatic lens: yes from 0.5, no band of `unsure`.
    pub const AUTOMATIC: Self = Self {
        no_below: Some(Cutoff::HALF),
        yes_from: None,
    };

    /// Cutoffs as written in a lens.
    ///
    /// # Errors
    /// The faults, each with the name of its number: `no_below` is strictly between 0 and 1;
    /// `yes_from` is at most 1 and above `no_below`, or above 0.5 without it.
    pub fn new(
        no_below: Option<f64>,
        yes_from: Option<f64>,
    ) -> Result<Self, Vec<(&'static str, Fault)>> {
        let mut faults = Vec::new();
        if let Some(value) = no_below {
            if value <= 0.0 {
                faults.push(("no_below", Fault::rule("Number must be greater than 0")));
            }
            if value >= 1.0 {
                faults.push(("no_below", Fault::rule("Number must be less than 1")));
            }
        }
        if let Some(value) = yes_from {
            let floor = no_below.unwrap_or(0.5);
            if value <= floor {
                let rule = match no_below {
                    Some(_) => "must be greater than no_below",
                    None => "Number must be greater than 0.5",
                };
                faults.push(("yes_from", Fault::rule(rule)));
            }
            if value > 1.0 {
                faults.push(("yes_from", Fault::NumberTooBig(1)));
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Self {
            no_below: no_below.map(Cutoff::new),
            yes_from: yes_from.map(Cutoff::new),
        })
    }

    /// Below this it is `no`; 0.5 when absent.
    pub fn no_below(self) -> Option<Cutoff> {
        self.no_below
    }

    /// At or above this it is `yes`; when absent yes begins where no ends.
    pub fn yes_from(self) -> Option<Cutoff> {
        self.yes_from
    }

    /// The label of a probability of yes.
    pub fn label(self, probability: Probability) -> YesNoLabel {
        if !self
            .no_below
            .unwrap_or(Cutoff::HALF)
            .is_reached_by(probability)
        {
            YesNoLabel::No
        } else if self
            .yes_from
            .is_none_or(|yes_from| yes_from.is_reached_by(probability))
        {
            YesNoLabel::Yes
        } else {
            YesNoLabel::Unsure
        }
    }
}

/// What a Yes / No label says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum YesNoLabel {
    /// At or above the cutoff of yes.
    Yes,
    /// Below the cutoff of no.
    No,
    /// Between the two.
    Unsure,
}

impl YesNoLabel {
    /// `yes`, `no` or `unsure`, as json and jsonl have it.
    pub fn key(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unsure => "unsure",
        }
    }

    /// Yes, No or Unsure, as cells have it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Yes => "Yes",
            Self::No => "No",
            Self::Unsure => "Unsure",
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
            no_below: cutoffs.no_below.map(Cutoff::value),
            yes_from: cutoffs.yes_from.map(Cutoff::value),
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
    /// The columns in order, for a prism whose latest version is this one.
    pub fn columns<'a>(&'a self, latest: &'a Definition) -> &'a [Column] {
        match self {
            Self::Automatic => latest.automatic_columns(),
            Self::Custom(columns) => columns,
        }
    }

    /// The lens after a version was saved: without the columns whose question it removed, and
    /// automatic again when none is left (spec 2.5).
    pub fn after_save(self, saved: &Definition) -> Self {
        match self {
            Self::Automatic => Self::Automatic,
            Self::Custom(mut columns) => {
                columns.retain(|column| saved.question(&column.question).is_some());
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
    Position(usize),
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
pub struct Average(u64);

impl Average {
    /// The sum of position times probability, rounded half away from zero to two decimals.
    fn of(probabilities: &[(OutcomeKey, Probability)]) -> Self {
        let positions = 1_u64..;
        let weighed = positions
            .zip(probabilities)
            .map(|(n, (_, p))| n * u64::from(p.millionths()));
        Self((weighed.sum::<u64>() + 5_000) / 10_000)
    }
}

/// A plain decimal without trailing zeros.
impl std::fmt::Display for Average {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write_decimal(f, self.0, 2)
    }
}

impl Column {
    /// What the column shows of a question of the version that answered, and of its answer.
    ///
    /// `Null` when the version has no such question, has it with another type, or the answer has
    /// nothing to show.
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
    let index = levels.iter().position(|candidate| candidate.key == *level);
    index.map_or(Value::Null, |index| Value::Position(index + 1))
}

#[cfg(test)]
mod tests;
