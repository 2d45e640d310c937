//! Databases with many results in them, and a node over each.

use std::fs::File;
use std::path::Path;

use anyhow::Context as _;
use memmap2::Mmap;
use refract_test_support::cluster::Cluster;
use tempfile::TempDir;
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

use crate::node::Node;
use crate::statement::Statement;

/// The moment of the first result, in milliseconds since 1970; one more comes every 10 ms.
pub const BEGIN: u64 = 1_700_000_000_000;

/// As it is after a while of use: in order, on the disk, and in the server's memory.
const SETTLE_POSTGRES: [&str; 4] = [
    "VACUUM ANALYZE",
    "CHECKPOINT",
    "CREATE EXTENSION pg_prewarm",
    "SELECT pg_prewarm(oid) FROM pg_class WHERE relname LIKE 'results%' AND relkind IN ('r', 'i')",
];
const SETTLE_SQLITE: &str = "ANALYZE; PRAGMA wal_checkpoint(TRUNCATE);";

/// A node, and how many results its database had when it was filled.
pub struct Filled {
    pub node: Node,
    pub statement: Statement,
    pub results: u64,
    /// On disk, indexes included.
    pub bytes_per_result: u64,
    _file: Option<(TempDir, Kept)>,
}

/// A file that the system keeps in memory, as one does that has memory for it.
struct Kept(#[expect(dead_code, reason = "it locks what it maps")] Mmap);

impl Filled {
    /// A database of its own on the server.
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
            statement: Statement::on_postgres(&url, results)?,
            results,
            bytes_per_result: bytes_on_postgres(&url)? / results,
            _file: None,
        })
    }

    /// A file of its own.
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
            statement: Statement::on_sqlite(&path, results)?,
            results,
            bytes_per_result: path.metadata()?.len() / results,
            _file: Some((folder, Kept::open(&path)?)),
        })
    }
}

impl Kept {
    fn open(path: &Path) -> anyhow::Result<Self> {
        // SAFETY: nothing reads these bytes; SQLite writes the file, and never cuts it off
        let map = unsafe { Mmap::map(&File::open(path)?) }?;
        if let Err(error) = map.lock() {
            eprintln!("{}: not kept in memory: {error}", path.display());
        }
        Ok(Self(map))
    }
}

/// The id of a result by its number, as the statements of [`Filled`] make it.
pub fn id_of(number: u64) -> Uuid {
    Uuid::from_u64_pair((BEGIN + number * 10) << 16 | 0x7000, 0x8000 << 48 | number)
}

/// The statement that makes the results, of the one prism and the one key that there are.
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
    connected(url, async |client| {
        for statement in statements {
            let done = client.batch_execute(statement).await;
            done.with_context(|| format!("{statement:.60}"))?;
        }
        Ok(())
    })
}

fn bytes_on_postgres(url: &str) -> anyhow::Result<u64> {
    connected(url, async |client| {
        let bytes = "SELECT pg_total_relation_size('results')";
        let bytes: i64 = client.query_one(bytes, &[]).await?.get(0);
        Ok(bytes.try_into()?)
    })
}

fn connected<T>(
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
