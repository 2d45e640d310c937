//! The behaviour of use cases on both databases, one file for each group of behaviours.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected ends there"
)]

mod fixture;
mod oracle;

mod budgets;
mod clocks;
mod deletions;
mod downloads;
mod draft_retests;
mod drafts;
mod events;
mod result_counts;
mod result_search;
mod retention;
mod retest_nodes;
mod retests;
mod run_results;
mod search_order;
mod stored_runs;
mod unsaved_drafts;
mod uploaded_files;
mod watched_answers;

use refract_test_support::backend::Backend;

use crate::fixture::Fixture;

/// A new database with an account.
async fn on(backend: Backend) -> Fixture {
    Fixture::on(backend).await
}
