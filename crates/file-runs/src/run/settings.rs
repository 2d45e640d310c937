//! Limits of a run: concurrency, threads, and when to give up.

use std::num::NonZeroUsize;

/// The settings of one run.
#[derive(Clone, Copy)]
pub struct RunSettings {
    /// Upper bound on the rows in flight at the model.
    pub concurrency: NonZeroUsize,
    /// Number of worker threads.
    pub threads: NonZeroUsize,
    /// Whether to stop when the number of consecutive failures reaches the
    /// [threshold](refract_service::runs::failure_threshold).
    pub gives_up: bool,
}
