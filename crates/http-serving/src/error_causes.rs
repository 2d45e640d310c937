//! Formats an error with its causes as one line of the log.

use std::error::Error;
use std::fmt::Write as _;

/// The messages of an error and of its causes, joined with `: `, for the log.
pub fn with_causes(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // writing to a `String` cannot fail
        let _ = write!(message, ": {error}");
        cause = error.source();
    }
    message
}
