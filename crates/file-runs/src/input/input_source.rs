//! The source of the rows: a file, stored bytes, or a stream copied to a temporary file; its bytes are
//! read from the start as often as needed.

use std::fs::{File, Metadata};
use std::io::{self, Cursor, Read};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use refract_service::runs::StoredBytes;
use serde::{Deserialize, Serialize};

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
    /// Part of a workbook.
    Sheet {
        /// The workbook.
        workbook: Box<InputSource<'a>>,
        /// What is read of it.
        choice: SheetChoice,
    },
}

/// What is read of a workbook: by default all rows of its first visible sheet. Other files have no
/// choice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SheetChoice {
    /// The name of the sheet.
    pub sheet: Option<String>,
    /// Whether rows that a spreadsheet does not show are left out.
    pub skips_hidden_rows: bool,
}

/// The sheets of a workbook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkbookSheets {
    /// The name of the sheet that is read.
    pub read: String,
    /// The names of the sheets; of an outline that is kept, at most 1,000.
    pub names: Vec<String>,
    /// The number of rows that a spreadsheet does not show.
    #[serde(default)]
    pub hidden_rows: u64,
    /// Whether these rows are left out.
    #[serde(default)]
    pub skips_hidden_rows: bool,
}

impl InputSource<'_> {
    /// The name from which the format can be detected.
    pub(crate) fn name(&self) -> &Path {
        match self {
            Self::Path(path) => path,
            Self::Stream(_) => Path::new(""),
            Self::Stored(stored) => &stored.name,
            Self::Sheet { workbook, .. } => workbook.name(),
        }
    }

    /// What is read if it is a workbook.
    pub(crate) fn choice(&self) -> SheetChoice {
        match self {
            Self::Path(_) | Self::Stream(_) | Self::Stored(_) => SheetChoice::default(),
            Self::Sheet { choice, .. } => choice.clone(),
        }
    }

    /// This part, if it is a workbook.
    #[must_use]
    pub fn with_choice(self, choice: SheetChoice) -> Self {
        Self::Sheet {
            workbook: Box::new(self),
            choice,
        }
    }

    /// Opens bytes that can be read repeatedly.
    pub(crate) fn open(self) -> Result<InputBytes, InputError> {
        let file = match self {
            Self::Path(path) => open_file(path)?,
            Self::Stream(mut stream) => kept(&mut stream)?,
            Self::Stored(stored) => return Ok(InputBytes::Stored(stored)),
            Self::Sheet { workbook, .. } => return workbook.open(),
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
        self.read_from(0)
    }

    /// Reads from this place.
    pub(crate) fn read_from(&self, position: u64) -> Box<dyn Read + Send> {
        match self {
            Self::File { file, .. } => Box::new(FileReader {
                file: Arc::clone(file),
                position,
            }),
            Self::Stored(stored) => stored.content.read_from(position),
        }
    }

    /// Number of bytes.
    pub(crate) fn length(&self) -> io::Result<u64> {
        match self {
            Self::File { as_opened, .. } => Ok(as_opened.bytes),
            Self::Stored(stored) => stored.content.length(),
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

/// Bytes that can be read from any place as often as needed, and never change.
pub trait StoredContent: Send + Sync {
    /// Begins to read at this place. Readers block, and are independent of each other.
    fn read_from(&self, position: u64) -> Box<dyn Read + Send>;

    /// Number of bytes. Blocks.
    ///
    /// # Errors
    /// When the bytes cannot be found.
    fn length(&self) -> io::Result<u64>;
}

impl StoredContent for Arc<[u8]> {
    fn read_from(&self, position: u64) -> Box<dyn Read + Send> {
        let mut reader = Cursor::new(Arc::clone(self));
        reader.set_position(position);
        Box::new(reader)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(u64::try_from(self.len()).unwrap_or(u64::MAX))
    }
}

impl StoredContent for StoredBytes {
    fn read_from(&self, position: u64) -> Box<dyn Read + Send> {
        Box::new(self.open_at(position))
    }

    fn length(&self) -> io::Result<u64> {
        self.size()
    }
}

/// A stored file. Clones are cheap.
#[derive(Clone)]
pub struct StoredInput {
    /// The file's name, whose ending names the format.
    pub name: PathBuf,
    /// The bytes of the file.
    pub content: Arc<dyn StoredContent>,
    /// The memory that a workbook is read in; `None` for a process that reads nothing else.
    pub workbooks: Option<WorkbookBudget>,
}

impl StoredInput {
    /// A file that is in memory.
    pub fn of_bytes(name: impl Into<PathBuf>, bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes: Arc<[u8]> = bytes.into();
        Self {
            name: name.into(),
            content: Arc::new(bytes),
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
