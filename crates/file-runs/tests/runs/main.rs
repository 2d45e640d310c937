//! File runs and checks as operators start them, on both databases: what is asked, written and
//! resumed. Every test has its own service, and its commands run in the test's process.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected ends there"
)]

mod check;
mod check_errors;
mod check_orders;
mod gold_files;
mod row_schemas;
mod run;
mod run_errors;
mod run_files;
mod run_layouts;
mod run_rate;
mod workbooks;

/// A behaviour starts a service of its own.
use std::future::ready as on;
