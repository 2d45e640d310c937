//! The pages of a search.

use refract_domain::ids::ResultId;

/// Which page of a search is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchPage {
    /// The newest results.
    Newest,
    /// Results that are older than this one.
    OlderThan(ResultId),
    /// Results that are newer than this one, beginning next to it. With [`ResultId::LOWEST`] it is
    /// the page of the oldest results.
    NewerThan(ResultId),
}
