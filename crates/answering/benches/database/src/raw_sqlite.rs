//! The same statements over `rusqlite`: prepared, with a connection that reads for each thread and
//! one that writes for all. A thread makes one call after the other, since nothing waits but for the
//! disk.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use chrono::Utc;
use rusqlite::types::Value;
use rusqlite::{CachedStatement, Connection, Row, params};
use uuid::Uuid;

use crate::load::{Side, Worker};
use crate::service::{Service, idempotency_key};
use crate::shapes::{self, Like, What};

pub struct RawSqlite {
    file: PathBuf,
    hash: Vec<u8>,
    results: Vec<Uuid>,
    writer: Arc<Mutex<Connection>>,
}

impl RawSqlite {
    pub fn new(service: &Service, file: &Path) -> anyhow::Result<Self> {
        let writer = Connection::open(file)?;
        // as durable as the program's
        writer.execute_batch(
            "PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
             PRAGMA foreign_keys = ON;",
        )?;
        Ok(Self {
            file: file.to_owned(),
            hash: service.api_key.hash().0.to_vec(),
            results: service.results.iter().map(|id| id.0).collect(),
            writer: Arc::new(Mutex::new(writer)),
        })
    }
}

pub struct Connections {
    reader: Connection,
    writer: Arc<Mutex<Connection>>,
    hash: Vec<u8>,
    results: Vec<Uuid>,
    /// A result that new ones are like.
    like: Like<Vec<u8>>,
}

impl Side for RawSqlite {
    type Worker = Connections;

    async fn worker(&self) -> anyhow::Result<Connections> {
        let reader = Connection::open(&self.file)?;
        reader.execute_batch("PRAGMA busy_timeout = 10000; PRAGMA query_only = ON;")?;
        let like = reader.query_row(
            &numbered(shapes::LIKE),
            [self.results[0].as_bytes()],
            |row| {
                Ok(Like {
                    account: row.get(0)?,
                    prism: row.get(1)?,
                    api_key: row.get(2)?,
                    answers: row.get(3)?,
                    fields: row.get(4)?,
                    protocol: row.get(5)?,
                })
            },
        )?;
        Ok(Connections {
            reader,
            writer: Arc::clone(&self.writer),
            hash: self.hash.clone(),
            results: self.results.clone(),
            like,
        })
    }
}

impl Worker for Connections {
    async fn call(&self, what: What, number: usize) -> anyhow::Result<()> {
        match what {
            What::Read => {
                let id = self.results[number % self.results.len()];
                let mut read = self.prepare(&shapes::read())?;
                read.query_row(params![self.hash, id.as_bytes()], read_all)?;
            }
            What::Create => {
                let mut before = self.prepare(&shapes::before_create())?;
                before.query_row(params![self.hash, "bench"], read_all)?;
                self.insert()?;
            }
            What::Replay => {
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

/// SQLite takes names after a `$`, numbers after a `?`.
fn numbered(statement: &str) -> String {
    statement.replace('$', "?")
}

impl Connections {
    fn prepare(&self, statement: &str) -> rusqlite::Result<CachedStatement<'_>> {
        self.reader.prepare_cached(&numbered(statement))
    }

    fn insert(&self) -> anyhow::Result<()> {
        let like = &self.like;
        let none = rusqlite::types::Null;
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let inserted = writer
            .prepare_cached(&numbered(shapes::CREATE))?
            .execute(params![
                Uuid::now_v7().as_bytes(),
                like.account,
                like.prism,
                1,
                like.api_key,
                none,
                none,
                "ok",
                like.answers,
                none,
                like.fields,
                none,
                0,
                Utc::now().timestamp_millis(),
                none,
                like.protocol,
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
