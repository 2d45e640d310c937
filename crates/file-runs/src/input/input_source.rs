//! Where the rows come from: a file, or a stream that is kept in a temporary file.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::input_fault::InputError;

/// Where the rows come from.
pub enum InputSource<'a> {
    /// A file by its path. A named pipe or a device is read as a stream is.
    Path(&'a Path),
    /// Bytes that can be read only once. They are kept in a temporary file, which nobody else can
    /// open and which is gone when this process ends.
    Stream(Box<dyn Read + 'a>),
}

impl InputSource<'_> {
    /// The name by which the format of the rows may be known.
    pub(crate) fn name(&self) -> &Path {
        match self {
            Self::Path(path) => path,
            Self::Stream(_) => Path::new(""),
        }
    }

    /// A file that can be read again and again.
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

/// Copies a stream to a temporary file without a name.
fn kept(stream: &mut dyn Read) -> Result<File, InputError> {
    let unkept = |error| InputError::Unkept {
        folder: std::env::temp_dir().display().to_string(),
        error,
    };
    let mut file = tempfile::tempfile().map_err(unkept)?;
    io::copy(stream, &mut file).map_err(unkept)?;
    Ok(file)
}
