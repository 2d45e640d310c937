//! The cost of calls and exports as the number of results grows: reads of any result, reads of late
//! results, and creates with idempotency keys, on databases of several sizes. A call has two costs:
//! its latency for a lone caller, and its processor time under load. For comparison the bare
//! statement by id is measured too, and subtracted from the cost of a read: the database's look-up
//! by primary key grows with the table, Refract's own share should not.
//!
//! Each database has its own node, and the databases take turns, so that other load on the machine
//! affects all sizes alike. PostgreSQL is a server of this bench with default durability. All
//! results are in memory, in PostgreSQL's buffers or in the page cache, so the figures do not
//! include disk latency.

use std::path::Path;
use std::time::Duration;

use anyhow::ensure;
use refract_test_support::cluster::Cluster;

use crate::filling::Filled;
use crate::load::{Call, Measured};
use crate::process::ServerProcess;
use crate::result_ids::BEGIN;

/// Concurrent callers.
const MANY: usize = 64;
/// Turns for each database.
const TURNS: usize = 15;
const TURN_OF_MANY: Duration = Duration::from_secs(2);
const TURN_ALONE: Duration = Duration::from_secs(1);
/// Exports of each database.
const EXPORTS: usize = 3;
/// The names of the calls, in the order of [`calls`].
const NAMES: [&str; 3] = ["a read", "a late read", "a create"];
/// Warm-up reads, as results per second. The first touch of a page is a page fault, once per
/// PostgreSQL connection, and must not be measured.
const WARMED_UP_A_SECOND: u64 = 40_000;
/// The number of latest results that count as late; these are read most.
const LATE: u64 = 10_000;
/// The most results measured on SQLite; larger databases belong on a server.
const MOST_IN_A_FILE: u64 = 1_000_000;

/// Fills a database of each size, on both backends unless one is named, and prints tables.
pub fn measure(binary: &Path, sizes: &[u64], backend: Option<&str>) -> anyhow::Result<()> {
    if let Some(backend) = backend {
        ensure!(
            ["postgres", "sqlite"].contains(&backend),
            "postgres or sqlite, not {backend:?}"
        );
    }
    let model = ServerProcess::start_own(&["model", "0"], "")?;
    let model = model.url("");
    if backend != Some("sqlite") {
        let cluster = cluster(sizes);
        let filled = sizes
            .iter()
            .map(|results| Filled::postgres(binary, &model, &cluster, *results));
        tables("PostgreSQL", &filled.collect::<anyhow::Result<Vec<_>>>()?)?;
    }
    if backend != Some("postgres") {
        let filled = sizes
            .iter()
            .filter(|results| **results <= MOST_IN_A_FILE)
            .map(|results| Filled::sqlite(binary, &model, *results));
        tables("SQLite", &filled.collect::<anyhow::Result<Vec<_>>>()?)?;
    }
    Ok(())
}

/// A PostgreSQL server whose buffers hold the results of all sizes.
fn cluster(sizes: &[u64]) -> Cluster {
    let kib = sizes.iter().sum::<u64>() * 13 / 10 + 262_144;
    Cluster::start(&[&format!("shared_buffers = {kib}kB"), "max_wal_size = 4GB"])
}

fn tables(backend: &str, filled: &[Filled]) -> anyhow::Result<()> {
    println!("\n| {backend}, results | exported rows a second | bytes a result |\n|---|--:|--:|");
    for filled in filled {
        let whole = median((0..EXPORTS).map(|_| exported_a_second(filled)))?;
        println!(
            "| {} | {whole:.0} | {} |",
            filled.results, filled.bytes_per_result
        );
    }
    turns(backend, filled)
}

/// Exported rows per second, minus the time of a command that exports nothing.
fn exported_a_second(filled: &Filled) -> anyhow::Result<f64> {
    let nothing = filled.node.export("2100-01-01T00:00:00Z")?;
    let all = filled.node.export("2000-01-01T00:00:00Z")?;
    Ok(filled.results as f64 / all.saturating_sub(nothing).as_secs_f64())
}

/// The measurements of one kind of call on one database, turn by turn.
#[derive(Default)]
struct CallTurns {
    alone: Vec<Measured>,
    among_many: Vec<Measured>,
}

fn turns(backend: &str, filled: &[Filled]) -> anyhow::Result<()> {
    let calls: Vec<[Call; 3]> = filled.iter().map(calls).collect();
    for (filled, [read, ..]) in filled.iter().zip(&calls) {
        let warm_up = Duration::from_secs((filled.results / WARMED_UP_A_SECOND).max(5));
        read.load(MANY, warm_up)?;
        filled.statement.cost(warm_up / 2)?;
    }
    let mut turns: Vec<[CallTurns; 3]> = calls.iter().map(|_| Default::default()).collect();
    let mut bare: Vec<Vec<f64>> = calls.iter().map(|_| Vec::new()).collect();
    let mut order: Vec<usize> = (0..filled.len()).collect();
    for _ in 0..TURNS {
        for what in 0..NAMES.len() {
            for database in &order {
                let (call, turns) = (&calls[*database][what], &mut turns[*database][what]);
                turns.among_many.push(call.load(MANY, TURN_OF_MANY)?);
                turns.alone.push(call.load(1, TURN_ALONE)?);
            }
        }
        for database in &order {
            bare[*database].push(filled[*database].statement.cost(TURN_OF_MANY)?);
        }
        // so that no database always follows the creates on another one
        order.reverse();
    }
    println!(
        "\n| {backend}, results | what | alone, µs | of the first | among {MANY}, CPU µs | the database's | both, of the first | a second |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|--:|");
    for (what, name) in NAMES.iter().enumerate() {
        let first = &turns[0][what];
        for (filled, turns) in filled.iter().zip(&turns) {
            let turns = &turns[what];
            println!(
                "| {} | {name} | {:.0} | {:.2} | {:.1} | {:.1} | {:.2} | {:.0} |",
                filled.results,
                figure(&turns.alone, wait)?,
                ratio(&turns.alone, &first.alone, wait)?,
                figure(&turns.among_many, |turn| turn.cpu_seconds * 1e6)?,
                figure(&turns.among_many, |turn| turn.database_seconds * 1e6)?,
                ratio(&turns.among_many, &first.among_many, cost)?,
                figure(&turns.among_many, |turn| turn.per_second)?,
            );
        }
    }
    // Refract's share of a read: its cost minus that of the bare statement in the same turn
    let ours: Vec<Vec<f64>> = turns
        .iter()
        .zip(&bare)
        .map(|([reads, ..], bare)| {
            let beside = reads.among_many.iter().zip(bare);
            beside.map(|(read, bare)| cost(read) - bare).collect()
        })
        .collect();
    println!(
        "\n| {backend}, results | the bare statement, CPU µs | of the first | a read without it | of the first |"
    );
    println!("|---|--:|--:|--:|--:|");
    for ((filled, bare_costs), ours_costs) in filled.iter().zip(&bare).zip(&ours) {
        println!(
            "| {} | {:.2} | {:.2} | {:.2} | {:.2} |",
            filled.results,
            middle(bare_costs)? * 1e6,
            middle_ratio(bare_costs, &bare[0])?,
            middle(ours_costs)? * 1e6,
            middle_ratio(ours_costs, &ours[0])?,
        );
    }
    Ok(())
}

fn middle(costs: &[f64]) -> anyhow::Result<f64> {
    median(costs.iter().map(|cost| Ok(*cost)))
}

fn middle_ratio(costs: &[f64], first: &[f64]) -> anyhow::Result<f64> {
    let ratios = costs.iter().zip(first);
    median(ratios.map(|(cost, first)| Ok(cost / first)))
}

/// The median of a figure.
fn figure(turns: &[Measured], figure: fn(&Measured) -> f64) -> anyhow::Result<f64> {
    median(turns.iter().map(|turn| Ok(figure(turn))))
}

/// The median ratio of a figure to that of the neighbouring turn: the machine's speed varies over
/// time, so only neighbouring turns are compared.
fn ratio(
    turns: &[Measured],
    beside: &[Measured],
    figure: fn(&Measured) -> f64,
) -> anyhow::Result<f64> {
    let ratios = turns.iter().zip(beside);
    median(ratios.map(|(turn, beside)| Ok(figure(turn) / figure(beside))))
}

/// The median latency in microseconds.
fn wait(turn: &Measured) -> f64 {
    turn.p50_ms * 1e3
}

/// The processor time of one call on the node and on PostgreSQL, in seconds.
fn cost(turn: &Measured) -> f64 {
    turn.cpu_seconds + turn.database_seconds
}

fn median(all: impl Iterator<Item = anyhow::Result<f64>>) -> anyhow::Result<f64> {
    let mut all = all.collect::<anyhow::Result<Vec<f64>>>()?;
    all.sort_by(f64::total_cmp);
    Ok(all[all.len() / 2])
}

/// A read of any result, a read of a late result, and a create.
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
