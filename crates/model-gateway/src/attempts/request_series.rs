//! Requests that follow each other, such as a question and its follow-up requests.

use std::time::Duration;

use crate::attempts::retry_after;
use crate::servers::place::ServerPlace;

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
            pauses: retry_after::LONGEST_PAUSE,
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
