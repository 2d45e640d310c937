//! Bytes that are stored elsewhere, such as an upload in the database.

use std::io::{Cursor, Read};
use std::path::PathBuf;
use std::sync::Arc;

use super::workbook_budget::WorkbookBudget;

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
