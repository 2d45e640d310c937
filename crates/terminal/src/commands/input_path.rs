//! A file that a command reads, or standard input.

use std::ffi::OsString;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use refract_file_runs::{InputSource, binary_kind};

use crate::{output, streams};

/// The argument for standard input.
const STDIN: &str = "-";
/// The number of bytes read to recognise a binary file.
const START: usize = 8 * 1024;

/// A file that a command reads; `-` is standard input.
#[derive(Clone, Debug)]
pub struct InputPath(PathBuf);

impl From<OsString> for InputPath {
    fn from(path: OsString) -> Self {
        Self(path.into())
    }
}

impl InputPath {
    /// Standard input.
    pub(crate) fn stdin() -> Self {
        Self(PathBuf::from(STDIN))
    }

    /// The file; `None` for standard input.
    pub(crate) fn file(&self) -> Option<&Path> {
        (self.0 != Path::new(STDIN)).then_some(self.0.as_path())
    }

    /// Reads the whole input. The error for a binary file names the file.
    pub(crate) fn read(&self) -> anyhow::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = match self.file() {
            Some(file) => std::fs::read(file).map(|read| bytes = read),
            None => stdin().read_to_end(&mut bytes).map(|_| ()),
        };
        read.with_context(|| format!("cannot read {self}"))?;
        let start = bytes.get(..START).unwrap_or(&bytes);
        match binary_kind(start) {
            Some(kind) => Err(anyhow!("{self}: {kind}")),
            None => Ok(bytes),
        }
    }

    /// Opens the input as rows.
    pub(crate) fn open<T>(&self, open: impl FnOnce(InputSource<'_>) -> T) -> T {
        match self.file() {
            Some(file) => open(InputSource::Path(file)),
            None => open(InputSource::Stream(stdin())),
        }
    }
}

impl fmt::Display for InputPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.file() {
            Some(file) => file.display().fmt(f),
            None => f.write_str("standard input"),
        }
    }
}

/// Standard input. At a terminal, tells the person to type the input.
fn stdin() -> Box<dyn Read> {
    if streams::stdin_is_terminal() {
        output::say("Write the text, then end it with Ctrl-D on a line of its own:");
    }
    streams::stdin()
}
