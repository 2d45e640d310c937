//! Reads, creates and replays through the use cases, with a model that answers at once, beside raw
//! statements of the same shape in the same run: `make bench-database`, see docs/PERFORMANCE.md.
//!
//! PostgreSQL is a server of its own with its default durability. It prints a table in Markdown; the
//! argument `postgres` or `sqlite` leaves out the other one.

mod load;
mod raw_postgres;
mod raw_sqlite;
mod service;
mod shapes;

use refract_test_support::cluster::Cluster;

use crate::load::{Measured, Side, load};
use crate::raw_postgres::RawPostgres;
use crate::raw_sqlite::RawSqlite;
use crate::service::Service;
use crate::shapes::What;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Rounds of each side, which take turns; of each the one of the median rate counts.
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

/// Prints what both sides make of each kind of call.
fn compare(backend: &str, service: &Service, raw: &impl Side) -> anyhow::Result<()> {
    for what in [What::Read, What::Create, What::Replay] {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            ours.push(load(service, what)?);
            theirs.push(load(raw, what)?);
        }
        let (ours, theirs) = (Measured::median(ours), Measured::median(theirs));
        println!(
            "| {backend}, {what} | {:.0} | {:.0} | {:.2} | {:.2} | {:.2} |",
            ours.per_second,
            theirs.per_second,
            ours.per_second / theirs.per_second,
            ours.p99_ms,
            theirs.p99_ms,
        );
    }
    Ok(())
}
