//! Whether a file has changed, without reading it.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::SystemTime;

/// What changes with a file's content: its inode, size and time of modification. A file that is
/// replaced through a symbolic link, as Kubernetes does, has another inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PemFileStamp {
    inode: u64,
    size: u64,
    modified: Option<SystemTime>,
}

impl PemFileStamp {
    /// The stamp of a file now; `None` if there is no file.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok()?;
        Some(Self {
            inode: metadata.ino(),
            size: metadata.size(),
            modified: metadata.modified().ok(),
        })
    }
}
