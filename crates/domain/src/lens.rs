//! The lens: which columns a reader of results sees, and what each column shows (spec 2.5).
//!
//! A lens belongs to the prism and not to a version. It is applied whenever a result is read, so
//! a changed lens changes what old results return, without asking a model again.

mod column;
pub mod cutoffs;
mod output;

use crate::key::{ColumnName, QuestionKey};
use crate::prism::{Field, Question};

pub use self::column::Column;
pub use self::cutoffs::{Cutoff, Cutoffs, YesNoLabel};
pub use self::output::{Average, Output, Value};

/// A prism's lens.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Lens {
    /// One column per question of the latest version; follows the prism.
    #[default]
    Automatic,
    /// The 1 to 300 columns that were saved.
    Custom(Vec<Column>),
}

impl Lens {
    /// The lens after a save of a version with these questions: it loses the columns of removed
    /// questions, and becomes automatic again when no column is left (spec 2.5).
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

/// The cutoffs that decide a Yes / No question: those of the first column that shows its `label`,
/// or those of the automatic lens without such a column.
pub fn cutoffs_of(columns: &[Column], question: &QuestionKey) -> Cutoffs {
    let of_question = columns.iter().filter(|column| column.question == *question);
    let mut labels = of_question.filter_map(|column| column.output.cutoffs());
    labels.next().unwrap_or(Cutoffs::AUTOMATIC)
}

/// The columns with these cutoffs in every column that shows the `label` of a Yes / No question.
/// Without such a column, one is added at the end under a [free name](free_name). `fields` are
/// those of the latest version.
pub fn with_cutoffs(
    columns: &[Column],
    fields: &[Field],
    question: &QuestionKey,
    cutoffs: Cutoffs,
) -> Vec<Column> {
    let mut columns = columns.to_vec();
    let mut is_shown = false;
    for column in &mut columns {
        if column.question == *question && column.output.cutoffs().is_some() {
            column.output = Output::Label(cutoffs);
            is_shown = true;
        }
    }
    if !is_shown {
        let name = free_name(&columns, fields, question, Output::Label(cutoffs));
        columns.extend(name.map(|name| Column {
            name,
            question: question.clone(),
            output: Output::Label(cutoffs),
        }));
    }
    columns
}

/// A name for another column of a question: the default name of the output, or this name with the
/// first number appended that makes it unique among columns and fields. `None` only when the
/// numbered name is longer than a column name may be.
pub fn free_name(
    columns: &[Column],
    fields: &[Field],
    question: &QuestionKey,
    output: Output,
) -> Option<ColumnName> {
    let default = Column::default_name(question, output).ok()?;
    let numbered = (2_u32..).map(|number| format!("{default}_{number}"));
    // a key of 64 characters with a number fits a column name of up to 80
    let numbered = numbered.map_while(|name| ColumnName::parse(&name).ok());
    let mut names = std::iter::once(default.clone()).chain(numbered);
    let is_taken = |name: &ColumnName| {
        let by_field = |field: &Field| field.key.as_str() == name.as_str();
        columns.iter().any(|column| column.name == *name) || fields.iter().any(by_field)
    };
    names.find(|name| !is_taken(name))
}

#[cfg(test)]
mod tests;
