//! Creators of results, versions and API keys.

use crate::ids::{ApiKeyId, PersonId};

/// Who created a result, a version or an API key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResultActor {
    /// A program with this API key.
    Key(ApiKeyId),
    /// A person in the app.
    Person(PersonId),
    /// An operator at the terminal.
    Operator,
}
