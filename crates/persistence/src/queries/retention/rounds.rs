//! The state of the background purge: the clock, the newest result, the last complete round, and
//! since when the clock is in doubt; and leases, for work that one node at a time does for all.
//!
//! A node holds a lease until the lease expires, and renews it before then. Another node takes an
//! expired lease, judged by [`Database::time`], so that a dead node blocks nothing. When that clock
//! jumps, two nodes may hold a lease at the same time: work under a lease must tolerate that.

use chrono::{DateTime, TimeDelta, Utc};
use diesel::prelude::*;
use diesel::upsert::excluded;
use refract_boxed_futures::boxed;
use refract_domain::ids::{NodeId, ResultId};

use crate::connections::{Pools, find_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::leases::latest_end;
use crate::schema::sql_types::{Bind, Moment};
use crate::schema::{leases, results, retention_doubts, retention_rounds};

/// The last complete round, across all nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HasQuery)]
#[diesel(table_name = retention_rounds)]
pub struct RetentionRoundRow {
    /// Every result from before this moment was deleted.
    pub cleared_before: DateTime<Utc>,
    /// When the round ended.
    pub ended_at: DateTime<Utc>,
}

#[boxed]
impl Database {
    /// The time that all nodes agree on: the database server's. An SQLite file has no clock, so the
    /// time there is `of_node`.
    pub async fn time(&self, of_node: DateTime<Utc>) -> Result<DateTime<Utc>, PersistenceError> {
        if let Pools::Sqlite(_) = self.connections.pools() {
            return Ok(of_node);
        }
        self.read(async move |mut connection| {
            let clock = diesel::dsl::sql::<Moment>("clock_timestamp()");
            Ok(on!(connection, get_result(diesel::select(clock)))?)
        })
        .await
    }

    /// The creation time of the newest result of all accounts, ignoring results from after `now`.
    /// `None` when there is no result.
    pub async fn find_newest_result_moment(
        &self,
        now: DateTime<Utc>,
    ) -> Result<Option<DateTime<Utc>>, PersistenceError> {
        let after = ResultId::first_of(now + TimeDelta::milliseconds(1));
        let query = results::table
            .filter(results::id.lt(Bind(after)))
            .order(results::id.desc())
            .select(results::id);
        let newest: Option<ResultId> = self.find(query.limit(1)).await?;
        Ok(newest.map(ResultId::moment))
    }

    /// The last complete round of this name.
    pub async fn find_retention_round(
        &self,
        name: &'static str,
    ) -> Result<Option<RetentionRoundRow>, PersistenceError> {
        let query = retention_rounds::table.find(name);
        find_as!(self, query, RetentionRoundRow).await
    }

    /// Records a complete round in place of the earlier one, and clears any doubt about the clock.
    pub async fn save_retention_round(
        &self,
        name: &'static str,
        round: RetentionRoundRow,
    ) -> Result<(), PersistenceError> {
        self.write(async move |mut connection| {
            let save = diesel::insert_into(retention_rounds::table)
                .values((
                    retention_rounds::name.eq(name),
                    retention_rounds::cleared_before.eq(Bind(round.cleared_before)),
                    retention_rounds::ended_at.eq(Bind(round.ended_at)),
                ))
                .on_conflict(retention_rounds::name)
                .do_update()
                .set((
                    retention_rounds::cleared_before.eq(excluded(retention_rounds::cleared_before)),
                    retention_rounds::ended_at.eq(excluded(retention_rounds::ended_at)),
                ));
            on!(connection, execute(save))?;
            let doubt = retention_doubts::table.find(name);
            on!(connection, execute(diesel::delete(doubt)))?;
            Ok(())
        })
        .await
    }

    /// Since when the clock of rounds of this name is in doubt. A doubt from after `now` does not
    /// count: the clock was set back since.
    pub async fn find_retention_doubt(
        &self,
        name: &'static str,
        now: DateTime<Utc>,
    ) -> Result<Option<DateTime<Utc>>, PersistenceError> {
        let doubt = retention_doubts::table
            .find(name)
            .filter(retention_doubts::since.le(Bind(now)))
            .select(retention_doubts::since);
        self.find(doubt.limit(1)).await
    }

    /// Records that the clock of rounds of this name is in doubt since `now`. An earlier doubt
    /// keeps its moment.
    pub async fn save_retention_doubt(
        &self,
        name: &'static str,
        now: DateTime<Utc>,
    ) -> Result<(), PersistenceError> {
        let insert = diesel::insert_into(retention_doubts::table)
            .values((
                retention_doubts::name.eq(name),
                retention_doubts::since.eq(Bind(now)),
            ))
            .on_conflict(retention_doubts::name)
            .do_update()
            .set(retention_doubts::since.eq(excluded(retention_doubts::since)));
        let is_void = retention_doubts::since.gt(Bind(now));
        let save = diesel::query_dsl::methods::FilterDsl::filter(insert, is_void);
        self.execute(save).await?;
        Ok(())
    }
}

#[boxed]
impl Database {
    /// Takes a lease or renews it until a moment. Returns whether the node holds the lease now:
    /// `false` while another node's lease lasts.
    pub async fn take_lease(
        &self,
        name: &'static str,
        holder: NodeId,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<bool, PersistenceError> {
        let insert = diesel::insert_into(leases::table)
            .values((
                leases::name.eq(name),
                leases::holder.eq(Bind(holder)),
                leases::expires_at.eq(Bind(until)),
            ))
            .on_conflict(leases::name)
            .do_update()
            .set((
                leases::holder.eq(excluded(leases::holder)),
                leases::expires_at.eq(excluded(leases::expires_at)),
            ));
        let is_ours = leases::holder.eq(Bind(holder));
        let is_free = is_ours
            .or(leases::expires_at.le(Bind(now)))
            .or(leases::expires_at.gt(Bind(latest_end(now))));
        let take = diesel::query_dsl::methods::FilterDsl::filter(insert, is_free);
        Ok(self.execute(take).await? == 1)
    }

    /// Releases a lease that the node may hold, so that another node can take it at once.
    pub async fn release_lease(
        &self,
        name: &'static str,
        holder: NodeId,
    ) -> Result<(), PersistenceError> {
        let held = leases::table
            .filter(leases::name.eq(name))
            .filter(leases::holder.eq(Bind(holder)));
        self.execute(diesel::delete(held)).await?;
        Ok(())
    }
}
