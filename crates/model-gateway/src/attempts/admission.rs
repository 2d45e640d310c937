//! When a request may be sent: at its server's turn and pace, and within the limit on the model
//! requests of this node that are in flight at once. And requests that follow each other, with the
//! pause before a second attempt.

use std::time::Duration;

use refract_domain::limits::CHARS_PER_TOKEN;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use crate::connection::ServerReply;
use crate::connection::request_body::RequestBody;
use crate::error::ModelError;
use crate::priority_queue::{CallPriority, PriorityQueue};
use crate::servers::{PacedRequest, ServerPace, ServerPlace, ServerPool, ServerTurn};

/// A request that its server's pace and the concurrency limit let pass.
pub(super) struct AdmittedRequest<'a> {
    pub(super) paced: PacedRequest,
    pub(super) turn: ServerTurn<'a>,
    /// Held until the attempt has ended.
    _permit: SemaphorePermit<'a>,
}

/// Waits until the server's turn, its pace and the concurrency limit let a request pass. Only a
/// request of a batch may wait longer for one of them than an attempt may take.
pub(super) async fn admit<'a>(
    pool: &'a ServerPool,
    limit: &'a ConcurrencyLimit,
    priority: CallPriority,
    place: ServerPlace,
    write: &impl Fn(ServerPlace) -> RequestBody,
) -> Result<AdmittedRequest<'a>, ModelError> {
    let turn = match pool.catch_up() {
        Some(catch_up) if priority == CallPriority::Interactive => {
            let turn = timeout(limit.longest_wait(), catch_up.turn(priority));
            turn.await.map_err(|_| limit.too_busy())?
        }
        Some(catch_up) => catch_up.turn(priority).await,
        None => ServerTurn::default(),
    };
    let server_pace = pool.pace(place);
    let tokens = if server_pace.is_limited() {
        write(place).bytes() / CHARS_PER_TOKEN
    } else {
        0
    };
    let begun = server_pace.try_begin(tokens);
    let at_once = begun.and_then(|paced| Some((paced, limit.try_acquire()?)));
    let (paced, permit) = match at_once {
        Some(admitted) => admitted,
        // boxed, so that a request that need not wait needs no memory for it
        None => Box::pin(wait(server_pace, limit, priority, tokens, begun)).await?,
    };
    Ok(AdmittedRequest {
        paced,
        turn,
        _permit: permit,
    })
}

/// Waits for the server's pace, unless the request has `begun` already, and for a permit.
async fn wait<'a>(
    server_pace: &ServerPace,
    limit: &'a ConcurrencyLimit,
    priority: CallPriority,
    tokens: usize,
    begun: Option<PacedRequest>,
) -> Result<(PacedRequest, SemaphorePermit<'a>), ModelError> {
    let admission = async {
        let paced = match begun {
            Some(paced) => paced,
            None => server_pace.begin(priority, tokens).await,
        };
        Ok((paced, limit.acquire(priority).await?))
    };
    match priority {
        CallPriority::Batch => admission.await,
        CallPriority::Interactive => {
            let admitted = timeout(limit.longest_wait(), admission).await;
            admitted.unwrap_or_else(|_| {
                // no call fails for a guessed pace
                let permit = limit.try_acquire().ok_or_else(|| limit.too_busy())?;
                let paced = server_pace.begin_overdue(tokens);
                Ok((paced.ok_or_else(|| limit.too_busy())?, permit))
            })
        }
    }
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

/// A semaphore that all threads share. Permits go to the requests of higher priority first.
#[derive(Debug)]
pub(crate) struct ConcurrencyLimit {
    semaphore: Semaphore,
    permits: usize,
    queue: PriorityQueue,
    longest_wait: Duration,
}

impl ConcurrencyLimit {
    /// Creates a limit of `permits`. An interactive request waits `longest_wait` at most.
    pub(crate) fn new(permits: usize, longest_wait: Duration) -> Self {
        let permits = permits.min(Semaphore::MAX_PERMITS);
        Self {
            semaphore: Semaphore::new(permits),
            permits,
            queue: PriorityQueue::default(),
            longest_wait,
        }
    }

    /// A permit if one is free. Dropping the permit frees it for the next request.
    fn try_acquire(&self) -> Option<SemaphorePermit<'_>> {
        if self.queue.count() > 0 {
            return None;
        }
        self.semaphore.try_acquire().ok()
    }

    /// Waits for a permit.
    pub(crate) async fn acquire(
        &self,
        priority: CallPriority,
    ) -> Result<SemaphorePermit<'_>, ModelError> {
        let take = || self.semaphore.acquire();
        let permit = self.queue.take_in_order(priority, take).await;
        // the semaphore is never closed
        permit.map_err(|_| self.too_busy())
    }

    /// The failure of a request that waited for `longest_wait`.
    pub(crate) fn too_busy(&self) -> ModelError {
        ModelError::TooBusy(self.longest_wait)
    }

    /// The longest time that an interactive request waits before an attempt.
    fn longest_wait(&self) -> Duration {
        self.longest_wait
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.permits
            .saturating_sub(self.semaphore.available_permits())
    }

    pub(crate) fn waiting(&self) -> usize {
        self.queue.count()
    }
}

/// The server of a series of requests, and the time left for them. The whole series may take two
/// attempts and one pause. Waiting for a permit of the concurrency limit does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestSeries {
    pub(crate) attempts: Duration,
    pub(crate) pauses: Duration,
    /// The server of the last request; `None` until the first one is sent.
    pub(crate) sent_to: Option<ServerPlace>,
}

impl RequestSeries {
    /// Starts a series whose attempts have this timeout.
    pub(crate) fn new(timeout: Duration) -> Self {
        Self {
            attempts: timeout.saturating_mul(2),
            pauses: LONGEST_PAUSE,
            sent_to: None,
        }
    }

    /// A series with the same time left, for a request that may go to any server.
    pub(crate) fn for_another_request(self) -> Self {
        Self {
            sent_to: None,
            ..self
        }
    }

    /// Whether no time is left for another attempt.
    pub(crate) fn is_spent(self) -> bool {
        self.attempts.is_zero()
    }

    /// The server that answered last; the first of the list if nothing was sent yet.
    pub(crate) fn server(self) -> ServerPlace {
        self.sent_to.unwrap_or_default()
    }

    /// Joins this series with one that ran concurrently: takes the shorter time left, and the
    /// other's server.
    #[must_use]
    pub(crate) fn joined(self, other: Self) -> Self {
        Self {
            attempts: self.attempts.min(other.attempts),
            pauses: self.pauses.min(other.pauses),
            sent_to: other.sent_to,
        }
    }
}

/// The longest pause. A series of requests pauses no longer in total.
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Bounds of the random pause in milliseconds, so that callers do not return all at once.
const JITTER_MS: std::ops::RangeInclusive<u64> = 100..=400;

/// The pause: as long as the server asks, up to five seconds; otherwise short and random.
pub(crate) fn pause(asked: Option<Duration>) -> Duration {
    match asked {
        Some(asked) => asked.min(LONGEST_PAUSE),
        None => Duration::from_millis(rand::random_range(JITTER_MS)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_is_waited_for_up_to_five_seconds_and_shortly_if_it_asks_for_nothing() {
        for (asked, expected) in [(0, 0), (1_500, 1_500), (5_000, 5_000), (120_000, 5_000)] {
            let expected = Duration::from_millis(expected);
            assert_eq!(pause(Some(Duration::from_millis(asked))), expected);
        }
        let bounds = Duration::from_millis(100)..=Duration::from_millis(400);
        assert!(bounds.contains(&pause(None)));
    }
}
