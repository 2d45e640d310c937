//! Works on the runs that people start in the app: takes the lease of a stored run, reads the
//! uploaded file, asks, and saves how far it came.
//!
//! Any node may work on any run, and nothing that a run needs lives on one node. A node that dies
//! stops renewing its leases; another node takes them and goes on after the last row up to which
//! every row is finished. Rows beyond it that are answered already are found by their idempotency
//! keys, as in a run from a terminal that is started again.

pub(crate) mod check_facts;
mod ended_work;
mod file_run_worker;
mod leased_work;
mod pauses;
mod progress;

use std::num::NonZeroUsize;

pub use self::file_run_worker::{FileRunWorker, StartedWorker, WorkerSettings};

/// Upper bound on the rows in flight at the model on one node, of all its runs together, unless the
/// model takes fewer requests. `refract run` has the same default.
pub const RUN_CONCURRENCY: NonZeroUsize = match NonZeroUsize::new(32) {
    Some(rows) => rows,
    None => NonZeroUsize::MIN,
};
