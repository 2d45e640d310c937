//! Checks of prism and lens files, as `refract prism create` and `refract lens set` make them.

use refract_authoring::lens_file;
use refract_authoring::prism_file::PrismFile;
use refract_domain::problem::Problems;
use serde::Serialize;

use crate::input_error::StoredInputError;

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
