//! What nodes and commands learned about model servers.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::query_dsl::methods::FilterDsl;
use diesel::upsert::excluded;
use refract_boxed_futures::boxed;

use crate::connections::on;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::schema::server_facts;
use crate::schema::sql_types::Bind;

#[boxed]
impl Database {
    /// The facts about the servers of this name that were learned since a moment.
    pub async fn find_server_facts(
        &self,
        servers: String,
        since: DateTime<Utc>,
    ) -> Result<Option<String>, PersistenceError> {
        let query = QueryDsl::filter(
            server_facts::table.find(servers),
            server_facts::learned_at.ge(Bind(since)),
        )
        .select(server_facts::facts);
        self.find(query.limit(1)).await
    }

    /// Keeps the facts about the servers of this name. Equal facts keep the moment at which they were
    /// learned first. Facts about any servers from before `outdated` are deleted. Two queries.
    pub async fn save_server_facts(
        &self,
        servers: String,
        facts: String,
        learned_at: DateTime<Utc>,
        outdated: DateTime<Utc>,
    ) -> Result<(), PersistenceError> {
        self.write(async move |mut connection| {
            let is_old = server_facts::learned_at.lt(Bind(outdated));
            let old = QueryDsl::filter(server_facts::table, is_old);
            on!(connection, execute(diesel::delete(old)))?;
            let save = diesel::insert_into(server_facts::table)
                .values((
                    server_facts::servers.eq(servers),
                    server_facts::facts.eq(facts),
                    server_facts::learned_at.eq(Bind(learned_at)),
                ))
                .on_conflict(server_facts::servers)
                .do_update()
                .set((
                    server_facts::facts.eq(excluded(server_facts::facts)),
                    server_facts::learned_at.eq(excluded(server_facts::learned_at)),
                ));
            let has_changed = server_facts::facts.ne(excluded(server_facts::facts));
            let save = FilterDsl::filter(save, has_changed);
            on!(connection, execute(save))?;
            Ok(())
        })
        .await
    }
}
