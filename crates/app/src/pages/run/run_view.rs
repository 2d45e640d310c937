//! A run with its prism, as the parts of its page show it.

use std::sync::Arc;

use refract_domain::account::role::Role;
use refract_domain::ids::FileRunId;
use refract_domain::prism::slug::PrismSelector;
use refract_service::lenses::PrismLens;
use refract_service::runs::StoredRun;

use crate::replies::page_error::PageError;
use crate::requests::visit::Visit;

/// A run with its prism.
pub(super) struct RunView {
    pub(super) run: StoredRun,
    pub(super) lens: Arc<PrismLens>,
    /// Whether the visitor may change the run.
    pub(super) is_editor: bool,
}

/// Finds the run of the address.
pub(super) async fn find(visit: &Visit) -> Result<RunView, PageError> {
    let id = FileRunId::parse(visit.sent.values.get("id")).ok_or(PageError::NotFound)?;
    let runs = visit.refract.runs();
    let run = runs.find_file_run(visit.account(), id).await?;
    let run = run.ok_or(PageError::NotFound)?;
    let prism = PrismSelector::Id(run.prism);
    let lens = visit.refract.lenses().find(visit.account(), &prism).await?;
    Ok(RunView {
        run,
        lens: Arc::new(lens),
        is_editor: visit.visitor.role.may(Role::Editor),
    })
}
