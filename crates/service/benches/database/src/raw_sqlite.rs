//! Raw statements over `rusqlite`: prepared, with one reading connection for each thread and one
//! writing connection for all. A thread makes one call after another: it waits only for the disk.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use chrono::Utc;
use rusqlite::types::Value;
use rusqlite::{CachedStatement, Connection, Row, params};
use uuid::Uuid;

use crate::load::{Calls, Side};
use crate::service::{Service, idempotency_key};
use crate::shapes::{self, CallKind, Template};

/// The raw side on SQLite.
pub struct RawSqlite {
    file: PathBuf,
    hash: Vec<u8>,
    results: Vec<Uuid>,
    writer: Arc<Mutex<Connection>>,
}

impl RawSqlite {
    pub fn new(service: &Service, file: &Path) -> anyhow::Result<Self> {
        let writer = Connection::open(file)?;
        // the durability of the program's own connections
        writer.execute_batch(
            "PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
             PRAGMA foreign_keys = ON;",
        )?;
        Ok(Self {
            file: file.to_owned(),
            hash: service.api_key.hash().bytes().to_vec(),
            results: service.results.iter().map(|id| id.uuid()).collect(),
            writer: Arc::new(Mutex::new(writer)),
        })
    }
}

/// The connections of one thread.
pub struct SqliteCalls {
    reader: Connection,
    writer: Arc<Mutex<Connection>>,
    hash: Vec<u8>,
    results: Vec<Uuid>,
    template: Template<Vec<u8>>,
}

impl Side for RawSqlite {
    type OfThread = SqliteCalls;

    async fn open(&self) -> anyhow::Result<SqliteCalls> {
        let reader = Connection::open(&self.file)?;
        reader.execute_batch("PRAGMA busy_timeout = 10000; PRAGMA query_only = ON;")?;
        let template = reader.query_row(
            &numbered(shapes::TEMPLATE),
            [self.results[0].as_bytes()],
            |row| {
                Ok(Template {
                    account: row.get(0)?,
                    prism: row.get(1)?,
                    api_key: row.get(2)?,
                    answers: row.get(3)?,
                    fields: row.get(4)?,
                    protocol: row.get(5)?,
                })
            },
        )?;
        Ok(SqliteCalls {
            reader,
            writer: Arc::clone(&self.writer),
            hash: self.hash.clone(),
            results: self.results.clone(),
            template,
        })
    }
}

impl Calls for SqliteCalls {
    async fn call(&self, kind: CallKind, number: usize) -> anyhow::Result<()> {
        match kind {
            CallKind::Read => {
                let id = self.results[number % self.results.len()];
                let mut read = self.prepare(&shapes::read())?;
                read.query_row(params![self.hash, id.as_bytes()], read_all)?;
            }
            CallKind::Create => {
                let mut before = self.prepare(&shapes::before_create())?;
                before.query_row(params![self.hash, "bench"], read_all)?;
                self.insert()?;
            }
            CallKind::Replay => {
                let key = idempotency_key(number);
                let mut replay = self.prepare(&shapes::replay())?;
                replay.query_row(params![self.hash, "bench", key], read_all)?;
            }
        }
        Ok(())
    }
}

fn read_all(row: &Row<'_>) -> rusqlite::Result<()> {
    for column in 0..row.as_ref().column_count() {
        let value: Value = row.get(column)?;
        black_box(value);
    }
    Ok(())
}

/// Writes numbered parameters as SQLite does: `?1` where PostgreSQL has `$1`.
fn numbered(statement: &str) -> String {
    statement.replace('$', "?")
}

impl SqliteCalls {
    fn prepare(&self, statement: &str) -> rusqlite::Result<CachedStatement<'_>> {
        self.reader.prepare_cached(&numbered(statement))
    }

    fn insert(&self) -> anyhow::Result<()> {
        let template = &self.template;
        let none = rusqlite::types::Null;
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let inserted = writer
            .prepare_cached(&numbered(shapes::CREATE))?
            .execute(params![
                Uuid::now_v7().as_bytes(),
                template.account,
                template.prism,
                1,
                template.api_key,
                none,
                none,
                "ok",
                template.answers,
                none,
                template.fields,
                none,
                0,
                Utc::now().timestamp_millis(),
                none,
                template.protocol,
                none,
                none,
                none,
                none,
                1,
                1,
            ])?;
        anyhow::ensure!(inserted == 1, "nothing was inserted");
        Ok(())
    }
}
