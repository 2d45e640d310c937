//! The memory of a call that waits for the model.

use std::path::Path;
use std::time::Duration;

use anyhow::bail;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::node::Node;
use crate::process::{ServerProcess, resident_kib};

const WAITING: [usize; 2] = [1000, 5000];
/// The model's delay: long enough for all calls to arrive.
const ANSWER_MS: &str = "15000";
/// The time by which all calls have arrived.
const ARRIVED: Duration = Duration::from_secs(8);

/// Prints the memory growth of a node and of a bare handler per waiting call.
pub fn memory(binary: &Path, database: &str) -> anyhow::Result<()> {
    println!("\n| waiting | refract, KiB a call | bare, KiB a call | ratio |");
    println!("|--:|--:|--:|--:|");
    for waiting in WAITING {
        let model = ServerProcess::start_own(&["model", ANSWER_MS], database)?;
        let node = Node::start(binary, database, &model.url(""), waiting)?;
        let head = format!("{}\r\n", node.authorization());
        let of_node = grown(
            node.server(),
            &node.create_path(),
            &head,
            &node.call_body(),
            waiting,
        )?;
        drop(node);
        let bare = ServerProcess::start_own(&["bare", &model.url("/systemone")], database)?;
        let body = "x".repeat(1400);
        let of_bare = grown(&bare, "/leased", "", &body, waiting)?;
        println!(
            "| {waiting} | {of_node:.1} | {of_bare:.1} | {:.2} |",
            of_node / of_bare
        );
    }
    Ok(())
}

fn grown(
    server: &ServerProcess,
    path: &str,
    head: &str,
    body: &str,
    calls: usize,
) -> anyhow::Result<f64> {
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\n{head}content-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let before = resident_kib(server.pid())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut tasks = JoinSet::new();
        for _ in 0..calls {
            let (address, request) = (server.address(), request.clone());
            tasks.spawn(async move {
                let mut stream = TcpStream::connect(address).await?;
                stream.write_all(request.as_bytes()).await?;
                let mut head = [0; 12];
                stream.read_exact(&mut head).await?;
                if &head != b"HTTP/1.1 200" {
                    bail!("a waiting call failed: {}", String::from_utf8_lossy(&head));
                }
                Ok(())
            });
        }
        tokio::time::sleep(ARRIVED).await;
        let after = resident_kib(server.pid())?;
        while let Some(ended) = tasks.join_next().await {
            ended??;
        }
        Ok((after as f64 - before as f64) / calls as f64)
    })
}
