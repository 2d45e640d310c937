//! How a draft is kept, as its page and its form name it.

use chrono::{DateTime, Utc};
use refract_service::people::DraftRevision;

use crate::requests::visit::Visit;

/// The hidden input with the revision of the draft that the form shows.
pub(crate) const REVISION: &str = "revision";
/// The hidden input with the page that the form belongs to.
pub(crate) const TAB: &str = "tab";

/// How a draft is kept.
pub(crate) struct KeptState {
    /// The revision that the next change replaces.
    pub(crate) revision: DraftRevision,
    /// The page that shows the draft. Its form holds the whole draft, so it may replace a revision
    /// of its own whose reply it did not see.
    pub(crate) tab: String,
    pub(crate) standing: DraftStanding,
}

/// Whether a draft is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DraftStanding {
    /// Nothing is stored yet.
    Unsaved,
    /// It was last stored at this moment.
    Stored(DateTime<Utc>),
    /// Another page stored another draft at this moment; this one is not stored.
    Overtaken(DateTime<Utc>),
    /// The draft was saved or discarded since the page was shown; this one is not stored.
    Gone,
}

impl KeptState {
    /// The state of a page that has stored nothing.
    pub(crate) fn of_page(visit: &Visit) -> Self {
        Self {
            revision: DraftRevision::default(),
            tab: visit.request.as_str().to_owned(),
            standing: DraftStanding::Unsaved,
        }
    }

    /// Whether the draft of this page must not replace the stored one unasked.
    pub(crate) fn is_refused(&self) -> bool {
        match self.standing {
            DraftStanding::Unsaved | DraftStanding::Stored(_) => false,
            DraftStanding::Overtaken(_) | DraftStanding::Gone => true,
        }
    }

    /// Whether the form may hold changes.
    pub(crate) fn is_touched(&self) -> bool {
        self.standing != DraftStanding::Unsaved
    }
}
