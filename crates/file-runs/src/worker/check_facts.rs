//! What the check of an uploaded file found, as it is stored with the run.

use serde::{Deserialize, Serialize};

use crate::check::FileCheck;

/// What the check of a file found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckFacts {
    /// The format and the encoding of the file, for people.
    pub kind: String,
    /// Rows of the file, with those that are left out.
    pub rows: u64,
    /// Rows that are left out, since all their fields are empty.
    #[serde(default)]
    pub left_out: u64,
    /// What a person should know about the file, a sentence each.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// Rows that a limit refuses: the model is not asked about them.
    pub refused: u64,
    /// The first hundred refused rows: the line and why the row is refused.
    pub refused_rows: Vec<(u64, String)>,
    /// The names of all columns.
    pub columns: Vec<String>,
    /// Names of the columns that the run does not read.
    pub unused_columns: Vec<String>,
    /// Rows that had an answer.
    pub answered_before: u64,
    /// Requests to the model for the other rows, as estimated.
    pub requests: u64,
    /// Tokens of those requests, as estimated.
    pub tokens: u64,
}

impl CheckFacts {
    /// The facts of a check.
    pub(crate) fn of(check: FileCheck, kind: String) -> Self {
        let remarks = check.remarks();
        let listed = check.listed.into_iter();
        Self {
            kind,
            rows: check.rows_in_file,
            left_out: check.blank,
            remarks,
            refused: check.refused,
            refused_rows: listed.map(|row| (row.line, row.reason)).collect(),
            columns: check.columns,
            unused_columns: check.unused_columns,
            answered_before: check.answered_before,
            requests: check.requests,
            tokens: check.tokens,
        }
    }

    /// Reads stored facts; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The facts as they are stored.
    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Rows of the file, without those that are left out.
    pub fn rows_to_finish(&self) -> u64 {
        self.rows.saturating_sub(self.left_out)
    }

    /// Rows to ask the model about.
    pub fn to_ask(&self) -> u64 {
        self.rows_to_finish()
            .saturating_sub(self.refused)
            .saturating_sub(self.answered_before)
    }
}
