//! Where marks come from.

use refract_domain::result::mark::source::MarkSource;
use refract_domain::result::mark::{MarkNote, Marker};

/// Where marks come from: who made them, of which results, and why.
#[derive(Clone, Debug, Default)]
pub struct MarkOrigin {
    /// The name of the person who marks; `None` when no name was given.
    pub marked_by: Option<Marker>,
    /// How the results came to be marked; `None` for a result that the person chose.
    pub source: Option<MarkSource>,
    /// What the person notes.
    pub note: Option<MarkNote>,
}
