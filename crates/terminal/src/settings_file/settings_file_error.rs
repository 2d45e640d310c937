//! Why a file of settings cannot be used.

use std::path::PathBuf;

/// Why a file of settings cannot be used. The text is one line and shows no value.
#[derive(Debug, thiserror::Error)]
pub enum SettingsFileError {
    /// The file cannot be read.
    #[error("cannot read the settings in {}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The file is no TOML.
    #[error("{place}: this is not TOML: {reason}")]
    NotToml {
        /// The file and the line.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// A key that is no setting.
    #[error("{place}: `{key}` is no setting{suggestion}")]
    Unknown {
        /// The file and the line.
        place: String,
        /// The key.
        key: String,
        /// The most similar setting as a question; empty if none is similar.
        suggestion: String,
    },
    /// A section, or a key with a dot.
    #[error(
        "{place}: there are no sections such as `{key}` here: write whole names, such as \
         model_url = \"http://127.0.0.1:8000/v1\", before the first `[`"
    )]
    Section {
        /// The file and the line.
        place: String,
        /// The section.
        key: String,
    },
    /// A value of another type.
    #[error("{place}: {key} is {found}: expected {expected}")]
    Type {
        /// The file and the line.
        place: String,
        /// The setting.
        key: String,
        /// The type of the value.
        found: &'static str,
        /// The types that it may have.
        expected: &'static str,
    },
}
