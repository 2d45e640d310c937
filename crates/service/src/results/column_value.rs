//! A lens column's value as a search term. And what the questions of a prism were answered with
//! lately.

use std::borrow::Cow;
use std::collections::HashMap;
use std::slice;

use chrono::{DateTime, Utc};
use refract_boxed_futures::boxed;
use refract_domain::answer::Answers;
use refract_domain::key::{ColumnName, QuestionKey};
use refract_domain::lens::{Column, Output, Value, cutoffs_of};
use refract_domain::prism::{PrismVersion, Question, QuestionType, VersionNumber};
use refract_evaluation::counting::ColumnTally;

use crate::InternalError;
use crate::lenses::prism_lens::{CountedResult, PrismLens};
use crate::prisms::find_saved_version;
use crate::results::Results;

/// Most versions before the latest whose values are offered.
const FORMER_VERSIONS: usize = 50;

/// A value of a column of the lens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnValue {
    /// The column's name.
    pub column: ColumnName,
    /// The value in jsonl: the key of an outcome, `yes`, `no` or `unsure`, or a level's position.
    /// An empty text means null.
    pub value: String,
}

/// An outcome that a question was answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnsweredOutcome {
    /// The question.
    pub question: QuestionKey,
    /// The key of the option or level; `yes`, `no` or `unsure` by the cutoffs of the lens. An empty
    /// text means that the question has no answer.
    pub outcome: String,
}

/// A column that can be searched, with the values that it can show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchableColumn {
    /// The column's name.
    pub name: ColumnName,
    /// The values of the prism's latest version, in its order. Results of other versions may have
    /// more values, and any column may be null.
    pub values: Vec<SearchableValue>,
}

/// A value that a column can show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchableValue {
    /// The value in jsonl.
    pub key: String,
    /// The text for people, as cells of csv show it.
    pub label: String,
    /// Whether only versions before the latest have the value.
    pub is_former: bool,
}

/// The lens has no column of this name, or a column that cannot be searched.
#[derive(Debug, thiserror::Error)]
#[error(
    "the lens has no column {0} that shows an outcome, a label or a level: search by another column"
)]
pub struct ColumnNotSearchable(ColumnName);

/// The columns of a lens that can be searched: those of the outputs `top`, `label`, `level` and
/// `number`. A probability, an average or a list of all outcomes differs from result to result, so
/// a list of their values would not help.
pub fn searchable_columns(lens: &PrismLens) -> Vec<SearchableColumn> {
    let columns = lens.columns().lens.iter();
    let columns = columns.filter(|column| is_searchable(column.output));
    let columns = columns.map(|column| {
        let question = lens.latest.question(&column.question);
        SearchableColumn {
            name: column.name.clone(),
            values: values(column, question, false),
        }
    });
    columns.collect()
}

fn values(column: &Column, question: Option<&Question>, is_former: bool) -> Vec<SearchableValue> {
    let values = ColumnTally::new(column, question).values.into_iter();
    let values = values.map(|value| SearchableValue {
        key: value.key,
        label: value.label,
        is_former,
    });
    values.collect()
}

#[boxed]
impl Results<'_> {
    /// The columns of a lens that can be searched, also with the values that only one of the 50
    /// versions before the latest has.
    pub async fn searchable_columns(
        self,
        lens: &PrismLens,
    ) -> Result<Vec<SearchableColumn>, InternalError> {
        let mut searchable = searchable_columns(lens);
        let latest = lens.prism.latest_version.get();
        for number in (1..latest).rev().take(FORMER_VERSIONS) {
            let Some(number) = VersionNumber::new(number) else {
                continue;
            };
            let database = &self.refract.database;
            let version = find_saved_version(database, lens.prism.id, number).await?;
            for (column, known) in lens
                .columns()
                .lens
                .iter()
                .filter(|column| is_searchable(column.output))
                .zip(&mut searchable)
            {
                let asked = version.question(&column.question);
                let is_alike =
                    |asked: &&Question| asked.question_type() == column.output.question_type();
                for value in values(column, asked.filter(is_alike), true) {
                    if known.values.iter().all(|known| known.key != value.key) {
                        known.values.push(value);
                    }
                }
            }
        }
        Ok(searchable)
    }
}

/// A value of a column that was found in the lens.
pub(crate) struct WantedValue {
    column: Column,
    value: String,
}

impl WantedValue {
    pub(crate) fn of(lens: &PrismLens, value: &ColumnValue) -> Result<Self, ColumnNotSearchable> {
        let mut columns = lens.columns().lens.iter();
        let column =
            columns.find(|column| column.name == value.column && is_searchable(column.output));
        let column = column.ok_or_else(|| ColumnNotSearchable(value.column.clone()))?;
        Ok(Self {
            column: column.clone(),
            value: value.value.clone(),
        })
    }

    /// The condition that a question was answered with an outcome; `None` for an outcome of a
    /// question that the latest version lacks.
    pub(crate) fn answered(lens: &PrismLens, answer: &AnsweredOutcome) -> Option<Self> {
        let question = lens.latest.question(&answer.question)?;
        Some(Self {
            column: answer_column(lens, question)?,
            value: answer.outcome.clone(),
        })
    }

    /// Whether the column shows the value for a result with these answers of this version; a failed
    /// result has no answers.
    pub(crate) fn is_shown(&self, version: &PrismVersion, answers: Option<&Answers>) -> bool {
        let question = version.question(&self.column.question);
        let answer = answers.and_then(|answers| answers.get(&self.column.question));
        let shown = key_of(self.column.value(question, answer));
        shown.is_some_and(|shown| shown == self.value)
    }
}

/// The column that shows what a question is answered with: by the cutoffs of the lens for a Yes / No.
pub(crate) fn answer_column(lens: &PrismLens, question: &Question) -> Option<Column> {
    let output = match question.question_type() {
        QuestionType::Choice => Output::Top,
        QuestionType::YesNo => Output::Label(cutoffs_of(lens.columns().lens, &question.key)),
        QuestionType::Scale => Output::Level,
    };
    Some(Column {
        output,
        ..Column::automatic(question)?
    })
}

fn is_searchable(output: Output) -> bool {
    match output {
        Output::Top | Output::Label(_) | Output::Level | Output::Number => true,
        Output::TopProbability
        | Output::AllOptions
        | Output::YesProbability
        | Output::Average
        | Output::LevelProbability
        | Output::AllLevels => false,
    }
}

/// A value as jsonl shows it, without quotes, and empty for null; `None` for a value that cannot be
/// searched.
fn key_of(value: Value<'_>) -> Option<Cow<'_, str>> {
    match value {
        Value::Null => Some(Cow::Borrowed("")),
        Value::Outcome { key, label: _ } => Some(Cow::Borrowed(key)),
        Value::YesNo(label) => Some(Cow::Borrowed(label.key())),
        Value::Position(position) => Some(Cow::Owned(position.to_string())),
        Value::Probability(_) | Value::Average(_) | Value::All { .. } => None,
    }
}

/// Most results that are counted, newest first.
const MOST: usize = 5_000;

/// The answers of a prism's newest `ok` results.
pub struct AnswerShares {
    /// Each question of the latest version, in its order.
    pub questions: Vec<QuestionShares>,
    /// Number of results that were counted.
    pub results: usize,
    /// Whether there are older results in the period.
    pub has_older: bool,
}

/// The answers to one question.
pub struct QuestionShares {
    /// How often each outcome was the answer: by the cutoffs of the lens for a Yes / No.
    pub tally: ColumnTally,
    /// Number of results with a mark on this question, whenever they were made.
    pub marked: u64,
}

#[boxed]
impl Results<'_> {
    /// Counts what each question of a prism was answered with from a moment on, over the newest
    /// 5,000 `ok` results.
    ///
    /// # Errors
    /// When the database fails, or a version that a result names is missing.
    pub async fn answer_shares(
        self,
        lens: &PrismLens,
        since: DateTime<Utc>,
    ) -> Result<AnswerShares, InternalError> {
        let marked = self.refract.database.count_marks(lens.prism.id).await?;
        let mut shares = AnswerShares::none(lens, &marked);
        let (questions, results) = (&mut shares.questions, &mut shares.results);
        let add = |result: CountedResult<'_>| {
            for counted in &mut *questions {
                let column = slice::from_ref(&counted.tally.column);
                let value = result.answers.values(column).next();
                let value = value.unwrap_or(Value::Null);
                counted.tally.add(value);
            }
            *results += 1;
        };
        let lenses = self.refract.lenses();
        let counting = lenses.count_since(lens, Some(since), MOST, add, |_| ());
        shares.has_older = counting.await?;
        Ok(shares)
    }
}

impl AnswerShares {
    fn none(lens: &PrismLens, marked: &HashMap<QuestionKey, u64>) -> Self {
        let questions = lens.latest.questions().iter();
        let questions = questions.filter_map(|question| {
            let column = answer_column(lens, question)?;
            Some(QuestionShares {
                tally: ColumnTally::new(&column, Some(question)),
                marked: marked.get(&question.key).copied().unwrap_or_default(),
            })
        });
        Self {
            questions: questions.collect(),
            results: 0,
            has_older: false,
        }
    }
}
