//! Measures the served API under load, compared in the same run with bare actix-web handlers that
//! do the minimum for a read and a create: see docs/PERFORMANCE.md.
//!
//! `refract-bench-http REFRACT_BINARY [speed|memory|alone|one-key|start]` starts every server as a
//! process on a free port of 127.0.0.1, and prints tables in Markdown. It needs `wrk`, and an empty
//! PostgreSQL in `REFRACT_TEST_POSTGRES_URL`.
//!
//! `refract-bench-http REFRACT_BINARY growth NUMBER[,NUMBER]… [postgres|sqlite]` measures calls and
//! exports on databases with these numbers of results, which it creates itself. For that it needs
//! the binaries of PostgreSQL instead.

mod alone;
mod bare;
mod counted;
mod filling;
mod growth;
mod load;
mod model;
mod node;
mod one_key;
mod paced;
mod process;
mod result_ids;
mod start;
mod statement;
mod waiting;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};

use crate::load::{Call, Measured};
use crate::node::Node;
use crate::process::ServerProcess;

const CONNECTIONS: [usize; 3] = [1, 64, 512];
const ROUNDS: usize = 3;
const ROUND: Duration = Duration::from_secs(3);

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().context(
        "usage: refract-bench-http REFRACT_BINARY [speed|memory|alone|one-key|start|growth NUMBERS [postgres|sqlite]]",
    )?;
    match what.as_str() {
        "bare" => bare::serve(&arguments.next().context("no model address")?),
        "model" => model::serve(Duration::from_millis(
            arguments.next().context("no delay")?.parse()?,
        )),
        binary => {
            let binary = PathBuf::from(binary).canonicalize()?;
            let part = arguments.next();
            if part.as_deref() == Some("growth") {
                let sizes = arguments.next().context("no numbers of results")?;
                let sizes: Result<Vec<_>, _> = sizes.split(',').map(str::parse).collect();
                return growth::measure(&binary, &sizes?, arguments.next().as_deref());
            }
            let database = std::env::var("REFRACT_TEST_POSTGRES_URL")
                .context("REFRACT_TEST_POSTGRES_URL is not set: run this by .ci/with-postgres")?;
            match part.as_deref() {
                Some("alone") => alone::measure(&binary, &database),
                Some("one-key") => one_key::measure(&binary, &database),
                Some("start") => start::measure(&binary, &database),
                Some("speed") => speed(&binary, &database),
                Some("memory") => waiting::memory(&binary, &database),
                Some(part) => bail!("no part is called {part}"),
                None => {
                    speed(&binary, &database)?;
                    waiting::memory(&binary, &database)
                }
            }
        }
    }
}

/// Prints reads and creates per second, their latency and their processor time.
fn speed(binary: &std::path::Path, database: &str) -> anyhow::Result<()> {
    let model = ServerProcess::start_own(&["model", "0"], database)?;
    let bare = ServerProcess::start_own(&["bare", &model.url("/systemone")], database)?;
    let node = Node::start(binary, database, &model.url(""), 16)?;
    let body = node.call_body();
    let result = node.create_result()?;
    let row = bare.post("/rows", &node.read(&result)?)?;

    let get = |server: &ServerProcess, path: String| Call::get(server, &path);
    let post = |server: &ServerProcess, path: &str| Call::post(server, path, &body);
    let reads = [
        (
            "refract",
            node.authorized(get(node.server(), format!("/v1/results/{result}"))),
        ),
        ("bare, leased", get(&bare, format!("/leased/{row}"))),
        ("bare, pipelined", get(&bare, format!("/pipelined/{row}"))),
    ];
    let creates = [
        (
            "refract",
            node.authorized(post(node.server(), &node.create_path())),
        ),
        ("bare, leased", post(&bare, "/leased")),
        ("bare, pipelined", post(&bare, "/pipelined")),
    ];
    println!(
        "| what | connections | a second | of leased | of pipelined | p50, ms | p99, ms | CPU s per 1,000 | PostgreSQL's |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (what, calls) in [("read", &reads), ("create", &creates)] {
        for connections in CONNECTIONS {
            let medians = measure(calls, connections)?;
            let [_, leased, pipelined] = &medians;
            for ((name, _), measured) in calls.iter().zip(&medians) {
                println!(
                    "| {what}, {name} | {connections} | {:.0} | {:.2} | {:.2} | {:.2} | {:.2} | {:.3} | {:.3} |",
                    measured.per_second,
                    measured.per_second / leased.per_second,
                    measured.per_second / pipelined.per_second,
                    measured.p50_ms,
                    measured.p99_ms,
                    measured.cpu_seconds * 1000.0,
                    measured.database_seconds * 1000.0,
                );
            }
        }
    }
    Ok(())
}

/// Loads the servers in turns, several rounds each; returns each server's round with the median
/// rate.
fn measure(calls: &[(&str, Call); 3], connections: usize) -> anyhow::Result<[Measured; 3]> {
    let mut rounds: [Vec<Measured>; 3] = Default::default();
    for _ in 0..ROUNDS {
        for ((_, call), rounds) in calls.iter().zip(&mut rounds) {
            rounds.push(call.load(connections, ROUND)?);
        }
    }
    Ok(rounds.map(|mut rounds| {
        rounds.sort_by(|a, b| a.per_second.total_cmp(&b.per_second));
        rounds.swap_remove(rounds.len() / 2)
    }))
}
