//! A file run as a list shows it.

use refract_domain::prism::VersionNumber;
use refract_service::runs::StoredRun;
use serde::Serialize;

use crate::commands::selection::to_the_second;

/// A run in a list, as a JSON line.
#[derive(Serialize)]
pub(super) struct ListedRun<'a> {
    pub(super) id: String,
    pub(super) prism: &'a str,
    pub(super) version: VersionNumber,
    pub(super) state: &'static str,
    pub(super) rows: u64,
    pub(super) answered: u64,
    pub(super) failed: u64,
    pub(super) refused: u64,
    pub(super) created_at: String,
    pub(super) by: Option<&'a str>,
}

impl<'a> ListedRun<'a> {
    pub(super) fn of(run: &'a StoredRun) -> Self {
        let progress = &run.progress;
        Self {
            id: run.id.to_string(),
            prism: &run.prism_slug,
            version: run.version,
            state: run.state.name(),
            rows: progress.rows,
            answered: progress.answered_before.saturating_add(progress.answered),
            failed: progress.failed,
            refused: progress.refused,
            created_at: to_the_second(run.made_at),
            by: run.by.as_deref(),
        }
    }
}
