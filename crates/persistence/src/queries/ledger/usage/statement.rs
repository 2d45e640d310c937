//! The statement that adds up usage: one text for each set of dimensions and conditions.

use chrono::{DateTime, Utc};
use diesel::backend::DieselReserveSpecialization;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::{BigInt, HasSqlType, Integer, Nullable, Text};
use refract_domain::ids::{AccountId, ApiKeyId, PrismId, ResultId};

use crate::queries::ledger::usage::scope::{PartOfDay, UsageDimension, UsagePeriod, UsageScope};
use crate::queries::ledger::usage::sums::{SUMS, SUMS_OF_STORED, UsageBackend, UsageTable};
use crate::queries::results::lists::ResultFilter;
use crate::schema::sql_types::{Id, Moment};

/// Results with the watermark of their prism, which is null for a prism without one.
const RESULTS: &str = "results LEFT JOIN (SELECT prism_id AS counted_prism, up_to \
    FROM counted_results) AS counted ON counted_prism = prism_id";

/// Adds up what an account's results used, deleted ones among them: the stored sums of whole days,
/// the results that are not in them, and parts of days.
pub(super) struct UsageStatement {
    account: AccountId,
    scope: UsageScope,
    period: UsagePeriod,
    /// The lowest and the highest id that an uncounted result of the period can have; `None` if all
    /// results are counted.
    uncounted: Option<(ResultId, ResultId)>,
    /// The parts of days, each with the ids between which its results are.
    parts: Vec<(PartOfDay, (ResultId, ResultId))>,
}

/// Which results of a range are added up.
#[derive(Clone, Copy)]
enum Branch {
    /// Those that are not in the stored sums.
    Uncounted,
    /// Those that are.
    Counted,
}

impl UsageStatement {
    /// The usage in a scope. `uncounted` is the account's first result that is not in the stored
    /// sums, and the id up to which such results are added up.
    pub(super) fn new(
        account: AccountId,
        scope: UsageScope,
        uncounted: Option<(ResultId, ResultId)>,
    ) -> Self {
        let ids = |since, until| {
            let period = ResultFilter {
                since,
                until,
                ..ResultFilter::default()
            };
            period.ids()
        };
        let period = UsagePeriod::new(scope.since, scope.until);
        let uncounted = uncounted.map(|(first, up_to)| {
            let (lowest, highest) = ids(scope.since, scope.until);
            (
                lowest.max(first.just_before()),
                highest.min(up_to.just_after()),
            )
        });
        let parts = period.parts.iter();
        let parts = parts.map(|part| (*part, ids(Some(part.since), Some(part.until))));
        Self {
            account,
            uncounted,
            parts: parts.collect(),
            period,
            scope,
        }
    }

    /// The columns that are grouped by, with nulls for the others.
    fn columns<DB: UsageBackend>(&self, day: &str) -> String {
        // a row of stored sums has zeros for none
        let given = |column| format!("NULLIF({column}, {})", DB::NIL);
        let columns = [
            (UsageDimension::Prism, "prism_id".to_owned(), "uuid"),
            (UsageDimension::Key, given("api_key_id"), "uuid"),
            (UsageDimension::Person, given("made_by"), "uuid"),
            (UsageDimension::Run, given("file_run_id"), "uuid"),
            (
                UsageDimension::Model,
                "NULLIF(model_name, '')".to_owned(),
                "text",
            ),
            (UsageDimension::Day, day.to_owned(), "integer"),
        ];
        let columns = columns.map(|(dimension, column, sql_type)| {
            if self.scope.by.contains(&dimension) {
                column
            } else {
                format!("CAST(NULL AS {sql_type})")
            }
        });
        columns.join(", ")
    }

    /// Adds up results between two ids that were saved in a period.
    fn push_results<'b, DB>(
        &'b self,
        out: &mut AstPass<'_, 'b, DB>,
        branch: Branch,
        (first, end): (&'b ResultId, &'b ResultId),
        (since, until): (Option<&'b DateTime<Utc>>, Option<&'b DateTime<Utc>>),
    ) -> QueryResult<()>
    where
        DB: UsageBackend + DieselReserveSpecialization + HasSqlType<Id> + HasSqlType<Moment>,
        AccountId: ToSql<Id, DB>,
        ApiKeyId: ToSql<Id, DB>,
        PrismId: ToSql<Id, DB>,
        ResultId: ToSql<Id, DB>,
        DateTime<Utc>: ToSql<Moment, DB>,
    {
        let columns = self.columns::<DB>(DB::DAY);
        out.push_sql(&format!(
            "SELECT {columns}, {SUMS} FROM {RESULTS} WHERE account_id = "
        ));
        out.push_bind_param::<Id, _>(&self.account)?;
        out.push_sql(" AND id > ");
        out.push_bind_param::<Id, _>(first)?;
        out.push_sql(" AND id < ");
        out.push_bind_param::<Id, _>(end)?;
        out.push_sql(match branch {
            Branch::Uncounted => " AND (up_to IS NULL OR id > up_to)",
            Branch::Counted => " AND id <= up_to",
        });
        self.push_scope(out)?;
        if let Some(since) = since {
            out.push_sql(" AND created_at >= ");
            out.push_bind_param::<Moment, _>(since)?;
        }
        if let Some(until) = until {
            out.push_sql(" AND created_at < ");
            out.push_bind_param::<Moment, _>(until)?;
        }
        out.push_sql(" GROUP BY 1, 2, 3, 4, 5, 6");
        Ok(())
    }

    /// Adds up stored sums of the account; conditions on days and the groups follow.
    fn push_stored<'b, DB>(
        &'b self,
        out: &mut AstPass<'_, 'b, DB>,
        table: UsageTable,
    ) -> QueryResult<()>
    where
        DB: UsageBackend + DieselReserveSpecialization + HasSqlType<Id>,
        AccountId: ToSql<Id, DB>,
        ApiKeyId: ToSql<Id, DB>,
        PrismId: ToSql<Id, DB>,
    {
        let (columns, table) = (self.columns::<DB>("day"), table.name());
        out.push_sql(&format!(
            "SELECT {columns}, {SUMS_OF_STORED} FROM {table} \
             WHERE prism_id IN (SELECT id FROM prisms WHERE account_id = "
        ));
        out.push_bind_param::<Id, _>(&self.account)?;
        out.push_sql(")");
        self.push_scope(out)
    }

    /// The conditions on the prism and the key.
    fn push_scope<'b, DB>(&'b self, out: &mut AstPass<'_, 'b, DB>) -> QueryResult<()>
    where
        DB: UsageBackend + HasSqlType<Id>,
        ApiKeyId: ToSql<Id, DB>,
        PrismId: ToSql<Id, DB>,
    {
        if let Some(prism) = &self.scope.prism {
            out.push_sql(" AND prism_id = ");
            out.push_bind_param::<Id, _>(prism)?;
        }
        if let Some(key) = &self.scope.key {
            out.push_sql(" AND api_key_id = ");
            out.push_bind_param::<Id, _>(key)?;
        }
        Ok(())
    }
}

impl<DB> QueryFragment<DB> for UsageStatement
where
    DB: UsageBackend + DieselReserveSpecialization + HasSqlType<Id> + HasSqlType<Moment>,
    AccountId: ToSql<Id, DB>,
    ApiKeyId: ToSql<Id, DB>,
    PrismId: ToSql<Id, DB>,
    ResultId: ToSql<Id, DB>,
    DateTime<Utc>: ToSql<Moment, DB>,
    i32: ToSql<Integer, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        self.push_stored(&mut out, UsageTable::Days)?;
        let (first, end) = &self.period.days;
        if let Some(first) = first {
            out.push_sql(" AND day >= ");
            out.push_bind_param::<Integer, _>(first)?;
        }
        if let Some(end) = end {
            out.push_sql(" AND day < ");
            out.push_bind_param::<Integer, _>(end)?;
        }
        out.push_sql(" GROUP BY 1, 2, 3, 4, 5, 6");
        if let Some((first, end)) = &self.uncounted {
            out.push_sql(" UNION ALL ");
            let saved = (self.scope.since.as_ref(), self.scope.until.as_ref());
            self.push_results(&mut out, Branch::Uncounted, (first, end), saved)?;
        }
        for (part, (first, end)) in &self.parts {
            out.push_sql(" UNION ALL ");
            let saved = (Some(&part.since), Some(&part.until));
            self.push_results(&mut out, Branch::Counted, (first, end), saved)?;
            out.push_sql(" UNION ALL ");
            self.push_stored(&mut out, UsageTable::Deleted)?;
            out.push_sql(" AND day = ");
            out.push_bind_param::<Integer, _>(&part.day)?;
            out.push_sql(" GROUP BY 1, 2, 3, 4, 5, 6");
        }
        Ok(())
    }
}

impl QueryId for UsageStatement {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for UsageStatement {
    type SqlType = (
        Nullable<Id>,
        Nullable<Id>,
        Nullable<Id>,
        Nullable<Id>,
        Nullable<Text>,
        Nullable<Integer>,
        (
            BigInt,
            BigInt,
            BigInt,
            BigInt,
            BigInt,
            BigInt,
            (Nullable<BigInt>, Nullable<BigInt>),
        ),
    );
}

impl<C> RunQueryDsl<C> for UsageStatement {}
