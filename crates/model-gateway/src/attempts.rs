//! One request: an attempt, and one more where the server asks for patience.
//!
//! An attempt's clock covers sending, waiting and reading. It starts when the request has its
//! turn, so that a full node is not mistaken for a slow model.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use tokio::time::{sleep, timeout};

use crate::connection::{ModelConnections, ServerReply};
use crate::failure::ModelFailure;
use crate::meter::Meter;
use crate::request_body::RequestBody;
use crate::retry_after;
use crate::turns::Turns;

/// What is left of the time that one part of a call may take, however many requests it needs: two
/// attempts and one pause. Waiting for a turn takes nothing from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeLeft {
    attempts: Duration,
    pauses: Duration,
}

impl TimeLeft {
    /// The lesser of both, of requests that were made side by side.
    #[must_use]
    pub(crate) fn min(self, other: Self) -> Self {
        Self {
            attempts: self.attempts.min(other.attempts),
            pauses: self.pauses.min(other.pauses),
        }
    }
}

/// Makes requests of one thread, each with its attempts.
#[derive(Clone)]
pub(crate) struct Requests {
    pub(crate) connections: ModelConnections,
    pub(crate) turns: Arc<Turns>,
    pub(crate) timeout: Duration,
}

impl Requests {
    /// The time of one part of a call, at its beginning.
    pub(crate) fn time(&self) -> TimeLeft {
        TimeLeft {
            attempts: self.timeout.saturating_mul(2),
            pauses: retry_after::LONGEST_PAUSE,
        }
    }

    /// The body of the answer with status 200.
    pub(crate) async fn post(
        &self,
        body: RequestBody,
        meter: &Meter,
        left: &mut TimeLeft,
    ) -> Result<Bytes, ModelFailure> {
        meter.request_begins();
        let first = self.attempt(body.clone(), meter, left).await?;
        let (status, retry_after) = match first {
            ServerReply::Answer(answer) => return Ok(answer),
            ServerReply::TryAgain {
                status,
                retry_after,
            } => (status, retry_after),
        };
        let pause = retry_after::pause(retry_after.as_deref(), SystemTime::now());
        let pause = pause.min(left.pauses);
        left.pauses -= pause;
        tracing::debug!(status, ?pause, "one more attempt at the model server");
        sleep(pause).await;
        match self.attempt(body, meter, left).await? {
            ServerReply::Answer(answer) => Ok(answer),
            ServerReply::TryAgain {
                status,
                retry_after: _,
            } => Err(ModelFailure::Status(status)),
        }
    }

    async fn attempt(
        &self,
        body: RequestBody,
        meter: &Meter,
        left: &mut TimeLeft,
    ) -> Result<ServerReply, ModelFailure> {
        let _turn = self.turns.take().await?;
        meter.attempt_begins();
        let begin = Instant::now();
        let limit = self.timeout.min(left.attempts);
        let reply = timeout(limit, self.connections.exchange(body)).await;
        left.attempts = left.attempts.saturating_sub(begin.elapsed());
        reply.unwrap_or(Err(ModelFailure::TimedOut(self.timeout)))
    }
}
