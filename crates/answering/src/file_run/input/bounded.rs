//! A reader that refuses to go on for ever without anyone taking stock.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Reads up to so many bytes until the allowance is renewed.
pub(crate) struct Bounded<R> {
    inner: R,
    allowance: Allowance,
}

/// What may still be read.
#[derive(Clone)]
pub(crate) struct Allowance {
    left: Arc<AtomicU64>,
    whole: u64,
}

impl Allowance {
    pub(crate) fn of(whole: u64) -> Self {
        Self {
            left: Arc::new(AtomicU64::new(whole)),
            whole,
        }
    }

    pub(crate) fn renew(&self) {
        self.left.store(self.whole, Ordering::Relaxed);
    }

    pub(crate) fn is_used_up(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }
}

impl<R> Bounded<R> {
    pub(crate) fn new(inner: R, allowance: Allowance) -> Self {
        Self { inner, allowance }
    }
}

impl<R: Read> Read for Bounded<R> {
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
