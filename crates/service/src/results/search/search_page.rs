//! The pages of a search, and the limits of one page.

use refract_domain::ids::ResultId;

/// Which page of a search is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchPage {
    /// The newest results.
    Newest,
    /// Results that are older than this one.
    OlderThan(ResultId),
    /// Results that are newer than this one, beginning next to it. [`ResultId::LOWEST`] gives the
    /// page of the oldest results.
    NewerThan(ResultId),
}

/// Limits of one page of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchLimits {
    /// Most results of the page, at least 1.
    pub results: u32,
    /// Most candidates that are read for the page, at least 1.
    pub candidates: u32,
}

/// A page that people read: 50 results, among 5,000 candidates.
impl Default for SearchLimits {
    fn default() -> Self {
        Self {
            results: 50,
            candidates: 5_000,
        }
    }
}
