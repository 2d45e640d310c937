//! Faults in the rows of a file of marks.

use std::collections::BTreeMap;

use refract_domain::key::QuestionKey;
use refract_domain::prism::VersionNumber;

/// Most faults that are kept for listing.
const MOST_LISTED: usize = 100;

/// Why a row cannot be saved as marks. The text repeats no value of the file except an outcome's
/// name, cut short and without control characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MarkError {
    /// A cell cannot be read.
    #[error("{column}: {reason}")]
    Cell {
        /// The column's name.
        column: String,
        /// What is wrong with the cell, without repeating its content.
        reason: String,
    },
    /// Neither an id nor a `ref` names a result.
    #[error("neither result_id nor ref names a result")]
    NoResult,
    /// The account's prism has no result with the id.
    #[error("result_id: the prism has no such result")]
    UnknownResult,
    /// The result with the id has no answers.
    #[error("result_id: the result is failed: it has no answers to mark")]
    FailedResult,
    /// The `ref` names no result, or only failed ones.
    #[error("ref: the prism has no answered result with this ref")]
    UnknownRef,
    /// The version that answered lacks the question.
    #[error("{question}: version {version}, which answered, has no such question")]
    NoQuestion {
        /// The question.
        question: QuestionKey,
        /// The version that answered the result.
        version: VersionNumber,
    },
    /// The question has no such outcome in the version that answered.
    #[error("{question}: '{name}' is no outcome in version {version}, which has {outcomes}")]
    NoOutcome {
        /// The question.
        question: QuestionKey,
        /// The name in the cell, cut short and without control characters.
        name: String,
        /// The version that answered the result.
        version: VersionNumber,
        /// The keys of the outcomes, as a readable list.
        outcomes: String,
    },
    /// Two rows mark different outcomes.
    #[error("{question}: line {earlier} says another outcome of the same result")]
    Contradiction {
        /// The question.
        question: QuestionKey,
        /// The line of the other row, which comes earlier.
        earlier: u64,
    },
}

/// The faults of a file. Only those of the first lines are kept.
#[derive(Debug, Default)]
pub struct MarkErrors {
    /// By line and by the number of the fault.
    kept: BTreeMap<(u64, usize), MarkError>,
    count: usize,
}

impl MarkErrors {
    /// Adds a fault of the row that begins at a line.
    pub fn add(&mut self, line: u64, error: MarkError) {
        self.kept.insert((line, self.count), error);
        self.count += 1;
        if self.kept.len() > MOST_LISTED {
            self.kept.pop_last();
        }
    }

    /// Number of all faults.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The first hundred faults with their lines, in the order of the lines.
    pub fn listed(&self) -> impl ExactSizeIterator<Item = (u64, &MarkError)> {
        self.kept.iter().map(|((line, _), error)| (*line, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_errors_are_counted_and_those_of_the_first_lines_listed() {
        let mut errors = MarkErrors::default();
        for line in (1..=150).rev() {
            errors.add(line, MarkError::UnknownRef);
        }
        errors.add(1, MarkError::NoResult);
        assert_eq!(errors.count(), 151);
        let listed: Vec<_> = errors.listed().collect();
        assert_eq!(listed.len(), 100);
        assert_eq!(listed[0], (1, &MarkError::UnknownRef));
        assert_eq!(listed[1], (1, &MarkError::NoResult));
        assert_eq!(listed[99].0, 99);
    }
}
