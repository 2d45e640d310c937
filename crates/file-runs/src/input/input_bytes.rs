//! The bytes of an input: an open file or stored bytes, read from the start as often as needed.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::time::SystemTime;

use super::input_error::InputError;
use super::stored_input::StoredInput;

/// Bytes that any number of readers read from the start, each at its own position. Clones are cheap.
#[derive(Clone)]
pub(crate) enum InputBytes {
    /// An open file, watched for changes.
    File {
        /// The file.
        file: Arc<File>,
        /// The file when it was opened.
        as_opened: FileStamp,
    },
    /// Stored bytes, which never change.
    Stored(StoredInput),
}

/// Size and modification time of a file, which change with every write.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct FileStamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl FileStamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
        }
    }
}

impl InputBytes {
    /// The bytes of an open file.
    pub(crate) fn of_file(file: File) -> io::Result<Self> {
        let as_opened = FileStamp::of(&file.metadata()?);
        let file = Arc::new(file);
        Ok(Self::File { file, as_opened })
    }

    /// Reads from the first byte.
    pub(crate) fn read(&self) -> Box<dyn Read + Send> {
        match self {
            Self::File { file, .. } => Box::new(FileReader {
                file: Arc::clone(file),
                position: 0,
            }),
            Self::Stored(stored) => (stored.bytes)(),
        }
    }

    /// Fails if a file has changed since it was opened. `line` is the reader's position.
    pub(crate) fn check_unchanged(&self, line: u64) -> Result<(), InputError> {
        let Self::File { file, as_opened } = self else {
            return Ok(());
        };
        let now = file.metadata();
        let now = now.map_err(|error| InputError::Unreadable { line, error })?;
        if FileStamp::of(&now) == *as_opened {
            Ok(())
        } else {
            Err(InputError::Changed { line })
        }
    }
}

/// Reads a file at a position of its own.
struct FileReader {
    file: Arc<File>,
    position: u64,
}

impl Read for FileReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.position)?;
        self.position += u64::try_from(read).unwrap_or_default();
        Ok(read)
    }
}
