//! The source of the rows: a file, stored bytes, or a stream copied to a temporary file.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::input_bytes::InputBytes;
use super::input_error::InputError;
use super::stored_input::StoredInput;

/// The source of the rows.
pub enum InputSource<'a> {
    /// The path of a file. A named pipe or a device is read like a stream.
    Path(&'a Path),
    /// Bytes that can be read only once. They are copied to a temporary file that no other process
    /// can open and that vanishes with this process.
    Stream(Box<dyn Read + 'a>),
    /// Bytes in memory or in a database. They are never copied to a file.
    Stored(StoredInput),
}

impl InputSource<'_> {
    /// The name from which the format can be detected.
    pub(crate) fn name(&self) -> &Path {
        match self {
            Self::Path(path) => path,
            Self::Stream(_) => Path::new(""),
            Self::Stored(stored) => &stored.name,
        }
    }

    /// Opens bytes that can be read repeatedly.
    pub(crate) fn open(self) -> Result<InputBytes, InputError> {
        let file = match self {
            Self::Path(path) => open_file(path)?,
            Self::Stream(mut stream) => kept(&mut stream)?,
            Self::Stored(stored) => return Ok(InputBytes::Stored(stored)),
        };
        InputBytes::of_file(file).map_err(InputError::Unopened)
    }
}

fn open_file(path: &Path) -> Result<File, InputError> {
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
