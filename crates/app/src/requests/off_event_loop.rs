//! Work that would keep a thread's other requests waiting.

use actix_web::web;
use refract_http_serving::Panicked;

use crate::replies::PageError;

/// Runs work on a thread that may block.
///
/// # Errors
/// When the work panicked.
pub(crate) async fn off_event_loop<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, PageError> {
    web::block(work)
        .await
        .map_err(|_| PageError::Panicked(Panicked))
}
