//! What a column of the lens shows, as something to search for.

use std::borrow::Cow;

use refract_domain::answer::Answers;
use refract_domain::key::ColumnName;
use refract_domain::lens::{Column, Output, Value};
use refract_domain::prism::PrismVersion;
use refract_evaluation::counting::column_tally::ColumnTally;

use crate::lenses::prism_lens::PrismLens;

/// A value of a column of the lens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnValue {
    /// The column's name.
    pub column: ColumnName,
    /// What jsonl shows there: the key of an outcome, `yes`, `no` or `unsure`, or a level's
    /// position. An empty text stands for null.
    pub value: String,
}

/// A column whose values can be searched for, with those that it can show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchableColumn {
    /// The column's name.
    pub name: ColumnName,
    /// The values by the prism's latest version, in its order. Results of other versions may show
    /// more, and any column may show null.
    pub values: Vec<SearchableValue>,
}

/// A value that a column can show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchableValue {
    /// What jsonl shows.
    pub key: String,
    /// What people read, as cells of csv show it.
    pub label: String,
}

/// The lens has no column of this name, or one whose values cannot be searched for.
#[derive(Debug, thiserror::Error)]
#[error(
    "the lens has no column {0} that shows an outcome, a label or a level: search by another column"
)]
pub struct ColumnNotSearchable(ColumnName);

/// The columns of a lens whose values can be searched for: those of the outputs `top`, `label`,
/// `level` and `number`. A probability, an average and a list of all outcomes differ from result to
/// result, so no list of their values would help.
pub fn searchable_columns(lens: &PrismLens) -> Vec<SearchableColumn> {
    let columns = lens.columns().lens.iter();
    let columns = columns.filter(|column| is_searchable(column.output));
    let columns = columns.map(|column| {
        let question = lens.latest.question(&column.question);
        let values = ColumnTally::new(column, question).values.into_iter();
        SearchableColumn {
            name: column.name.clone(),
            values: values
                .map(|value| SearchableValue {
                    key: value.key,
                    label: value.label,
                })
                .collect(),
        }
    });
    columns.collect()
}

/// A value of a column, found in the lens.
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

    /// Whether the column shows the value of a result that this version answered so; a failed result
    /// has no answers.
    pub(crate) fn is_shown(&self, version: &PrismVersion, answers: Option<&Answers>) -> bool {
        let question = version.question(&self.column.question);
        let answer = answers.and_then(|answers| answers.get(&self.column.question));
        let shown = key_of(self.column.value(question, answer));
        shown.is_some_and(|shown| shown == self.value)
    }
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

/// What jsonl shows of a value, without quotes, and nothing for null; `None` for what cannot be
/// searched for.
fn key_of(value: Value<'_>) -> Option<Cow<'_, str>> {
    match value {
        Value::Null => Some(Cow::Borrowed("")),
        Value::Outcome { key, label: _ } => Some(Cow::Borrowed(key)),
        Value::YesNo(label) => Some(Cow::Borrowed(label.key())),
        Value::Position(position) => Some(Cow::Owned(position.to_string())),
        Value::Probability(_) | Value::Average(_) | Value::All { .. } => None,
    }
}
