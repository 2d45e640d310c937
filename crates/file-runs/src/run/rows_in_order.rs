//! The finished rows at the beginning of a file: what a run that goes on need not look at again.

use std::collections::BTreeMap;

/// Upper bound on the errors that are counted apart. The errors of model servers are few, unless a
/// server writes something else into each.
const MOST_ERRORS: usize = 20;
/// The name of all further errors.
const OTHER_ERRORS: &str = "other errors";

/// The rows before the first unfinished one.
///
/// Rows finish in any order. A run that goes on after an interruption begins after these rows, so
/// they are counted apart: a row further on that is answered already is counted when the run comes
/// to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowsInOrder {
    /// The number of the last of these rows; 0 for none.
    pub(crate) done_to: u64,
    /// Rows that a limit refuses.
    pub(crate) refused: u64,
    /// Rows that had an answer.
    pub(crate) answered_before: u64,
    /// Rows that were answered.
    pub(crate) answered: u64,
    /// Rows that failed.
    pub(crate) failed: u64,
    /// The errors of the failed rows with the number of rows of each.
    pub(crate) errors: BTreeMap<String, u64>,
}

/// How a row ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RowEnd<'a> {
    /// A limit refuses the row.
    Refused,
    /// The row had an answer.
    AnsweredBefore,
    /// The row was answered.
    Answered,
    /// The row failed with this error.
    Failed(&'a str),
}

impl RowsInOrder {
    /// Adds the next row.
    pub(crate) fn add(&mut self, number: u64, end: RowEnd<'_>) {
        self.done_to = number;
        match end {
            RowEnd::Refused => self.refused += 1,
            RowEnd::AnsweredBefore => self.answered_before += 1,
            RowEnd::Answered => self.answered += 1,
            RowEnd::Failed(error) => {
                self.failed += 1;
                let is_further = self.errors.len() >= MOST_ERRORS;
                let is_other = is_further && !self.errors.contains_key(error);
                let name = if is_other { OTHER_ERRORS } else { error };
                *self.errors.entry(name.to_owned()).or_default() += 1;
            }
        }
    }

    /// The errors with their numbers of rows, the most frequent first.
    pub(crate) fn frequent_errors(&self) -> Vec<(String, u64)> {
        let errors = self
            .errors
            .iter()
            .map(|(error, rows)| (error.clone(), *rows));
        let mut errors: Vec<_> = errors.collect();
        errors.sort_by_key(|(_, rows)| std::cmp::Reverse(*rows));
        errors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_by_their_end_and_failed_ones_by_their_error() {
        let mut rows = RowsInOrder::default();
        let ends = [
            RowEnd::Refused,
            RowEnd::Answered,
            RowEnd::Failed("b"),
            RowEnd::AnsweredBefore,
            RowEnd::Failed("a"),
            RowEnd::Failed("b"),
        ];
        for (end, number) in ends.into_iter().zip(11..) {
            rows.add(number, end);
        }
        assert_eq!(rows.done_to, 16);
        let counts = (
            rows.refused,
            rows.answered,
            rows.answered_before,
            rows.failed,
        );
        assert_eq!(counts, (1, 1, 1, 3));
        let errors = rows.frequent_errors();
        assert_eq!(errors, [("b".to_owned(), 2), ("a".to_owned(), 1)]);
    }

    #[test]
    fn errors_that_differ_in_each_row_take_bounded_room() {
        let mut rows = RowsInOrder::default();
        for number in 1..=1_000 {
            rows.add(number, RowEnd::Failed(&format!("error {number}")));
        }
        assert_eq!(rows.errors.len(), MOST_ERRORS + 1);
        assert_eq!(rows.errors[OTHER_ERRORS], 980);
        assert_eq!(rows.frequent_errors()[0].0, OTHER_ERRORS);
    }
}
