//! Drafts and trials: lenses and versions before they are saved, texts asked of several versions and
//! in other orders.

mod applies;
mod apply_events;
mod example_texts;
pub(crate) mod fixture;
mod lens_drafts;
mod lens_history;
mod lens_rows;
mod meanwhile;
mod order_checks;
mod trials;
mod version_drafts;

use refract_test_support::backend::Backend;

use self::fixture::DraftFixture;

/// A new database with a person and a prism.
pub(crate) async fn on(backend: Backend) -> DraftFixture {
    DraftFixture::of(crate::on(backend).await).await
}
