//! Makers of results, versions and keys.

use crate::ids::{ApiKeyId, PersonId};

/// Who made something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Maker {
    /// A program with this API key.
    Key(ApiKeyId),
    /// A person in the app.
    Person(PersonId),
    /// An operator at the terminal.
    Terminal,
}
