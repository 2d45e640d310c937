//! The lens: which columns a reader of results sees, and what each column shows (spec 2.5).
//!
//! A lens belongs to the prism and not to a version. It is applied whenever a result is read, so
//! a changed lens changes what old results return, without asking a model again.

mod column;
pub mod cutoffs;
mod label_cutoffs;
mod output;

pub use self::column::Column;
pub use self::label_cutoffs::{cutoffs_of, free_name, with_cutoffs};
pub use self::output::{Average, Output, Value};
use crate::prism::Question;

pub use self::cutoffs::{Cutoff, Cutoffs, YesNoLabel};

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

#[cfg(test)]
mod tests;
