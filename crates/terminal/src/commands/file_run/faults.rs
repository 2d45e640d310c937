//! Messages for a file that cannot be used, and for a run that stops early.

use refract_file_runs::{InputError, OpenRunError, RunError};

use crate::commands::input_path::InputPath;

/// The error for a file that cannot be run.
pub(crate) fn refused(input: &InputPath, refusal: OpenRunError) -> anyhow::Error {
    match refusal {
        OpenRunError::Input(fault) => faulty(input, &fault),
        OpenRunError::Mapping(fault) => anyhow::anyhow!("--map: {fault}"),
    }
}

/// The error for a file that cannot be read.
pub(crate) fn faulty(input: &InputPath, fault: &InputError) -> anyhow::Error {
    let is_missing = matches!(fault, InputError::Missing { .. });
    let advice = is_missing.then_some("; name another one with --map COLUMN=FIELD");
    let advice = advice.unwrap_or_default();
    anyhow::anyhow!("{input}: {fault}{advice}")
}

/// Why a run stopped and how to continue it.
pub(crate) fn stopped(input: &InputPath, stop: &RunError) -> String {
    format!(
        "{input}: {stop}; everything that was answered is saved: run the same command again to go on"
    )
}
