//! Requests that follow each other, such as a question and its follow-up requests.

use std::time::Duration;

use crate::attempts::retry_after;
use crate::servers::place::ServerPlace;

/// The server that a series of requests is sent to, and the time left for it. The whole series may
/// take two attempts and one pause. Waiting for a permit of the concurrency limit takes nothing from
/// its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestSeries {
    pub(crate) attempts: Duration,
    pub(crate) pauses: Duration,
    /// Where the last request went; `None` until the first one is sent.
    pub(crate) sent_to: Option<ServerPlace>,
}

impl RequestSeries {
    /// A series that begins, with the timeout of an attempt.
    pub(crate) fn new(timeout: Duration) -> Self {
        Self {
            attempts: timeout.saturating_mul(2),
            pauses: retry_after::LONGEST_PAUSE,
            sent_to: None,
        }
    }

    /// Whether no further attempt can be made.
    pub(crate) fn is_spent(self) -> bool {
        self.attempts.is_zero()
    }

    /// The server that answered last. A series that was sent nowhere yet has the first server's.
    pub(crate) fn server(self) -> ServerPlace {
        self.sent_to.unwrap_or_default()
    }

    /// The series after requests that ran concurrently: the lesser time of both, at the other's
    /// server where it moved.
    #[must_use]
    pub(crate) fn joined(self, other: Self) -> Self {
        Self {
            attempts: self.attempts.min(other.attempts),
            pauses: self.pauses.min(other.pauses),
            sent_to: other.sent_to,
        }
    }
}
