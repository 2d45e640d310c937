//! The file descriptors that a node needs in addition to its clients' connections. The numbers were
//! counted in `/proc/self/fd` under load.

use anyhow::Context as _;
use refract_app::APP_WORKERS;
use refract_http_serving::{ConnectionShares, DescriptorNeeds};
use refract_persistence::{DatabaseSettings, DatabaseUrl};

/// The process itself, its runtime and signals.
const PROCESS: usize = 16;
/// A thread that serves the API: 4 for itself, 2 for its dedicated connection to an SQLite file,
/// the rest to the model.
const API_WORKER: usize = 10;
/// The app's listener and its threads.
const APP: usize = 12;
/// The operator's listener and its thread.
const OPS: usize = 8;
/// The connections to an SQLite file that all threads share.
const SQLITE: usize = 14;
/// Files that are read and written occasionally.
const FILES: usize = 8;

/// Divides the file descriptors among the clients of a node with this many workers.
pub(crate) fn share(
    workers: usize,
    has_app: bool,
    has_ops: bool,
    database: &DatabaseSettings,
) -> anyhow::Result<ConnectionShares> {
    let of_database = match &database.url {
        DatabaseUrl::Given(url) if url.starts_with("sqlite:") => SQLITE,
        DatabaseUrl::Given(_) | DatabaseUrl::InFile(_) => database.pool.max(SQLITE),
    };
    let of_app = if has_app { APP } else { 0 };
    let of_ops = if has_ops { OPS } else { 0 };
    let needs = DescriptorNeeds {
        api_workers: workers,
        app_workers: if has_app { APP_WORKERS.get() } else { 0 },
        others: (PROCESS + API_WORKER * workers + of_app + of_ops + FILES)
            .saturating_add(of_database),
    };
    // the setting that needs more of them
    let (cause, value) = if of_database > API_WORKER * workers {
        ("REFRACT_DATABASE_POOL", database.pool)
    } else {
        ("REFRACT_WORKERS", workers)
    };
    let shares = needs.share();
    shares.with_context(|| format!("too few descriptors for {cause}={value}"))
}
