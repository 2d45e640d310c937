//! A retest with its prism, as the parts of its page show it.

use std::sync::Arc;

use refract_domain::account::role::Role;
use refract_domain::ids::RetestId;
use refract_service::lenses::PrismLens;
use refract_service::measures::stored_retests::StoredRetest;

use crate::replies::page_error::PageError;
use crate::requests::visit::Visit;

/// A retest with its prism.
pub(super) struct RetestView {
    pub(super) retest: StoredRetest,
    pub(super) lens: Arc<PrismLens>,
    /// Whether the visitor may stop and continue the retest.
    pub(super) is_editor: bool,
}

/// Finds the retest of the address.
pub(super) async fn find(visit: &Visit) -> Result<RetestView, PageError> {
    let lens = visit.find_lens().await?;
    let id = RetestId::parse(visit.sent.values.get("id")).ok_or(PageError::NotFound)?;
    let found = visit.refract.retests().find(visit.account(), id).await?;
    let of_prism = found.filter(|retest| retest.prism == lens.prism.id);
    Ok(RetestView {
        retest: of_prism.ok_or(PageError::NotFound)?,
        lens: Arc::new(lens),
        is_editor: visit.visitor.role.may(Role::Editor),
    })
}
