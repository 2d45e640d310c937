//! The configured address of a database: given directly, or in a file that is read again when the
//! server refuses its password.

use std::path::PathBuf;

use crate::error::ConnectError;

/// The address of a database. It may hold a password, so it has no `Debug`.
#[derive(Clone)]
pub enum DatabaseUrl {
    /// The address itself.
    Given(String),
    /// The file that holds the address.
    InFile(PathBuf),
}

impl DatabaseUrl {
    /// Reads the current address, from its file if it is in one. A secret that was made by a command
    /// such as `echo` ends in a line break, which belongs to no address.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn read(&self) -> Result<String, ConnectError> {
        let text = match self {
            Self::Given(url) => url.clone(),
            Self::InFile(path) => {
                std::fs::read_to_string(path).map_err(|error| ConnectError::UrlFile {
                    path: path.display().to_string(),
                    reason: error.to_string(),
                })?
            }
        };
        Ok(text.trim_end_matches(['\r', '\n']).to_owned())
    }
}

impl From<String> for DatabaseUrl {
    fn from(url: String) -> Self {
        Self::Given(url)
    }
}

impl From<&str> for DatabaseUrl {
    fn from(url: &str) -> Self {
        Self::Given(url.to_owned())
    }
}
