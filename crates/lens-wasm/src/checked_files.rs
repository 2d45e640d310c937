//! Checks of prism and lens files, as `refract prism create` and `refract lens set` make them. And
//! why results, versions or a lens are refused, with the place and never a value.

use std::io;

use refract_authoring::lens_file;
use refract_authoring::prism_file::PrismFile;
use refract_domain::json::Malformed;
use refract_domain::prism::VersionNumber;
use refract_domain::problem::{Problems, ValidationError};
use refract_lens_rendering::RawResultError;
use serde::Serialize;

/// The findings in a file.
#[derive(Serialize)]
pub struct CheckedFile {
    /// Why the file is refused; empty for a valid file.
    pub problems: Vec<FoundProblem>,
}

/// A fault of one value of a file.
#[derive(Serialize)]
pub struct FoundProblem {
    /// Keys and positions, joined with dots, such as `questions.0.key`.
    pub path: String,
    /// What is wrong with the value.
    pub message: String,
}

/// Checks a prism file as that of a new prism.
pub fn check_prism_file(text: &str) -> CheckedFile {
    checked(PrismFile::read(text.as_bytes(), None))
}

/// Checks a lens file, or a lens as `refract lens show --json` prints it, for a prism whose latest version
/// has this prism file.
///
/// # Errors
/// The problems of the prism file.
pub fn check_lens_file(text: &str, prism: &str) -> Result<CheckedFile, StoredInputError> {
    let prism = PrismFile::read(prism.as_bytes(), None).map_err(StoredInputError::Prism)?;
    Ok(checked(lens_file::read_lens(
        text.as_bytes(),
        &prism.version,
    )))
}

fn checked<T>(read: Result<T, Problems>) -> CheckedFile {
    let found = read.err().unwrap_or_default();
    let problems = found.as_slice().iter().map(|problem| FoundProblem {
        path: problem.path.clone(),
        message: problem.error.to_string(),
    });
    CheckedFile {
        problems: problems.collect(),
    }
}

/// What was passed cannot be read, or does not fit together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoredInputError {
    /// The versions are no JSON.
    #[error("the versions: {0}")]
    MalformedVersions(Malformed),
    /// The versions are no object of prism files by number.
    #[error("the versions must be an object of prism files by version number: {0}")]
    Versions(ValidationError),
    /// There is no version at all.
    #[error("the versions are empty: pass those that answered, and the prism's latest one")]
    NoVersion,
    /// A key of the versions is not a number from 1 to 2147483647.
    #[error("the versions must be prism files by number, such as {{\"1\": {{…}}}}")]
    VersionNumber,
    /// The prism file that a lens is checked for has problems.
    #[error("the prism: {}", listed(.0))]
    Prism(Problems),
    /// A version is no valid prism file.
    #[error("version {number}: {}", listed(.problems))]
    Version {
        /// The version's number.
        number: VersionNumber,
        /// Every problem of the file.
        problems: Problems,
    },
    /// The results are no JSON.
    #[error(
        "the results must be JSON, in a list or one after another: line {line}, column {column}"
    )]
    Results {
        /// Line where the reading stopped, from 1.
        line: usize,
        /// Column where it stopped, in bytes.
        column: usize,
    },
    /// A result is not as Refract stores it.
    #[error("result {index}: {reason}")]
    Result {
        /// The result's position, from 0.
        index: usize,
        /// What is wrong.
        reason: RawResultError,
    },
    /// A lens is no valid lens file for the latest version.
    #[error("the lens: {}", listed(.0))]
    Lens(Problems),
    /// There is no format of this name.
    #[error("the format must be one of json, raw, csv, tsv and jsonl")]
    Format,
    /// A format of one result was asked for several, or for none.
    #[error("{format} shows one result, and there are {results}: use csv, tsv or jsonl")]
    NotOneResult {
        /// The format's name.
        format: &'static str,
        /// The number of results.
        results: usize,
    },
    /// There was no memory for what was rendered.
    #[error("the bytes cannot be written: {0}")]
    Memory(io::Error),
    /// A Yes / No question was expected under this name.
    #[error("the {what} must be one that reads a Yes / No question")]
    NotYesNo {
        /// What the name is of: `column` or `question`.
        what: &'static str,
    },
}

/// Problems without the beginning that they have in answers of the API.
fn listed(problems: &Problems) -> String {
    let problems = problems.as_slice().iter();
    let words: Vec<_> = problems
        .map(|problem| format!("{}: {}", problem.path, problem.error))
        .collect();
    words.join("; ")
}
