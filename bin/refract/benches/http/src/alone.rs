//! Isolated calls: constant rates far below capacity, where every cache is cold.

use std::path::Path;
use std::time::Duration;

use crate::counted::{Counted, Spent, pids_of};
use crate::node::Node;
use crate::paced::{PacedCall, quantile};
use crate::process::ServerProcess;

/// Calls per second, and their connections.
const LOADS: [(u32, u32); 7] = [
    (1, 1),
    (20, 1),
    (20, 16),
    (50, 1),
    (50, 16),
    (200, 1),
    (200, 16),
];
const ROUNDS: usize = 3;
/// The duration of a round; slow rates take longer, until they have [`FEWEST_CALLS`].
const ROUND: Duration = Duration::from_secs(4);
const FEWEST_CALLS: u32 = 10;

/// One round of one server.
struct Round {
    p50_ms: f64,
    p99_ms: f64,
    server: Spent,
    database: Spent,
}

/// Prints reads and creates of a node and of bare handlers at constant rates.
pub fn measure(binary: &Path, database: &str) -> anyhow::Result<()> {
    let model = ServerProcess::start_own(&["model", "0"], database)?;
    let bare = ServerProcess::start_own(&["bare", &model.url("/systemone")], database)?;
    let node = Node::start(binary, database, &model.url(""), 16)?;
    let body = node.call_body();
    let result = node.create_result()?;
    let row = bare.post("/rows", &node.read(&result)?)?;
    let key = format!("{}\r\n", node.authorization());
    let (refract, leased) = (node.server().address(), bare.address());
    let reads = [
        PacedCall::new(refract, "GET", &format!("/v1/results/{result}"), &key, ""),
        PacedCall::new(leased, "GET", &format!("/leased/{row}"), "", ""),
        PacedCall::new(leased, "GET", &format!("/whole/{row}"), "", ""),
    ];
    let creates = [
        PacedCall::new(refract, "POST", &node.create_path(), &key, &body),
        PacedCall::new(leased, "POST", "/leased", "", &body),
        PacedCall::new(leased, "POST", &format!("/whole/{row}"), "", &body),
    ];
    let pids = [node.server().pid(), bare.pid(), bare.pid()];
    println!(
        "| what | calls a second | connections | p50, ms | of bare | p99, ms | CPU, ms a call | of bare | PostgreSQL's, ms a call | instructions a call, thousands | cache misses a call |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (what, calls) in [("read", &reads), ("create", &creates)] {
        for (rate, connections) in LOADS {
            let mut rounds: [Vec<Round>; 3] = Default::default();
            for _ in 0..ROUNDS {
                for ((call, pid), rounds) in calls.iter().zip(pids).zip(&mut rounds) {
                    rounds.push(round(call, pid, rate, connections)?);
                }
            }
            let [refract, leased, whole] = rounds.map(middle);
            let named = [
                ("refract", &refract),
                ("bare, leased", &leased),
                ("bare, every exchange", &whole),
            ];
            for (name, round) in named {
                println!(
                    "| {what}, {name} | {rate} | {connections} | {:.2} | {:+.2} | {:.2} | {:.3} | {:.2} | {:.3} | {} | {} |",
                    round.p50_ms,
                    round.p50_ms - leased.p50_ms,
                    round.p99_ms,
                    round.server.cpu_ms,
                    round.server.cpu_ms / leased.server.cpu_ms,
                    round.database.cpu_ms,
                    counted(round.server.instructions.map(|count| count / 1000.0)),
                    counted(round.server.cache_misses),
                );
            }
        }
    }
    Ok(())
}

fn round(call: &PacedCall, pid: u32, rate: u32, connections: u32) -> anyhow::Result<Round> {
    let time = ROUND.max(Duration::from_secs(1) * FEWEST_CALLS / rate);
    let server = Counted::begin(vec![pid]);
    let database = Counted::begin(pids_of("postgres")?);
    let latencies = call.load(rate, connections, time)?;
    Ok(Round {
        p50_ms: quantile(&latencies, 0.5),
        p99_ms: quantile(&latencies, 0.99),
        server: server.end()?.of_one(latencies.len()),
        database: database.end()?.of_one(latencies.len()),
    })
}

/// The round with the median processor time.
fn middle(mut rounds: Vec<Round>) -> Round {
    rounds.sort_by(|a, b| a.server.cpu_ms.total_cmp(&b.server.cpu_ms));
    rounds.swap_remove(rounds.len() / 2)
}

fn counted(count: Option<f64>) -> String {
    count.map_or_else(|| "not counted".to_owned(), |count| format!("{count:.0}"))
}
