//! A call's use case, which goes on when its client disconnects.

use futures_util::FutureExt as _;
use refract_answering::Refusal;
use refract_http_serving::{CallInFlight, with_causes};

use crate::error::ApiError;

/// Runs a use case to its end, whether or not its client waits. Internal errors are logged here,
/// because after a disconnect no handler is left to log them.
pub(crate) fn detached<T: 'static>(
    in_flight: CallInFlight,
    use_case: impl Future<Output = Result<T, Refusal>> + 'static,
) -> impl Future<Output = Result<T, ApiError>> {
    let logged = use_case.inspect(|outcome| {
        if let Err(Refusal::Internal(error)) = outcome {
            tracing::error!(error = with_causes(error), "a call failed");
        }
    });
    in_flight
        .detached(logged)
        .map(|ended| ended.map_err(ApiError::from)?.map_err(ApiError::from))
}
