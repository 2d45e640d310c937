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

impl SearchLimits {
    /// The limits for a page of 50 results that have words in their texts, looked for among 50,000
    /// candidates: the database compares the texts, and few of them leave it.
    pub const OF_WORDS: Self = Self {
        results: 50,
        candidates: 50_000,
    };
}

/// How many results match a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchCount {
    /// So many match.
    All(usize),
    /// More than so many match.
    MoreThan(usize),
    /// So many of the newest candidates match; older ones were not looked at.
    AmongNewest {
        /// The number of matches.
        matches: usize,
        /// The number of candidates that were looked at.
        read: u32,
    },
}
