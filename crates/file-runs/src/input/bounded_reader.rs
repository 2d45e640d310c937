//! A reader that fails after a number of bytes, until its allowance is renewed.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Reads until the allowance is used up.
pub(crate) struct BoundedReader<R> {
    inner: R,
    allowance: Allowance,
}

/// The number of bytes that may still be read. Clones share it.
#[derive(Clone)]
pub(crate) struct Allowance {
    left: Arc<AtomicU64>,
    whole: u64,
}

impl Allowance {
    /// An allowance of `whole` bytes, none of them used.
    pub(crate) fn of(whole: u64) -> Self {
        Self {
            left: Arc::new(AtomicU64::new(whole)),
            whole,
        }
    }

    /// Renews the whole number of bytes.
    pub(crate) fn renew(&self) {
        self.left.store(self.whole, Ordering::Relaxed);
    }

    /// Whether no byte is left until the allowance is renewed.
    pub(crate) fn is_used_up(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }
}

impl<R> BoundedReader<R> {
    /// Limits a reader by an allowance.
    pub(crate) fn new(inner: R, allowance: Allowance) -> Self {
        Self { inner, allowance }
    }
}

impl<R: Read> Read for BoundedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.allowance.is_used_up() {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        let read = self.inner.read(buffer)?;
        let left = self.allowance.left.load(Ordering::Relaxed);
        let taken = u64::try_from(read).unwrap_or(u64::MAX);
        let left = left.saturating_sub(taken);
        self.allowance.left.store(left, Ordering::Relaxed);
        Ok(read)
    }
}
