//! The statement that finds the candidates of a search, written so that only one index fits it.
//!
//! With a `LIMIT`, PostgreSQL's planner takes any index in the right order, and expects to meet
//! enough matches early: for the results of version 1 it would walk over a million newer ones of
//! version 2. So a statement orders by the searched column and then by id, an order that only the
//! index on that column has. The value is compared as the one element of an array, since a planner
//! drops a column that equals a constant from the order.

use diesel::backend::Backend;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Integer};
use diesel::sqlite::Sqlite;
use refract_domain::ids::{AccountId, ApiKeyId, FileRunId, PersonId, PrismId, ResultId};
use refract_domain::result::ResultActor;

use crate::queries::results::lists::query::{ResultFilter, ResultOrder, ResultQuery};
use crate::schema::results;
use crate::schema::sql_types::{Bind, Id};

/// Results that one index finds, in an order, from an id on.
pub(crate) struct CandidateRange {
    /// The account's results of the period. A search for failed results or for those of the
    /// terminal is limited to these, since its index holds nothing else.
    results: ResultQuery,
    prism: PrismId,
    searched: Searched,
    order: ResultOrder,
    /// Ids are above the first and below the second one.
    between: (ResultId, ResultId),
}

/// The value that an index's first column is compared with.
enum Searched {
    Version(i32),
    Reference(Option<String>),
    Key(ApiKeyId),
    Person(PersonId),
    Run(FileRunId),
    Prism,
}

impl CandidateRange {
    /// The results that one index finds for a filter, after `last` in this order.
    pub(crate) fn new(
        account: AccountId,
        prism: PrismId,
        filter: &ResultFilter,
        order: ResultOrder,
        last: Option<ResultId>,
    ) -> Self {
        let mut filter = filter.by_index();
        let between = order.after(filter.ids(), last);
        let reference = filter.reference.take();
        let version = filter.version.take();
        let searched = match (filter.run.take(), version, reference, filter.actor) {
            (Some(run), _, _, _) => Searched::Run(run),
            (None, Some(version), _, _) => Searched::Version(version.get()),
            (None, None, Some(reference), _) => {
                Searched::Reference(Some(reference.as_str().to_owned()))
            }
            (None, None, None, Some(ResultActor::Key(key))) => Searched::Key(key),
            (None, None, None, Some(ResultActor::Person(person))) => Searched::Person(person),
            (None, None, None, Some(ResultActor::Operator) | None) => Searched::Prism,
        };
        if matches!(searched, Searched::Key(_) | Searched::Person(_)) {
            filter.actor = None;
        }
        let of_account = ResultQuery::of_account(account);
        Self {
            results: ResultQuery {
                filter,
                ..of_account
            },
            prism,
            searched,
            order,
            between,
        }
    }

    /// The statement, without limit and columns.
    pub(crate) fn query<DB: CandidateBackend>(self) -> results::BoxedQuery<'static, DB> {
        DB::query(self)
    }

    /// The order by these columns and then by id.
    fn order_by(&self, columns: &[&str]) -> String {
        let direction = match self.order {
            ResultOrder::OldestFirst => "",
            ResultOrder::NewestFirst => " DESC",
        };
        let columns = columns.iter().chain(&["id"]);
        let columns = columns.map(|column| format!("results.{column}{direction}"));
        columns.collect::<Vec<_>>().join(", ")
    }
}

impl Searched {
    fn column(&self) -> &'static str {
        match self {
            Self::Version(_) => "version",
            Self::Reference(_) => "reference",
            Self::Key(_) => "api_key_id",
            Self::Person(_) => "made_by",
            Self::Run(_) => "file_run_id",
            Self::Prism => "prism_id",
        }
    }
}

/// A database that candidates are found in.
pub(crate) trait CandidateBackend: Backend {
    /// See [`CandidateRange::query`].
    fn query(range: CandidateRange) -> results::BoxedQuery<'static, Self>;
}

#[cfg(feature = "postgres")]
impl CandidateBackend for diesel::pg::Pg {
    /// The ids have the bounds of the period too. Of two plain comparisons the planner would expect
    /// far fewer matches than there are, and rather sort all results of the period than walk along
    /// the index of the searched column. Of a `CASE` it expects that hardly a row is left out.
    fn query(mut range: CandidateRange) -> results::BoxedQuery<'static, Self> {
        use crate::schema::sql_types::Moment;

        let order = sql::<Bool>(&range.order_by(&[range.searched.column()]));
        let (after, before) = range.between;
        let is_prism = results::prism_id.eq(Bind(range.prism));
        let filter = &mut range.results.filter;
        let bounds = [(">=", filter.since.take()), ("<", filter.until.take())];
        let mut query = range.results.statement::<Self>();
        for (comparison, moment) in bounds {
            if let Some(moment) = moment {
                let is_met = sql::<Bool>(&format!("CASE WHEN results.created_at {comparison} "))
                    .bind::<Moment, _>(Bind(moment))
                    .sql(" THEN 1 ELSE 0 END <> 0");
                query = query.filter(is_met);
            }
        }
        let query = query.filter(results::id.gt(Bind(after)));
        let query = query.filter(results::id.lt(Bind(before)));
        let query = match range.searched {
            Searched::Prism => query.filter(results::prism_id.eq_any(vec![Bind(range.prism)])),
            Searched::Version(number) => query
                .filter(is_prism)
                .filter(results::version.eq_any(vec![number])),
            Searched::Reference(reference) => query
                .filter(is_prism)
                .filter(results::reference.eq_any(vec![reference])),
            Searched::Key(key) => query
                .filter(is_prism)
                .filter(results::api_key_id.eq_any(vec![Some(key)])),
            Searched::Person(person) => query
                .filter(is_prism)
                .filter(results::made_by.eq_any(vec![Some(person)])),
            Searched::Run(run) => query
                .filter(is_prism)
                .filter(results::file_run_id.eq_any(vec![Some(run)])),
        };
        query.order(order)
    }
}

impl CandidateBackend for Sqlite {
    /// SQLite considers the index of a prism's ids as good as that of its versions if both are
    /// compared one column at a time. Compared as a row, only the latter fits.
    fn query(range: CandidateRange) -> results::BoxedQuery<'static, Self> {
        let prism = Bind(range.prism);
        let (after, before) = range.between;
        let order = range.order_by(&[range.searched.column()]);
        let by_version = range.order_by(&["version", "prism_id"]);
        let query = range.results.statement::<Self>();
        if let Searched::Version(number) = range.searched {
            let is_beyond = |comparison: &str, id| {
                let row = "(results.version, results.prism_id, results.id)";
                sql::<Bool>(&format!("{row} {comparison} ("))
                    .bind::<Integer, _>(number)
                    .sql(", ")
                    .bind::<Id, _>(prism)
                    .sql(", ")
                    .bind::<Id, _>(Bind(id))
                    .sql(")")
            };
            let query = query.filter(is_beyond(">", after));
            let query = query.filter(is_beyond("<", before));
            return query.order(sql::<Bool>(&by_version));
        }
        let query = query
            .filter(results::id.gt(Bind(after)))
            .filter(results::id.lt(Bind(before)))
            .filter(results::prism_id.eq(prism));
        let query = match range.searched {
            Searched::Prism | Searched::Version(_) => query,
            Searched::Reference(reference) => query.filter(results::reference.eq(reference)),
            Searched::Key(key) => query.filter(results::api_key_id.eq(Some(key))),
            Searched::Person(person) => query.filter(results::made_by.eq(Some(person))),
            Searched::Run(run) => query.filter(results::file_run_id.eq(Some(run))),
        };
        query.order(sql::<Bool>(&order))
    }
}
