//! Results: create, read and retry one; list, search, count and export many.
//!
//! A call has three forms here: a [`CreateCall`] has what the caller sent, each value valid; a
//! `CheckedCall` has passed every check; a `NewResult` is saved in the database. The caller gets a
//! [`ReadableResult`], the saved result with everything that its formats need.

pub(crate) mod ask_and_save;
pub(crate) mod budgets;
pub(crate) mod column_value;
pub(crate) mod counts;
pub(crate) mod create;
pub(crate) mod export;
pub(crate) mod export_columns;
pub(crate) mod export_event;
pub(crate) mod metrics;
pub(crate) mod read;
pub(crate) mod retry;
pub(crate) mod retry_policy;
pub(crate) mod search;
pub(crate) mod single_flight;
pub(crate) mod usage;

pub use refract_persistence::{
    Provenance, ResultFilter, ResultOrder, Usage, UsageDimension, UsageScope,
};

pub use self::ask_and_save::{AnsweredCall, RepeatableFailure};
pub use self::budgets::{
    BudgetOutcome, BudgetRounds, BudgetShare, BudgetUse, BudgetUsedUp, Budgets, SetBudgetError,
};
pub use self::column_value::{
    AnswerShares, AnsweredOutcome, ColumnNotSearchable, ColumnValue, QuestionShares,
    SearchableColumn, SearchableValue, searchable_columns,
};
pub use self::counts::{CountOutcome, CountRounds, DAYS, DayCount, PrismCounts, ResultCounts};
pub use self::create::CreateCall;
pub use self::export::{ExportError, PrismResults};
pub use self::export_columns::{ColumnNameTaken, ExportColumns};
pub use self::metrics::{PrismNames, ServiceMetrics, register_database, register_model};
pub use self::read::{ReadableResult, ResultDetails};
pub use self::retry::{Retried, RetryFailed};
pub use self::retry_policy::RetryPolicy;
pub use self::search::{
    CountedMatches, FoundResults, FoundRow, MarkCondition, MatchCount, Neighbours, ResultSearch,
    SearchError, SearchLimits, SearchPage, TextWords,
};
pub(crate) use self::single_flight::SingleFlight;
pub use self::usage::{ListedUsage, USAGE_SUMS, UsageKey, UsageRun, total_usage, usage_csv};
use crate::Refract;

/// The use cases of results, from [`Refract::results`](crate::Refract::results).
#[derive(Clone, Copy)]
pub struct Results<'a> {
    pub(crate) refract: &'a Refract,
}

impl Refract {
    /// Results: creates, reads, retries, lists, searches, counts and exports them.
    pub fn results(&self) -> Results<'_> {
        Results { refract: self }
    }
}
