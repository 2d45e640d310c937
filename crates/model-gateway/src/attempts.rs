//! One model request: an attempt, and a second one where the server is overloaded or failed.
//!
//! An attempt's timeout covers sending, waiting and reading. It starts when the request holds a
//! permit of the concurrency limit, so that a full node is not mistaken for a slow model.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use tokio::time::{sleep, timeout};

use crate::concurrency_limit::ConcurrencyLimit;
use crate::connection::{ModelConnections, ServerReply};
use crate::failure::ModelFailure;
use crate::report::ReportRecorder;
use crate::request_body::RequestBody;
use crate::retry_after;

/// Time left for a series of requests that follow each other, such as a question and its follow-up
/// requests. The whole series may take two attempts and one pause. Waiting for a permit of the
/// concurrency limit takes nothing from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeLeft {
    attempts: Duration,
    pauses: Duration,
}

impl TimeLeft {
    /// Whether no further attempt can be made.
    pub(crate) fn is_spent(self) -> bool {
        self.attempts.is_zero()
    }

    /// The time that is left after requests that ran concurrently: the lesser of both.
    #[must_use]
    pub(crate) fn min(self, other: Self) -> Self {
        Self {
            attempts: self.attempts.min(other.attempts),
            pauses: self.pauses.min(other.pauses),
        }
    }
}

/// Sends one thread's model requests, each in up to two attempts.
#[derive(Clone)]
pub(crate) struct RequestSender {
    pub(crate) connections: ModelConnections,
    pub(crate) limit: Arc<ConcurrencyLimit>,
    pub(crate) timeout: Duration,
}

impl RequestSender {
    /// The time that a series of requests has when it begins.
    pub(crate) fn time(&self) -> TimeLeft {
        TimeLeft {
            attempts: self.timeout.saturating_mul(2),
            pauses: retry_after::LONGEST_PAUSE,
        }
    }

    /// Sends a request and returns the body of the answer with status 200.
    pub(crate) async fn post(
        &self,
        body: RequestBody,
        recorder: &ReportRecorder,
        left: &mut TimeLeft,
    ) -> Result<Bytes, ModelFailure> {
        recorder.request_begins();
        let has_system_message = body.has_system_message();
        let refusal = match self.attempt(body.clone(), recorder, left).await? {
            ServerReply::Answer(answer) => return Ok(answer),
            ServerReply::Refusal(refusal) => refusal,
        };
        if !refusal.deserves_second_attempt(has_system_message) {
            return Err(refusal.failure(has_system_message));
        }
        let pause = retry_after::pause(refusal.retry_after.as_deref(), SystemTime::now());
        let pause = pause.min(left.pauses);
        left.pauses -= pause;
        tracing::debug!(
            status = refusal.status,
            ?pause,
            "one more attempt at the model server"
        );
        sleep(pause).await;
        match self.attempt(body, recorder, left).await? {
            ServerReply::Answer(answer) => Ok(answer),
            ServerReply::Refusal(refusal) => Err(refusal.failure(has_system_message)),
        }
    }

    async fn attempt(
        &self,
        body: RequestBody,
        recorder: &ReportRecorder,
        left: &mut TimeLeft,
    ) -> Result<ServerReply, ModelFailure> {
        let _permit = self.limit.acquire().await?;
        recorder.attempt_begins();
        let begin = Instant::now();
        let limit = self.timeout.min(left.attempts);
        let reply = timeout(limit, self.connections.exchange(body)).await;
        left.attempts = left.attempts.saturating_sub(begin.elapsed());
        let reply = reply.unwrap_or(Err(ModelFailure::TimedOut(self.timeout)))?;
        recorder.answered(reply.body().clone());
        Ok(reply)
    }
}
