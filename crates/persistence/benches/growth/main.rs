//! What a read, a create and a page of an export cost as results gather: `make bench-growth`.
//!
//! One database for each size, filled by SQL with results like those of the example prism. The
//! sizes take turns, so that what else the machine does weighs on all of them alike; the best of
//! several turns counts. PostgreSQL is a server of its own with its default durability.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that meets the unexpected ends there; it prints a table"
)]

mod callers;
mod filling;
mod processor;
mod turn;

use refract_persistence::{Database, DatabaseSettings};
use refract_test_support::cluster::Cluster;
use tokio::runtime::Handle;

use crate::filling::Filled;
use crate::turn::Turn;

/// Turns of each size: many short ones, so that every size meets the machine's quiet moments.
const TURNS: usize = 40;

/// More than these belong on a server.
const MOST_IN_A_FILE: u64 = 1_000_000;

/// Results, in the order of `REFRACT_GROWTH`.
fn sizes() -> Vec<u64> {
    let sizes = std::env::var("REFRACT_GROWTH").unwrap_or("10000,1000000".to_owned());
    sizes.split(',').map(|size| size.parse().unwrap()).collect()
}

async fn open(url: String) -> Database {
    let settings = DatabaseSettings { url, pool: 16 };
    let database = Database::connect(&settings, Handle::current())
        .await
        .unwrap();
    database.migrate().await.unwrap();
    database
}

async fn measure(backend: &str, filled: Vec<Filled>) {
    for filled in &filled {
        turn::warm_up(filled).await;
    }
    let mut best: Vec<Turn> = Vec::new();
    for turn in 0..TURNS {
        for (index, filled) in filled.iter().enumerate() {
            let measured = Turn::take(filled, turn).await;
            match best.get_mut(index) {
                Some(best) => best.keep_the_better(&measured),
                None => best.push(measured),
            }
        }
    }
    for (filled, best) in filled.iter().zip(&best) {
        println!(
            "| {backend}, {} results | {:.0} | {:.0} | {:.2} | {:.0} | {:.0} | {:.0} | {:.0} | {:.2} \
             | {:.0} | {} |",
            filled.results,
            best.reads.processor_us(),
            best.reads.a_second,
            best.reads.p99_ms,
            best.late_reads.processor_us(),
            best.late_reads.a_second,
            best.creates.processor_us(),
            best.creates.a_second,
            best.creates.p99_ms,
            best.exported_a_second,
            filled.bytes_per_result,
        );
    }
}

#[tokio::main]
async fn main() {
    println!(
        "| results | a read, CPU µs | reads/s | p99 ms | a late read, CPU µs | late reads/s \
         | a create, CPU µs | creates/s | p99 ms | exported rows/s | bytes/result |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    // a server of the right size: all of it fits into its memory
    let kilobytes = sizes().iter().sum::<u64>() * 13 / 10 + 131_072;
    let memory = format!("shared_buffers = {kilobytes}kB");
    let settings = [memory.as_str(), "max_wal_size = 4GB"];
    let cluster = tokio::task::block_in_place(|| Cluster::start(&settings));
    let mut filled = Vec::new();
    for size in sizes() {
        filled.push(Filled::postgres(&cluster, size).await);
    }
    measure("PostgreSQL", filled).await;
    drop(cluster);

    let folder = tempfile::tempdir().unwrap();
    let mut filled = Vec::new();
    for size in sizes().into_iter().filter(|size| *size <= MOST_IN_A_FILE) {
        filled.push(Filled::sqlite(folder.path(), size).await);
    }
    measure("SQLite", filled).await;
}
