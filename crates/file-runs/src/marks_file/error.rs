//! Errors of a file of marks as a whole.

use crate::input::InputError;

/// Why a file of marks cannot be read. The text repeats no values of the file, and only short
/// column names.
#[derive(Debug, thiserror::Error)]
pub enum MarksFileError {
    /// The file cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// No column identifies results.
    #[error("it has neither a column result_id nor a column ref: it has {present}")]
    NoResults {
        /// Names of the file's columns, as readable text.
        present: String,
        /// Names of the columns that are not read.
        unused: Vec<String>,
    },
    /// No column belongs to a question.
    #[error("it has no column of a question: it has {present}; the questions are {}", questions.join(", "))]
    NoQuestions {
        /// Names of the file's columns, as readable text.
        present: String,
        /// Names of the columns that are not read.
        unused: Vec<String>,
        /// The keys of the prism's questions.
        questions: Vec<String>,
    },
    /// A column `expected_…` belongs to no question.
    #[error("its column expected_{name} is of no question: the questions are {}", questions.join(", "))]
    NoSuchQuestion {
        /// The column's name after `expected_`, shortened and without control characters.
        name: String,
        /// The keys of the prism's questions.
        questions: Vec<String>,
    },
}

impl MarksFileError {
    /// Names in the file that may be mistyped.
    pub fn names(&self) -> &[String] {
        match self {
            Self::Input(_) => &[],
            Self::NoResults { unused, .. } | Self::NoQuestions { unused, .. } => unused,
            Self::NoSuchQuestion { name, .. } => std::slice::from_ref(name),
        }
    }

    /// The valid names that the file may have meant.
    pub fn known(&self) -> Vec<&str> {
        match self {
            Self::Input(_) => Vec::new(),
            Self::NoResults { .. } => vec!["result_id", "ref"],
            Self::NoQuestions { questions, .. } | Self::NoSuchQuestion { questions, .. } => {
                questions.iter().map(String::as_str).collect()
            }
        }
    }
}
