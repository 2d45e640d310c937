//! Writes the rows of a file into an account.

use refract_boxed_futures::boxed;
use std::collections::BTreeSet;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Text};
use refract_domain::event::{Event, EventAction, EventDetail};
use refract_domain::ids::AccountId;
use serde_json::Value;
use uuid::Uuid;

use super::account_table::{AccountTable, Owner};
use super::files::ImportedRow;
use super::statements::SqlDialect;
use super::tables::ACCOUNT_TABLES;
use crate::connections::on;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::schema::events;
use crate::schema::sql_types::Bind;

/// Rows of one table to save.
#[derive(Debug)]
pub struct ImportRows {
    table: &'static AccountTable,
    json: String,
    rows: i64,
}

/// Whether rows were saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportRowsOutcome {
    /// The account has every row, saved now or before.
    Saved,
    /// Rows of this table are of another account, by their ids. Nothing was saved.
    ElsewhereOwned(&'static str),
}

/// How far an account is from having an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountImportState {
    /// The account has nothing but events.
    Empty,
    /// An import of this export began and did not end.
    Begun,
    /// This export was imported.
    Done,
    /// The account has rows of this table that are of no import of this export.
    Occupied(&'static str),
}

#[derive(QueryableByName)]
struct FoundRows {
    #[diesel(sql_type = BigInt)]
    found: i64,
}

#[derive(QueryableByName)]
struct FoundEmail {
    #[diesel(sql_type = Text)]
    email: String,
}

impl ImportRows {
    /// Rows of a table.
    pub fn new(table: &'static AccountTable, rows: Vec<ImportedRow>) -> Self {
        let count = i64::try_from(rows.len()).unwrap_or(i64::MAX);
        let cells = rows.into_iter().map(|row| Value::Array(row.cells));
        Self {
            table,
            json: Value::Array(cells.collect()).to_string(),
            rows: count,
        }
    }
}

#[boxed]
impl Database {
    /// How far an account is from having the export that a note of its events names.
    pub async fn find_account_import(
        &self,
        account: AccountId,
        export: &EventDetail,
    ) -> Result<AccountImportState, PersistenceError> {
        let dialect = SqlDialect::of(self.connections.pools());
        let note = export.to_string();
        self.read(async move |mut connection| {
            let query = events::table
                .filter(events::account_id.eq(Bind(account)))
                .filter(events::note.eq(note))
                .select(events::action);
            let actions: Vec<String> = on!(connection, load(query))?;
            let has = |action: EventAction| actions.iter().any(|found| found == action.name());
            if has(EventAction::AccountImported) {
                return Ok(AccountImportState::Done);
            }
            if has(EventAction::AccountImportStarted) {
                return Ok(AccountImportState::Begun);
            }
            let own = |table: &&AccountTable| table.owner != Owner::Itself;
            for table in ACCOUNT_TABLES.iter().filter(own) {
                if table.name == "events" {
                    continue;
                }
                let query = sql_query(dialect.exists(table, account));
                let rows: FoundRows = on!(connection, get_result(query))?;
                if rows.found > 0 {
                    return Ok(AccountImportState::Occupied(table.name));
                }
            }
            Ok(AccountImportState::Empty)
        })
        .await
    }

    /// Of these addresses, those by which people of other accounts sign in.
    pub async fn list_taken_emails(
        &self,
        account: AccountId,
        emails: Vec<String>,
    ) -> Result<BTreeSet<String>, PersistenceError> {
        let text = SqlDialect::of(self.connections.pools()).taken_emails(account);
        let emails = Value::from(emails).to_string();
        let query = sql_query(text).bind::<Text, _>(emails);
        let found: Vec<FoundEmail> = self.load(query).await?;
        Ok(found.into_iter().map(|row| row.email).collect())
    }

    /// Saves rows of an account and perhaps an event, in one transaction. Rows that are there already
    /// stay as they are, so that an import can be repeated.
    ///
    /// # Errors
    /// When the database fails, or a row breaks a rule of the schema.
    pub async fn import_rows(
        &self,
        account: AccountId,
        batches: Vec<ImportRows>,
        event: Option<Event>,
    ) -> Result<ImportRowsOutcome, PersistenceError> {
        let dialect = SqlDialect::of(self.connections.pools());
        self.begin(async move |mut tx| {
            for ImportRows { table, json, rows } in batches {
                let insert = sql_query(dialect.insert(table)).bind::<Text, _>(json.clone());
                let inserted = on!(tx, execute(insert))?;
                let Some(count) = dialect.count_bound(table, account) else {
                    continue;
                };
                if i64::try_from(inserted).is_ok_and(|inserted| inserted == rows) {
                    continue;
                }
                let query = sql_query(count).bind::<Text, _>(json);
                let of_account: FoundRows = on!(tx, get_result(query))?;
                if of_account.found < rows {
                    return Ok(ImportRowsOutcome::ElsewhereOwned(table.name));
                }
            }
            if let Some(event) = event {
                add_event(&mut tx, event).await?;
            }
            tx.commit().await?;
            Ok(ImportRowsOutcome::Saved)
        })
        .await
    }

    /// Names the results that others retry: pairs of a retry's id and its original's. Pairs that are
    /// saved already change nothing.
    pub async fn import_retries(&self, pairs: Vec<(Uuid, Uuid)>) -> Result<(), PersistenceError> {
        let text = SqlDialect::of(self.connections.pools()).set_retries();
        let simple = |id: Uuid| Value::from(id.simple().to_string());
        let pairs = pairs
            .into_iter()
            .map(|(retry, original)| Value::Array(vec![simple(retry), simple(original)]));
        let pairs = Value::Array(pairs.collect()).to_string();
        let update = sql_query(text).bind::<Text, _>(pairs);
        self.execute(update).await?;
        Ok(())
    }
}
