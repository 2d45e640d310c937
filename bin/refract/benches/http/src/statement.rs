//! The bare cost of reading a result in the database: one prepared statement that selects all
//! columns of one row by primary key, without Refract.

use std::cell::Cell;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::OpenFlags;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

use crate::process::{cpu_seconds, cpu_seconds_of};
use crate::result_ids::id_of;

const OF_POSTGRES: &str = "SELECT * FROM results WHERE id = $1";
const OF_SQLITE: &str = "SELECT * FROM results WHERE id = ?1";
/// Statements in flight on one pipelined connection to PostgreSQL.
const AT_ONCE: u64 = 64;
/// The step from one read result to the next, modulo the number of results. It is prime, so that
/// every result is read once before any is read again, and large, so that consecutive reads touch
/// different pages.
const STEP: u64 = 2_654_435_761;

/// The statement on one database.
pub struct BareStatement {
    results: u64,
    database: BareDatabase,
    /// The number of reads so far, so that each measurement continues with other results.
    done: Cell<u64>,
}

enum BareDatabase {
    Postgres {
        runtime: Runtime,
        client: Arc<Client>,
    },
    Sqlite(rusqlite::Connection),
}

impl BareStatement {
    pub fn on_postgres(url: &str, results: u64) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (client, connection) = runtime.block_on(tokio_postgres::connect(url, NoTls))?;
        runtime.spawn(connection);
        let client = Arc::new(client);
        Ok(Self {
            results,
            database: BareDatabase::Postgres { runtime, client },
            done: Cell::default(),
        })
    }

    pub fn on_sqlite(path: &Path, results: u64) -> anyhow::Result<Self> {
        let connection =
            rusqlite::Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        Ok(Self {
            results,
            database: BareDatabase::Sqlite(connection),
            done: Cell::default(),
        })
    }

    /// Reads for `time`; returns the database's processor time per statement, in seconds.
    pub fn cost(&self, time: Duration) -> anyhow::Result<f64> {
        let end = Instant::now() + time;
        let (first, results) = (self.done.get(), self.results);
        let any_id = move |turn: u64| id_of((first + turn).wrapping_mul(STEP) % results);
        let (seconds, done) = match &self.database {
            BareDatabase::Postgres { runtime, client } => {
                let before = cpu_seconds_of("postgres");
                let done = runtime.block_on(read_postgres(client, any_id, end))?;
                (cpu_seconds_of("postgres") - before, done)
            }
            BareDatabase::Sqlite(connection) => {
                let own = std::process::id();
                let before = cpu_seconds(own)?;
                let done = read_sqlite(connection, any_id, end)?;
                (cpu_seconds(own)? - before, done)
            }
        };
        self.done.set(first + done);
        Ok(seconds / done as f64)
    }
}

/// Reads until `end`; returns the number of reads.
async fn read_postgres(
    client: &Arc<Client>,
    any_id: impl Fn(u64) -> Uuid + Copy + Send + 'static,
    end: Instant,
) -> anyhow::Result<u64> {
    let statement = client.prepare(OF_POSTGRES).await?;
    let mut readers = JoinSet::new();
    for reader in 0..AT_ONCE {
        let (client, statement) = (Arc::clone(client), statement.clone());
        readers.spawn(async move {
            let mut done = 0;
            while Instant::now() < end {
                let id = any_id(reader + done * AT_ONCE);
                black_box(client.query_one(&statement, &[&id]).await?);
                done += 1;
            }
            anyhow::Ok(done)
        });
    }
    let each: anyhow::Result<Vec<u64>> = readers.join_all().await.into_iter().collect();
    Ok(each?.iter().sum())
}

/// Reads until `end`; returns the number of reads.
fn read_sqlite(
    connection: &rusqlite::Connection,
    any_id: impl Fn(u64) -> Uuid,
    end: Instant,
) -> anyhow::Result<u64> {
    let mut statement = connection.prepare(OF_SQLITE)?;
    let columns = statement.column_count();
    let mut done = 0;
    while Instant::now() < end {
        for _ in 0..AT_ONCE {
            let id = any_id(done);
            statement.query_row([id.as_bytes()], |row| {
                for column in 0..columns {
                    black_box(row.get_ref(column)?);
                }
                Ok(())
            })?;
            done += 1;
        }
    }
    Ok(done)
}
