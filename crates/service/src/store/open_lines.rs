//! The lines of a file of an export.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Lines};
use std::path::Path;

use super::account_manifest::{ManifestError, open_regular, unreadable};

/// The lines of a file.
pub(super) struct OpenLines {
    name: String,
    lines: Lines<BufReader<File>>,
    line: u64,
}

impl OpenLines {
    /// Opens a file of a folder.
    pub(super) fn open(folder: &Path, name: String) -> Result<Self, ManifestError> {
        let file = open_regular(&folder.join(&name));
        let file = file.map_err(|error| unreadable(&name, &error))?;
        Ok(Self {
            name,
            lines: BufReader::new(file).lines(),
            line: 0,
        })
    }

    /// The next line; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<String>, ManifestError> {
        self.line += 1;
        let line = self.lines.next().transpose();
        line.map_err(|error| unreadable(&self.name, &error))
    }

    /// The file's name and the number of the last line.
    pub(super) fn place(&self) -> (String, u64) {
        (self.name.clone(), self.line)
    }
}
