//! Fields of a prism: the values that a caller sends (spec 2.2).

use serde::{Deserialize, Serialize};

use crate::key::FieldKey;

/// One field of a prism version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// The field's key, fixed once it is saved.
    pub key: FieldKey,
    /// Display text, 1 to 200 characters.
    pub label: String,
}
