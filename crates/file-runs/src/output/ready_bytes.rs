//! The bytes of a file that is being written, as its writer has them ready.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes that a writer of a file owns, and that are taken when they are ready.
#[derive(Clone, Default)]
pub(super) struct ReadyBytes(Arc<Mutex<Vec<u8>>>);

impl ReadyBytes {
    pub(super) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for ReadyBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
