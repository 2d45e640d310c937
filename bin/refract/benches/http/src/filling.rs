//! Databases filled with many results, and a node for each.

use std::fs::File;
use std::path::Path;

use anyhow::Context as _;
use memmap2::Mmap;
use refract_test_support::cluster::Cluster;
use tempfile::TempDir;
use tokio_postgres::{Client, NoTls};

use crate::node::Node;
use crate::result_ids::BEGIN;
use crate::statement::BareStatement;

/// Statements that leave a filled database as after months of use: vacuumed, on disk, and in the
/// server's memory.
const SETTLE_POSTGRES: [&str; 4] = [
    "VACUUM ANALYZE",
    "CHECKPOINT",
    "CREATE EXTENSION pg_prewarm",
    "SELECT pg_prewarm(oid) FROM pg_class WHERE relname LIKE 'results%' AND relkind IN ('r', 'i')",
];
const SETTLE_SQLITE: &str = "ANALYZE; PRAGMA wal_checkpoint(TRUNCATE);";

/// A filled database, its node, and the bare statement for reads.
pub struct Filled {
    pub node: Node,
    pub statement: BareStatement,
    /// The number of generated results.
    pub results: u64,
    /// Bytes on disk for each result, indexes included.
    pub bytes_per_result: u64,
    _file: Option<(TempDir, LockedInMemory)>,
}

/// A file locked in memory, as an operating system with enough memory would cache it.
struct LockedInMemory(#[expect(dead_code, reason = "the mapping holds the lock")] Mmap);

impl Filled {
    /// Creates and fills a database on a PostgreSQL server.
    pub fn postgres(
        binary: &Path,
        model: &str,
        cluster: &Cluster,
        results: u64,
    ) -> anyhow::Result<Self> {
        let name = format!("growth_{results}");
        on_postgres(&cluster.url(), &[&format!("CREATE DATABASE {name}")])?;
        let url = cluster.url().replace("/postgres?", &format!("/{name}?"));
        let node = Node::start(binary, &url, model, 16)?;
        let ms = format!("({BEGIN} + n * 10)");
        let insert = insert(
            &format!(
                "(lpad(to_hex({ms}), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid"
            ),
            &format!("to_timestamp({ms} / 1000.0)"),
            &format!("generate_series(0::bigint, {results} - 1) AS series (n)"),
        );
        let mut statements = vec![insert.as_str()];
        statements.extend(SETTLE_POSTGRES);
        on_postgres(&url, &statements)?;
        Ok(Self {
            node,
            statement: BareStatement::on_postgres(&url, results)?,
            results,
            bytes_per_result: bytes_on_postgres(&url)? / results,
            _file: None,
        })
    }

    /// Creates and fills an SQLite file.
    pub fn sqlite(binary: &Path, model: &str, results: u64) -> anyhow::Result<Self> {
        let folder = TempDir::new()?;
        let path = folder.path().join("growth.db");
        let node = Node::start(binary, &format!("sqlite://{}", path.display()), model, 16)?;
        let insert = insert(
            &format!("unhex(printf('%012x70008000%012x', {BEGIN} + n * 10, n))"),
            &format!("{BEGIN} + n * 10"),
            &format!(
                "(WITH RECURSIVE series (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM series
                  WHERE n < {results} - 1) SELECT n FROM series) AS series"
            ),
        );
        let connection = rusqlite::Connection::open(&path)?;
        connection.execute_batch(&format!("{insert}; {SETTLE_SQLITE}"))?;
        Ok(Self {
            node,
            statement: BareStatement::on_sqlite(&path, results)?,
            results,
            bytes_per_result: path.metadata()?.len() / results,
            _file: Some((folder, LockedInMemory::open(&path)?)),
        })
    }
}

impl LockedInMemory {
    fn open(path: &Path) -> anyhow::Result<Self> {
        // SAFETY: the mapped bytes are never read, and SQLite never truncates the file
        let map = unsafe { Mmap::map(&File::open(path)?) }?;
        if let Err(error) = map.lock() {
            eprintln!("{}: not kept in memory: {error}", path.display());
        }
        Ok(Self(map))
    }
}

/// The statement that inserts the results, all with the database's only prism and key.
fn insert(id: &str, moment: &str, rows: &str) -> String {
    include_str!("results.sql")
        .replace("{id}", id)
        .replace("{account}", "(SELECT account_id FROM prisms)")
        .replace("{prism}", "(SELECT id FROM prisms)")
        .replace("{key}", "(SELECT id FROM api_keys)")
        .replace("{moment}", moment)
        .replace("{rows}", rows)
}

fn on_postgres(url: &str, statements: &[&str]) -> anyhow::Result<()> {
    on_client(url, async |client| {
        for statement in statements {
            let done = client.batch_execute(statement).await;
            done.with_context(|| format!("{statement:.60}"))?;
        }
        Ok(())
    })
}

fn bytes_on_postgres(url: &str) -> anyhow::Result<u64> {
    on_client(url, async |client| {
        let bytes = "SELECT pg_total_relation_size('results')";
        let bytes: i64 = client.query_one(bytes, &[]).await?.get(0);
        Ok(bytes.try_into()?)
    })
}

fn on_client<T>(
    url: &str,
    work: impl AsyncFnOnce(&Client) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        let connection = tokio::spawn(connection);
        let done = work(&client).await?;
        drop(client);
        connection.await??;
        Ok(done)
    })
}
