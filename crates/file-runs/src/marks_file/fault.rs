//! What can be wrong with a file of marks as a whole.

use crate::input::InputError;

/// Why a file of marks cannot be read. The text repeats no values of the file, and only short column
/// names.
#[derive(Debug, thiserror::Error)]
pub enum MarksFileError {
    /// The file cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// No column names results.
    #[error("it has neither a column result_id nor a column ref: it has {present}")]
    NoResults {
        /// Names of the columns that the file has, as a list for people.
        present: String,
        /// Names of the columns that are not read.
        unused: Vec<String>,
    },
    /// No column is of a question.
    #[error("it has no column of a question: it has {present}; the questions are {}", questions.join(", "))]
    NoQuestions {
        /// Names of the columns that the file has, as a list for people.
        present: String,
        /// Names of the columns that are not read.
        unused: Vec<String>,
        /// The keys of the prism's questions.
        questions: Vec<String>,
    },
    /// A column `expected_…` is of no question.
    #[error("its column expected_{name} is of no question: the questions are {}", questions.join(", "))]
    NoSuchQuestion {
        /// The column's name after `expected_`, cut short and without control characters.
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

    /// The names one of which the file lacks.
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
