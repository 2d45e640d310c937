//! What calls cost as results gather: reads of any result and of the latest, creates under
//! idempotency keys, over databases of several sizes.
//!
//! Each has a node of its own, and all take turns, so that what else the machine does weighs on them
//! alike. The PostgreSQL is a server of this bench with its default durability.

use std::path::Path;
use std::time::Duration;

use refract_test_support::cluster::Cluster;

use crate::filling::{BEGIN, Filled};
use crate::load::{Call, Measured};
use crate::process::Server;

const CONNECTIONS: usize = 64;
/// Turns of each size.
const TURNS: usize = 9;
const TURN: Duration = Duration::from_secs(2);
/// How many results a second of reads before anything is measured is meant for: the first touch of
/// each page is a page fault, once in the life of a connection to PostgreSQL.
const WARMED_UP_A_SECOND: u64 = 40_000;
/// The latest results, which are read most.
const LATE: u64 = 10_000;
/// More than these belong on a server.
const MOST_IN_A_FILE: u64 = 1_000_000;

/// Fills databases with so many results each, and prints a table.
pub fn measure(binary: &Path, sizes: &[u64]) -> anyhow::Result<()> {
    let model = Server::start_own(&["model", "0"], "")?;
    println!(
        "| results | a read, CPU µs | of the first | a second | a late read, CPU µs | of the first | a second | a create, CPU µs | of the first | a second |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    // a server of the right size: all of it fits into its memory
    let kilobytes = sizes.iter().sum::<u64>() * 13 / 10 + 262_144;
    let memory = format!("shared_buffers = {kilobytes}kB");
    let cluster = Cluster::start(&[memory.as_str(), "max_wal_size = 4GB"]);
    let on_postgres = sizes
        .iter()
        .map(|results| Filled::postgres(binary, &model.url(""), &cluster, *results));
    turns(
        "PostgreSQL",
        &on_postgres.collect::<anyhow::Result<Vec<_>>>()?,
    )?;
    drop(cluster);
    let in_files = sizes
        .iter()
        .filter(|results| **results <= MOST_IN_A_FILE)
        .map(|results| Filled::sqlite(binary, &model.url(""), *results));
    turns("SQLite", &in_files.collect::<anyhow::Result<Vec<_>>>()?)
}

fn turns(backend: &str, filled: &[Filled]) -> anyhow::Result<()> {
    let calls: Vec<[Call; 3]> = filled.iter().map(calls).collect();
    for (filled, [read, ..]) in filled.iter().zip(&calls) {
        let seconds = (filled.results / WARMED_UP_A_SECOND).max(5);
        read.load(CONNECTIONS, Duration::from_secs(seconds))?;
    }
    let mut turns: Vec<[Vec<Measured>; 3]> = calls.iter().map(|_| Default::default()).collect();
    for _ in 0..TURNS {
        for (calls, turns) in calls.iter().zip(&mut turns) {
            for (call, turns) in calls.iter().zip(turns) {
                turns.push(call.load(CONNECTIONS, TURN)?);
            }
        }
    }
    let first = &turns[0];
    for (filled, turns) in filled.iter().zip(&turns) {
        print!("| {backend}, {} results |", filled.results);
        for (turns, first) in turns.iter().zip(first) {
            let cost_of_one = median(turns.iter().map(cost));
            let rate = median(turns.iter().map(|turn| turn.per_second));
            // of turns side by side, since the machine is faster at some times than at others
            let ratio = median(
                turns
                    .iter()
                    .zip(first)
                    .map(|(turn, first)| cost(turn) / cost(first)),
            );
            print!(" {cost_of_one:.1} | {ratio:.2} | {rate:.0} |");
        }
        println!();
    }
    Ok(())
}

/// Processor time that one call takes of the node and of PostgreSQL, in microseconds.
fn cost(turn: &Measured) -> f64 {
    (turn.cpu_seconds + turn.database_seconds) * 1e6
}

fn median(all: impl Iterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = all.collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

/// A read of any result, a read of a late one, a create.
fn calls(filled: &Filled) -> [Call; 3] {
    let node = &filled.node;
    let late = filled.results.min(LATE);
    let reading = |first: u64, count: u64| {
        let script = format!(
            "math.randomseed(os.time())
            function request()
                local n = {first} + math.floor(math.random() * {count})
                local ms = string.format('%012x', {BEGIN} + n * 10)
                return wrk.format('GET', string.format('/v1/results/%s-%s-7000-8000-%012x', ms:sub(1, 8), ms:sub(9), n))
            end"
        );
        node.authorized(Call::scripted(node.server(), "", &script))
    };
    let body = node.call_body();
    let body = body.trim_end_matches('}');
    let path = node.create_path();
    let script = format!(
        "math.randomseed(os.time())
        function request()
            local key = string.format('%08x%08x', math.random(0, 2^31 - 1), math.random(0, 2^31 - 1))
            return wrk.format('POST', '{path}', nil, [==[{body},\"idempotency_key\":\"]==] .. key .. '\"}}')
        end"
    );
    [
        reading(0, filled.results),
        reading(filled.results - late, late),
        node.authorized(Call::scripted(node.server(), "", &script)),
    ]
}
