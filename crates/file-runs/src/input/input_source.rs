//! The source of the rows: a file, or a stream copied to a temporary file.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::input_error::InputError;

/// The source of the rows.
pub enum InputSource<'a> {
    /// The path of a file. A named pipe or a device is read like a stream.
    Path(&'a Path),
    /// Bytes that can be read only once. They are copied to a temporary file that no other process
    /// can open and that vanishes with this process.
    Stream(Box<dyn Read + 'a>),
}

impl InputSource<'_> {
    /// The name from which the format can be detected.
    pub(crate) fn name(&self) -> &Path {
        match self {
            Self::Path(path) => path,
            Self::Stream(_) => Path::new(""),
        }
    }

    /// Opens a file that can be read repeatedly.
    pub(crate) fn open(self) -> Result<File, InputError> {
        let path = match self {
            Self::Path(path) => path,
            Self::Stream(mut stream) => return kept(&mut stream),
        };
        let mut file = File::open(path).map_err(InputError::Unopened)?;
        let metadata = file.metadata().map_err(InputError::Unopened)?;
        if metadata.is_dir() {
            return Err(InputError::Folder);
        }
        if metadata.is_file() {
            return Ok(file);
        }
        kept(&mut file)
    }
}

/// Copies a stream to an unnamed temporary file.
fn kept(stream: &mut dyn Read) -> Result<File, InputError> {
    let unkept = |error| InputError::Unkept {
        folder: std::env::temp_dir().display().to_string(),
        error,
    };
    let mut file = tempfile::tempfile().map_err(unkept)?;
    io::copy(stream, &mut file).map_err(unkept)?;
    Ok(file)
}
