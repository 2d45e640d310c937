//! Actors of results.

use crate::ids::{ApiKeyId, PersonId};

/// The actor that created a result; never a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResultActor {
    /// A program with this API key.
    Key(ApiKeyId),
    /// A person in the app.
    Person(PersonId),
    /// An operator at the terminal.
    Operator,
}
