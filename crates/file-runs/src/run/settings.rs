//! How hard a run works.

use std::num::NonZeroUsize;

/// The settings of one run.
#[derive(Clone, Copy)]
pub struct RunSettings {
    /// Upper bound on the rows that the model is asked about at once.
    pub concurrency: NonZeroUsize,
    /// Number of worker threads.
    pub threads: NonZeroUsize,
    /// Whether the run stops when the failures in a row reach the
    /// [threshold](refract_service::runs::failure_threshold).
    pub gives_up: bool,
}
