//! A filter of a prism's results: as a condition in SQL, and as the rest to check on a result that
//! an index found.

use chrono::{DateTime, TimeDelta, Utc};
use diesel::backend::{Backend, DieselReserveSpecialization};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::query_dsl::methods::BoxedDsl;
use diesel::serialize::ToSql;
use diesel::sql_types::{Bool, HasSqlType, Integer, Text};
use refract_domain::ids::{ApiKeyId, FileRunId, PersonId, ResultId};
use refract_domain::prism::VersionNumber;
use refract_domain::result::ResultActor;
use refract_domain::submission::Ref;

use crate::schema::results;
use crate::schema::sql_types::{Bind, Id, Moment};

/// Whether a result was retried: in SQL, since a nested diesel query for either database needs a
/// trait bound for each of its types.
const WAS_RETRIED: &str =
    "EXISTS (SELECT 1 FROM results AS retries WHERE retries.retry_of = results.id)";

/// Which results of a prism are listed or counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultFilter {
    /// `Some(true)` for `ok` results, `Some(false)` for `failed` ones.
    pub is_ok: Option<bool>,
    /// `Some(false)` for failed results that were never retried, `Some(true)` for failed results
    /// that were.
    pub is_retried: Option<bool>,
    /// Results from this moment on.
    pub since: Option<DateTime<Utc>>,
    /// Results before this moment.
    pub until: Option<DateTime<Utc>>,
    /// Results that this version answered.
    pub version: Option<VersionNumber>,
    /// Results of the model with this name, as its server reports it.
    pub model: Option<String>,
    /// Results with this `ref`.
    pub reference: Option<Ref>,
    /// Results that this program, this person or the terminal made.
    pub actor: Option<ResultActor>,
    /// Results that this stored file run made.
    pub run: Option<FileRunId>,
    /// `Some(false)` for results that no stored file run made, `Some(true)` for those of any.
    pub is_of_run: Option<bool>,
}

/// Largest difference between the moment in a result's id and its saved moment. Both are of one
/// reading of the clock; only a clock that is set back moves them apart, by a minute at most, since
/// ids increase meanwhile. It is short because a search within a period also reads this margin.
const APART: TimeDelta = TimeDelta::minutes(5);

impl ResultFilter {
    /// The part of this filter that one index answers, however many results the prism has: the
    /// period, and the one other condition that usually matches the fewest results.
    ///
    /// No index covers two conditions, and a query for both may walk through all results that match
    /// the first to find the few that match the second.
    #[must_use]
    pub fn by_index(&self) -> Self {
        let period = Self {
            since: self.since,
            until: self.until,
            ..Self::default()
        };
        let is_failed = self.is_retried.is_some() || self.is_ok == Some(false);
        if self.run.is_some() && self.reference.is_none() {
            return Self {
                run: self.run,
                ..period
            };
        }
        match (&self.reference, self.actor, self.version) {
            (Some(reference), _, _) => Self {
                reference: Some(reference.clone()),
                ..period
            },
            (None, Some(actor @ (ResultActor::Person(_) | ResultActor::Operator)), _) => Self {
                actor: Some(actor),
                ..period
            },
            _ if is_failed => Self {
                is_ok: Some(false),
                ..period
            },
            (None, Some(ResultActor::Key(_)) | None, Some(version)) => Self {
                version: Some(version),
                ..period
            },
            (None, actor, None) => Self { actor, ..period },
        }
    }

    /// The ids between which all results are.
    pub(crate) const ALL_IDS: (ResultId, ResultId) = (ResultId::LOWEST, ResultId::HIGHEST);

    /// The ids between which all results of the period are: an id begins with its creation time, so
    /// that an index of ids finds a period without reading anything outside it.
    pub(crate) fn ids(&self) -> (ResultId, ResultId) {
        let nearby = |moment: DateTime<Utc>, apart| {
            let moment = moment.checked_add_signed(apart);
            moment.map(ResultId::first_of)
        };
        let first = self.since.and_then(|since| nearby(since, -APART));
        let end = self.until.and_then(|until| nearby(until, APART));
        let (lowest, highest) = Self::ALL_IDS;
        (first.unwrap_or(lowest), end.unwrap_or(highest))
    }

    /// The failed results that were never retried, among those that match the other conditions.
    pub(crate) fn only_retriable(self) -> Self {
        Self {
            is_ok: None,
            is_retried: Some(false),
            ..self
        }
    }

    /// Narrows a query to the results that match the filter. The column `error` replaces the
    /// status, since an index holds the results that have an error.
    pub(crate) fn narrow<DB>(
        self,
        mut query: results::BoxedQuery<'static, DB>,
    ) -> results::BoxedQuery<'static, DB>
    where
        DB: Backend + DieselReserveSpecialization + HasSqlType<Id> + HasSqlType<Moment> + 'static,
        results::table: BoxedDsl<'static, DB, Output = results::BoxedQuery<'static, DB>>,
        ApiKeyId: ToSql<Id, DB>,
        FileRunId: ToSql<Id, DB>,
        PersonId: ToSql<Id, DB>,
        DateTime<Utc>: ToSql<Moment, DB>,
        i32: ToSql<Integer, DB>,
        String: ToSql<Text, DB>,
    {
        if let Some(since) = self.since {
            query = query.filter(results::created_at.ge(Bind(since)));
        }
        if let Some(until) = self.until {
            query = query.filter(results::created_at.lt(Bind(until)));
        }
        if let Some(version) = self.version {
            query = query.filter(results::version.eq(version.get()));
        }
        if let Some(model) = self.model {
            query = query.filter(results::model_name.eq(Some(model)));
        }
        if let Some(reference) = self.reference {
            query = query.filter(results::reference.eq(Some(reference.as_str().to_owned())));
        }
        query = match self.actor {
            None => query,
            Some(ResultActor::Key(key)) => query.filter(results::api_key_id.eq(Some(key))),
            Some(ResultActor::Person(person)) => query.filter(results::made_by.eq(Some(person))),
            Some(ResultActor::Operator) => query
                .filter(results::api_key_id.is_null())
                .filter(results::made_by.is_null()),
        };
        if let Some(run) = self.run {
            query = query.filter(results::file_run_id.eq(Some(run)));
        }
        query = match self.is_of_run {
            None => query,
            Some(true) => query.filter(results::file_run_id.is_not_null()),
            Some(false) => query.filter(results::file_run_id.is_null()),
        };
        if let Some(is_retried) = self.is_retried {
            let is_so = if is_retried { "" } else { "NOT " };
            query = query
                .filter(results::error.is_not_null())
                .filter(sql::<Bool>(&format!("{is_so}{WAS_RETRIED}")));
        }
        match self.is_ok {
            None => query,
            Some(true) => query.filter(results::error.is_null()),
            Some(false) => query.filter(results::error.is_not_null()),
        }
    }
}
