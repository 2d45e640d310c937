//! How hard a run works.

use std::num::NonZeroUsize;

use refract_service::ModelGateway;

/// The settings of one run.
#[derive(Clone, Copy)]
pub struct RunSettings<'a> {
    /// The gateway to the model.
    pub gateway: &'a ModelGateway,
    /// Upper bound on the rows that the model is asked about at once.
    pub concurrency: NonZeroUsize,
    /// Number of worker threads.
    pub threads: NonZeroUsize,
    /// Whether the run stops when the failures in a row reach the
    /// [threshold](refract_service::failure_threshold).
    pub gives_up: bool,
}
