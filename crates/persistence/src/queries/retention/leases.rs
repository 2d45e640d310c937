//! Leases: for work that one node at a time does for all of them.
//!
//! A node holds a lease until the lease expires, and renews it before then. Another node takes an
//! expired lease, judged by its own clock, so that a dead node blocks nothing. Nodes whose clocks
//! differ by more than the duration of a lease may hold it at the same time: work under a lease
//! must tolerate that.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::upsert::excluded;
use refract_domain::ids::NodeId;

use crate::connections::on;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::schema::leases;
use crate::schema::sql_types::Bind;

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
        self.write(async move |mut connection| {
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
            let is_free = is_ours.or(leases::expires_at.le(Bind(now)));
            let take = diesel::query_dsl::methods::FilterDsl::filter(insert, is_free);
            Ok(on!(connection, execute(take))? == 1)
        })
        .await
    }

    /// Releases a lease that the node may hold, so that another node can take it at once.
    pub async fn release_lease(
        &self,
        name: &'static str,
        holder: NodeId,
    ) -> Result<(), PersistenceError> {
        self.write(async move |mut connection| {
            let held = leases::table
                .filter(leases::name.eq(name))
                .filter(leases::holder.eq(Bind(holder)));
            on!(connection, execute(diesel::delete(held)))?;
            Ok(())
        })
        .await
    }
}
