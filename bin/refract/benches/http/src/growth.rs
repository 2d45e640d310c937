//! What calls cost as results gather: reads of any result and of the latest, creates under
//! idempotency keys, over databases of several sizes. Two costs: how long a caller waits who is
//! alone, and the processor time of a call among many.
//!
//! Each has a node of its own, and all take turns, so that what else the machine does weighs on them
//! alike. The PostgreSQL is a server of this bench with its default durability.

use std::path::Path;
use std::time::Duration;

use refract_test_support::cluster::Cluster;

use crate::filling::{BEGIN, Filled};
use crate::load::{Call, Measured};
use crate::process::Server;

/// Of callers at once.
const MANY: usize = 64;
/// Turns of each size.
const TURNS: usize = 9;
const TURN_OF_MANY: Duration = Duration::from_secs(2);
const TURN_ALONE: Duration = Duration::from_secs(1);
/// What is called, in the order of [`calls`].
const NAMES: [&str; 3] = ["a read", "a late read", "a create"];
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
        "| results | what | alone, µs | of the first | among {MANY}, CPU µs | of the first | a second |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|");
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

/// What one kind of call cost over one database, turn by turn.
#[derive(Default)]
struct Turns {
    alone: Vec<Measured>,
    among_many: Vec<Measured>,
}

fn turns(backend: &str, filled: &[Filled]) -> anyhow::Result<()> {
    let calls: Vec<[Call; 3]> = filled.iter().map(calls).collect();
    for (filled, [read, ..]) in filled.iter().zip(&calls) {
        let seconds = (filled.results / WARMED_UP_A_SECOND).max(5);
        read.load(MANY, Duration::from_secs(seconds))?;
    }
    let mut turns: Vec<[Turns; 3]> = calls.iter().map(|_| Default::default()).collect();
    for _ in 0..TURNS {
        for (calls, turns) in calls.iter().zip(&mut turns) {
            for (call, turns) in calls.iter().zip(turns) {
                turns.among_many.push(call.load(MANY, TURN_OF_MANY)?);
                turns.alone.push(call.load(1, TURN_ALONE)?);
            }
        }
    }
    for (what, name) in NAMES.iter().enumerate() {
        let first = &turns[0][what];
        for (filled, turns) in filled.iter().zip(&turns) {
            let turns = &turns[what];
            let (wait, wait_ratio) = compared(&turns.alone, &first.alone, wait);
            let (cost, cost_ratio) = compared(&turns.among_many, &first.among_many, cost);
            let rate = median(turns.among_many.iter().map(|turn| turn.per_second));
            println!(
                "| {backend}, {} results | {name} | {wait:.0} | {wait_ratio:.2} | {cost:.1} | {cost_ratio:.2} | {rate:.0} |",
                filled.results
            );
        }
    }
    Ok(())
}

/// The median of a figure, and that of its ratios to the turns beside these: the machine is faster
/// at some times than at others.
fn compared(turns: &[Measured], beside: &[Measured], figure: fn(&Measured) -> f64) -> (f64, f64) {
    let ratios = turns.iter().zip(beside);
    (
        median(turns.iter().map(figure)),
        median(ratios.map(|(turn, beside)| figure(turn) / figure(beside))),
    )
}

/// How long half of the calls took at most, in microseconds.
fn wait(turn: &Measured) -> f64 {
    turn.p50_ms * 1e3
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
