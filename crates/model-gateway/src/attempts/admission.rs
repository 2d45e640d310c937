//! When a request may be sent: at its server's pace, and within the concurrency limit.

use refract_domain::limits::CHARS_PER_TOKEN;
use tokio::sync::SemaphorePermit;
use tokio::time::timeout;

use super::concurrency_limit::ConcurrencyLimit;
use crate::connection::ServerReply;
use crate::connection::request_body::RequestBody;
use crate::error::ModelError;
use crate::priority_queue::CallPriority;
use crate::servers::pace::{PacedRequest, ServerPace};
use crate::servers::place::ServerPlace;
use crate::servers::pool::ServerPool;

/// A request that its server's pace and the concurrency limit let pass.
pub(super) struct AdmittedRequest<'a> {
    pub(super) paced: PacedRequest,
    /// Held until the attempt has ended.
    _permit: SemaphorePermit<'a>,
}

/// Waits until the server's pace and the concurrency limit let a request pass. Only a request of a
/// batch may wait longer than an attempt may take.
pub(super) async fn admit<'a>(
    pool: &'a ServerPool,
    limit: &'a ConcurrencyLimit,
    priority: CallPriority,
    place: ServerPlace,
    write: &impl Fn(ServerPlace) -> RequestBody,
) -> Result<AdmittedRequest<'a>, ModelError> {
    let server_pace = pool.pace(place);
    let tokens = if server_pace.is_limited() {
        write(place).bytes() / CHARS_PER_TOKEN
    } else {
        0
    };
    let begun = server_pace.try_begin(tokens);
    if let Some(paced) = begun
        && let Some(permit) = limit.try_acquire()
    {
        return Ok(AdmittedRequest {
            paced,
            _permit: permit,
        });
    }
    // boxed, so that a request that need not wait needs no memory for it
    let admission = Box::pin(async {
        let paced = match begun {
            Some(paced) => paced,
            None => server_pace.begin(priority, tokens).await,
        };
        let permit = limit.acquire(priority).await?;
        Ok(AdmittedRequest {
            paced,
            _permit: permit,
        })
    });
    match priority {
        CallPriority::Interactive => match timeout(limit.longest_wait(), admission).await {
            Ok(admitted) => admitted,
            Err(_) => begin_overdue(server_pace, limit, tokens).ok_or_else(|| limit.too_busy()),
        },
        CallPriority::Batch => admission.await,
    }
}

/// Begins a request that has waited for as long as it may, if no more than a guess holds it back.
fn begin_overdue<'a>(
    server_pace: &ServerPace,
    limit: &'a ConcurrencyLimit,
    tokens: usize,
) -> Option<AdmittedRequest<'a>> {
    let permit = limit.try_acquire()?;
    let paced = server_pace.begin_overdue(tokens)?;
    Some(AdmittedRequest {
        paced,
        _permit: permit,
    })
}

/// Lets the server's pace learn from the end of a request.
pub(super) fn keep_pace(
    pool: &ServerPool,
    place: ServerPlace,
    paced: PacedRequest,
    reply: &Result<ServerReply, ModelError>,
) {
    let refused = |asked| {
        let in_flight = pool.in_flight(place) + 1;
        pool.pace(place).refused(paced, asked, in_flight);
    };
    match reply {
        Ok(ServerReply::Answer(_)) => pool.pace(place).answered(paced),
        Ok(ServerReply::CallError(refusal)) if refusal.is_for_the_rate() => {
            refused(refusal.retry_after);
        }
        // something in front of the host waits instead of refusing
        Err(ModelError::HeldUp(_)) => refused(None),
        Ok(ServerReply::CallError(_)) | Err(_) => {}
    }
}
