//! Runs the use case of a call: one that asks the model continues when its client disconnects.

use futures_util::FutureExt as _;
use refract_http_serving::{CallInFlight, with_causes};
use refract_service::CallError;

use crate::error::ApiError;

/// Runs a use case to its end, whether or not its client waits.
pub(crate) fn detached<T: 'static>(
    in_flight: CallInFlight,
    use_case: impl Future<Output = Result<T, CallError>> + 'static,
) -> impl Future<Output = Result<T, ApiError>> {
    in_flight
        .detached(logged(use_case))
        .map(|ended| ended.map_err(ApiError::from)?.map_err(ApiError::from))
}

/// Runs a read-only use case, which is cancelled when its client disconnects.
pub(crate) fn in_place<T>(
    in_flight: CallInFlight,
    use_case: impl Future<Output = Result<T, CallError>>,
) -> impl Future<Output = Result<T, ApiError>> {
    // boxed: otherwise every request's future would be as large as this use case
    Box::pin(logged(use_case)).map(move |ended| {
        drop(in_flight);
        ended.map_err(ApiError::from)
    })
}

/// Logs an internal error where it occurs, because after a disconnect no handler is left to log it.
fn logged<T>(
    use_case: impl Future<Output = Result<T, CallError>>,
) -> impl Future<Output = Result<T, CallError>> {
    use_case.inspect(|outcome| {
        if let Err(CallError::Internal(error)) = outcome {
            tracing::error!(error = with_causes(error), "a call failed");
        }
    })
}
