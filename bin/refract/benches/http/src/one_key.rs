//! Simultaneous first calls with one idempotency key: how often the model is asked.

use std::path::Path;
use std::sync::Barrier;
use std::time::Instant;

use crate::node::Node;
use crate::paced::{PacedCall, quantile};
use crate::process::ServerProcess;

const CONNECTIONS: usize = 64;
const ROUNDS: usize = 50;
const MODEL_MS: [&str; 2] = ["0", "100"];

/// Prints the model requests and the latencies of a round of calls that share a key.
pub fn measure(binary: &Path, database: &str) -> anyhow::Result<()> {
    println!("| model, ms | connections | model requests a key | p50, ms | p99, ms |");
    println!("|--:|--:|--:|--:|--:|");
    for delay in MODEL_MS {
        let model = ServerProcess::start_own(&["model", delay], database)?;
        let node = Node::start(binary, database, &model.url(""), CONNECTIONS)?;
        let asked = || anyhow::Ok(model.send("GET", "/asked", "", "")?.parse::<u64>()?);
        let before = asked()?;
        let mut latencies = Vec::new();
        for round in 0..ROUNDS {
            latencies.extend(calls_with_key(&node, &format!("{delay} {round}"))?);
        }
        latencies.sort_by(f64::total_cmp);
        println!(
            "| {delay} | {CONNECTIONS} | {:.2} | {:.1} | {:.1} |",
            (asked()? - before) as f64 / ROUNDS as f64,
            quantile(&latencies, 0.5),
            quantile(&latencies, 0.99),
        );
    }
    Ok(())
}

/// Sends one call on each connection simultaneously; returns the latencies in milliseconds.
fn calls_with_key(node: &Node, key: &str) -> anyhow::Result<Vec<f64>> {
    let mut body: serde_json::Value = serde_json::from_str(&node.call_body())?;
    body["idempotency_key"] = key.into();
    let head = format!("{}\r\n", node.authorization());
    let path = node.create_path();
    let address = node.server().address();
    let call = PacedCall::new(address, "POST", &path, &head, &body.to_string());
    let start = Barrier::new(CONNECTIONS);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..CONNECTIONS)
            .map(|_| {
                scope.spawn(|| {
                    let mut stream = call.connect()?;
                    start.wait();
                    let begin = Instant::now();
                    call.make(&mut stream)?;
                    anyhow::Ok(begin.elapsed().as_secs_f64() * 1000.0)
                })
            })
            .collect();
        let ended = threads
            .into_iter()
            .map(|thread| thread.join().expect("a caller"));
        ended.collect()
    })
}
