//! Sums of usage: of results, and of rows that have such sums.

use diesel::backend::Backend;
use diesel::sqlite::Sqlite;

/// Sums of a group of results. A database adds up whole numbers exactly; PostgreSQL's sums are
/// of another type than their numbers.
pub(super) const SUMS: &str = "COUNT(*), COUNT(error), \
    CAST(COALESCE(SUM(model_requests), 0) AS BIGINT), \
    CAST(COALESCE(SUM(input_tokens), 0) AS BIGINT), \
    CAST(COALESCE(SUM(cached_tokens), 0) AS BIGINT), \
    CAST(COALESCE(SUM(output_tokens), 0) AS BIGINT), \
    CAST(SUM(cost_nanos) AS BIGINT), \
    CAST(SUM(cost_attos) AS BIGINT)";

/// Sums of a group of stored sums.
pub(super) const SUMS_OF_STORED: &str = "CAST(SUM(calls) AS BIGINT), \
    CAST(SUM(failed) AS BIGINT), \
    CAST(SUM(model_requests) AS BIGINT), \
    CAST(SUM(input_tokens) AS BIGINT), \
    CAST(SUM(cached_tokens) AS BIGINT), \
    CAST(SUM(output_tokens) AS BIGINT), \
    CAST(SUM(cost_nanos) AS BIGINT), \
    CAST(SUM(cost_attos) AS BIGINT)";

/// A database that usage is added up in.
pub(super) trait UsageBackend: Backend {
    /// The days from 1970 to the moment of saving, in UTC.
    const DAY: &'static str;
}

#[cfg(feature = "postgres")]
impl UsageBackend for diesel::pg::Pg {
    const DAY: &'static str = "CAST(created_at AT TIME ZONE 'UTC' AS date) - DATE '1970-01-01'";
}

impl UsageBackend for Sqlite {
    const DAY: &'static str = "created_at / 86400000";
}

/// A table of sums.
#[derive(Clone, Copy)]
pub(crate) enum UsageTable {
    /// What counted results used, those that were deleted since among them.
    Days,
    /// What deleted results used.
    Deleted,
}

impl UsageTable {
    /// The name of the table.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Days => "usage_days",
            Self::Deleted => "deleted_usage",
        }
    }
}
