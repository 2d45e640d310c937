//! Bytes that are stored elsewhere, such as an upload in the database.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

/// Stored bytes that can be read from the start as often as needed, and never change. Clones are
/// cheap.
#[derive(Clone)]
pub struct StoredInput {
    /// The file's name, whose ending names the format.
    pub name: PathBuf,
    /// Begins to read at the first byte. Readers block, and are independent of each other.
    pub bytes: Arc<dyn Fn() -> Box<dyn Read + Send> + Send + Sync>,
}
