//! Messages for a file that cannot be used, and for a run that stops early.

use refract_file_runs::{InputError, OpenRunError, RunError};

use crate::commands::input_path::InputPath;

/// The error for a file that cannot be run.
pub(crate) fn refused(input: &InputPath, refusal: OpenRunError) -> anyhow::Error {
    match refusal {
        OpenRunError::Input(error) => input_error(input, &error),
        OpenRunError::Mapping(error) => anyhow::anyhow!("--map: {error}"),
    }
}

/// The error for a file that cannot be read.
pub(crate) fn input_error(input: &InputPath, error: &InputError) -> anyhow::Error {
    let advice = if matches!(error, InputError::Missing { .. }) {
        "; name another one with --map COLUMN=FIELD"
    } else if matches!(error, InputError::AllBlank { .. }) {
        "; --blank-rows asks about them all the same"
    } else {
        ""
    };
    anyhow::anyhow!("{input}: {error}{advice}")
}

/// Why a run stopped and how to continue it.
pub(crate) fn stopped(input: &InputPath, stop: &RunError) -> String {
    format!(
        "{input}: {stop}; everything that was answered is saved: run the same command again to go on"
    )
}
