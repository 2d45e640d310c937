//! The deadline of a query for a connection or an answer.

use std::time::Duration;

/// Longest wait of a query for a connection, and on a lane for the database's answer.
pub(crate) const WAIT: Duration = Duration::from_secs(10);
