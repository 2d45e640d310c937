//! The request that made a change.

use std::fmt;
use std::sync::Arc;

/// The id of the request that made a change, as in the log and the response. Clones share the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRequest(Arc<str>);

impl EventRequest {
    /// A request id that the HTTP layer has validated or generated (readings).
    pub fn new(id: &impl fmt::Display) -> Self {
        Self(id.to_string().into())
    }

    /// A request id read from the database, which is not checked again.
    pub fn saved(id: String) -> Self {
        Self(id.into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
