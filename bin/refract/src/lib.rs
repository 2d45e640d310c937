//! Refract: answers typed questions about a text, with probabilities and a memory.
//!
//! The crate combines the others: the command line, and the wiring of the servers of API and app.
//! Its program is `main.rs`; tests start the parts in their own process.

mod commands;
mod listeners;

use actix_web::rt::System;
use anyhow::Context as _;

pub use commands::Program;
pub use commands::serve::{ServeCommand, StartedNode};

/// The version, with the commit in brackets if known.
pub(crate) const VERSION: &str = env!("REFRACT_BUILD_VERSION");

/// The first characters of the commit; empty if unknown.
pub(crate) const COMMIT: &str = env!("REFRACT_BUILD_COMMIT");

/// Runs a future, such as the whole program or one node, on a new multi-threaded runtime.
///
/// # Errors
/// The runtime cannot be started, or the future fails.
pub fn block_on<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    // database connections use this runtime; each HTTP worker has its own
    let system = System::with_tokio_rt(|| runtime);
    system.block_on(future)
}
