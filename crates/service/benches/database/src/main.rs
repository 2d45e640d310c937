//! Compares reads, creates and replays through the use cases, with a model that answers at once, to
//! raw statements that do equal work: `make bench-database`, see docs/PERFORMANCE.md.
//!
//! The benchmark starts a PostgreSQL server with its default durability, and prints a Markdown
//! table. With the argument `postgres` or `sqlite` it measures only that database.

mod load;
mod raw_postgres;
mod raw_sqlite;
mod service;
mod shapes;

use refract_test_support::cluster::Cluster;

use crate::load::{LoadMeasure, Side, load};
use crate::raw_postgres::RawPostgres;
use crate::raw_sqlite::RawSqlite;
use crate::service::Service;
use crate::shapes::CallKind;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Number of rounds of each side. The sides take turns, and the round of the median rate counts.
const ROUNDS: usize = 5;

fn main() -> anyhow::Result<()> {
    let part = std::env::args().nth(1);
    let is_wanted = |backend| part.as_deref().is_none_or(|part| part == backend);
    println!(
        "| what | through the use cases, a second | raw, a second | ratio | p99, ms | p99 of raw, ms |"
    );
    println!("|---|--:|--:|--:|--:|--:|");
    if is_wanted("postgres") {
        let cluster = Cluster::start(&["shared_buffers = 1GB", "max_wal_size = 4GB"]);
        let service = Service::open(&cluster.url())?;
        compare("PostgreSQL", &service, &RawPostgres::new(&service))?;
    }
    if is_wanted("sqlite") {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("refract.db");
        let service = Service::open(&format!("sqlite://{}", file.display()))?;
        compare("SQLite", &service, &RawSqlite::new(&service, &file)?)?;
    }
    Ok(())
}

/// Measures both sides with each kind of call and prints a line for each.
fn compare(backend: &str, service: &Service, raw: &impl Side) -> anyhow::Result<()> {
    for kind in [CallKind::Read, CallKind::Create, CallKind::Replay] {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            ours.push(load(service, kind)?);
            theirs.push(load(raw, kind)?);
        }
        let (ours, theirs) = (LoadMeasure::median(ours), LoadMeasure::median(theirs));
        println!(
            "| {backend}, {kind} | {:.0} | {:.0} | {:.2} | {:.2} | {:.2} |",
            ours.per_second,
            theirs.per_second,
            ours.per_second / theirs.per_second,
            ours.p99_ms,
            theirs.p99_ms,
        );
    }
    Ok(())
}
