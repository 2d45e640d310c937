//! The effect of a button of the form.

use serde::{Deserialize, Serialize};

/// The effect of an action.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FormAction {
    /// The id of the element that gets the focus; empty when the action is unknown or names a
    /// missing item.
    pub(crate) focus: String,
    /// The effect in one sentence, for screen readers.
    pub(crate) message: String,
}
