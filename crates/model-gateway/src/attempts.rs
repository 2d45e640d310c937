//! One request: an attempt, and one more where the server asks for patience.
//!
//! An attempt's clock covers sending, waiting and reading. It starts when the request has its
//! turn, so that a full node is not mistaken for a slow model.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use awc::http::Uri;
use bytes::Bytes;
use tokio::time::{sleep, timeout};

use crate::connection::{Connections, Reply};
use crate::failure::ModelFailure;
use crate::meter::Meter;
use crate::request_body::RequestBody;
use crate::retry_after;
use crate::turns::Turns;

/// Makes requests of one thread, each with its attempts.
#[derive(Clone)]
pub(crate) struct Requests {
    pub(crate) connections: Connections,
    pub(crate) turns: Arc<Turns>,
    pub(crate) timeout: Duration,
}

impl Requests {
    /// The body of the answer with status 200.
    pub(crate) async fn post(
        &self,
        uri: &Uri,
        body: RequestBody,
        meter: &Meter,
    ) -> Result<Bytes, ModelFailure> {
        meter.request_begins();
        let (status, retry_after) = match self.attempt(uri, body.clone(), meter).await? {
            Reply::Answer(answer) => return Ok(answer),
            Reply::TryAgain {
                status,
                retry_after,
            } => (status, retry_after),
        };
        let pause = retry_after::pause(retry_after.as_deref(), SystemTime::now());
        tracing::debug!(status, ?pause, "one more attempt at the model server");
        sleep(pause).await;
        match self.attempt(uri, body, meter).await? {
            Reply::Answer(answer) => Ok(answer),
            Reply::TryAgain {
                status,
                retry_after: _,
            } => Err(ModelFailure::Status(status)),
        }
    }

    async fn attempt(
        &self,
        uri: &Uri,
        body: RequestBody,
        meter: &Meter,
    ) -> Result<Reply, ModelFailure> {
        let _turn = self.turns.take().await?;
        meter.attempt_begins();
        timeout(self.timeout, self.connections.exchange(uri, body))
            .await
            .unwrap_or(Err(ModelFailure::TimedOut(self.timeout)))
    }
}
