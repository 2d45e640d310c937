//! The source of the rows: a file, stored bytes, or a stream copied to a temporary file; its bytes are
//! read from the start as often as needed.

use std::fs::{File, Metadata};
use std::io::{self, Cursor, Read};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::input_error::InputError;
use super::workbook_budget::WorkbookBudget;

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
    fn of_file(file: File) -> io::Result<Self> {
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

/// Stored bytes that can be read from the start as often as needed, and never change. Clones are
/// cheap.
#[derive(Clone)]
pub struct StoredInput {
    /// The file's name, whose ending names the format.
    pub name: PathBuf,
    /// Begins to read at the first byte. Readers block, and are independent of each other.
    pub bytes: Arc<dyn Fn() -> Box<dyn Read + Send> + Send + Sync>,
    /// The memory that a workbook is read in; `None` for a process that reads nothing else.
    pub workbooks: Option<WorkbookBudget>,
}

impl StoredInput {
    /// A file that is in memory.
    pub fn of_bytes(name: impl Into<PathBuf>, bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        Self {
            name: name.into(),
            bytes: Arc::new(move || Box::new(Cursor::new(Arc::clone(&bytes)))),
            workbooks: None,
        }
    }

    /// The file, read within this budget if it is a workbook.
    #[must_use]
    pub fn within(self, budget: &WorkbookBudget) -> Self {
        Self {
            workbooks: Some(budget.clone()),
            ..self
        }
    }
}
