//! What is wrong with a file, each as one sentence with its line.

/// A file cannot be run. Nothing of its values is repeated, of its column names only short ones.
#[derive(Debug, thiserror::Error)]
pub enum InputFault {
    /// It cannot be opened.
    #[error("it cannot be read: {0}")]
    Unopened(std::io::Error),
    /// It can be read only once.
    #[error("it is no file that can be read twice: save it first")]
    NotAFile,
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// It begins with the mark of UTF-16, or with NULs.
    #[error("it is not UTF-8 but UTF-16: save it as UTF-8")]
    Utf16,
    /// Bytes that are no characters.
    #[error("line {line} is not UTF-8: save the file as UTF-8")]
    NotUtf8 {
        /// Of the row's beginning.
        line: u64,
    },
    /// Too few or too many cells.
    #[error(
        "line {line} is torn: {} where the header has {expected}",
        counted(*.found, "cell")
    )]
    Torn {
        /// Of the row's beginning.
        line: u64,
        /// Cells of the row.
        found: usize,
        /// Cells of the header.
        expected: usize,
    },
    /// A quote without its end.
    #[error("line {line} is torn: a quote in it is never closed")]
    Unclosed {
        /// Of the row's beginning.
        line: u64,
    },
    /// More than any row may have.
    #[error("line {line} begins a row of over 16 MiB: a quote in it may never be closed")]
    TooLong {
        /// Of the row's beginning.
        line: u64,
    },
    /// No JSON.
    #[error("line {line} is not valid JSON (column {column})")]
    NotJson {
        /// Its line.
        line: u64,
        /// In bytes, from 1.
        column: usize,
    },
    /// JSON, but no object.
    #[error("line {line}: Expected object, received {received}")]
    NotAnObject {
        /// Its line.
        line: u64,
        /// The type's name.
        received: &'static str,
    },
    /// Wanted columns that are not there.
    #[error(
        "it lacks {}: it has {present}; name another one with --map COLUMN=FIELD",
        columns(missing)
    )]
    Missing {
        /// Names of columns.
        missing: Vec<String>,
        /// What is there instead.
        present: String,
    },
    /// A wanted column that is there twice.
    #[error("it has two columns that are called {0}")]
    Twice(String),
    /// The file was written to while it was read.
    #[error("it was changed while it was read, at line {line} or before")]
    Changed {
        /// The last line that was read.
        line: u64,
    },
    /// Reading failed on the way.
    #[error("line {line} cannot be read: {error}")]
    Unreadable {
        /// Where it failed.
        line: u64,
        /// Why.
        error: std::io::Error,
    },
}

fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

fn columns(names: &[String]) -> String {
    let plural = if names.len() == 1 { "" } else { "s" };
    format!("the column{plural} {}", names.join(", "))
}
