//! The request in which something was changed.

use std::fmt;
use std::sync::Arc;

/// The id of the request in which something was changed, as the log and the response have it. Clones
/// share the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRequest(Arc<str>);

impl EventRequest {
    /// The request of an id that the edge has checked or made (readings).
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
