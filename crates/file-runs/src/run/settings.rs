//! Limits of a run: concurrency, threads, and when to stop; and the part of the file.

use std::num::NonZeroUsize;
use std::sync::Arc;

use refract_domain::result::file_run::FileRunLimits;
use tokio::sync::Semaphore;

/// The settings of one run.
#[derive(Clone)]
pub struct RunSettings {
    /// Upper bound on the rows in flight at the model.
    pub concurrency: NonZeroUsize,
    /// Number of worker threads.
    pub threads: NonZeroUsize,
    /// Whether to stop when the number of consecutive failures reaches the
    /// [threshold](refract_service::runs::failure_threshold).
    pub gives_up: bool,
    /// One permit for each row in flight, shared with other runs; `None` for a run of its own. The
    /// permits are given out in the order of the requests, so that the runs get equal shares.
    pub shared_permits: Option<Arc<Semaphore>>,
    /// The limits at which the run stops.
    pub limits: FileRunLimits,
    /// Whether the threads leave the processor to everything else that the machine has to do, on
    /// Linux.
    pub gives_way: bool,
}

impl RunSettings {
    /// A run with permits of its own and without limits.
    pub fn new(concurrency: NonZeroUsize, threads: NonZeroUsize) -> Self {
        Self {
            concurrency,
            threads,
            gives_up: true,
            shared_permits: None,
            limits: FileRunLimits::default(),
            gives_way: false,
        }
    }
}

/// Consecutive rows of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FilePart {
    /// The number of the row before the first one; 0 for the beginning of the file.
    pub(crate) after: u64,
    /// Upper bound on the rows that are not refused; `None` for all.
    pub(crate) most_accepted: Option<u64>,
}

impl FilePart {
    /// The whole file.
    pub(crate) const WHOLE: Self = Self {
        after: 0,
        most_accepted: None,
    };
}
