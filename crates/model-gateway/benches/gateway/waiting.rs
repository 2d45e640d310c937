//! Growth of the process per submission while thousands wait for a slow server.

use std::fs;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::join_all;
use refract_model_gateway::Protocol;
use tokio::time::sleep;

use crate::bare::BareClient;
use crate::processes::{Server, ourselves};
use crate::prompts;

/// Submissions that wait concurrently.
const CALLS: u32 = 5_000;
/// Characters of each text.
const TEXT: usize = 200;
const QUESTIONS: usize = 1;
/// Time that the server takes to answer.
const DELAY: Duration = Duration::from_secs(10);
/// When memory is measured: the server has all requests by then and has answered none.
const LOOK: Duration = Duration::from_secs(7);

pub(crate) fn print() {
    println!(
        "\n{:24}{:>12}{:>12}{:>8}",
        "KiB per waiting call", "refract", "bare hyper", "ratio"
    );
    for protocol in [Protocol::SystemOne, Protocol::Chat] {
        let server = Server::start(&prompts::answer(protocol, QUESTIONS), DELAY);
        let grown = |who| {
            let output = ourselves(&["wait", who, &server.url]).output().unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout)
                .unwrap()
                .trim()
                .parse::<f64>()
                .unwrap()
        };
        let ours = grown(protocol.name());
        let bare = grown(&format!("bare-{}", protocol.name()));
        let what = format!("{}, 1 question", protocol.name());
        println!("{what:24}{ours:>12.1}{bare:>12.1}{:>8.2}", ours / bare);
    }
    println!("of {CALLS} calls on one thread, each with a connection of its own");
}

/// Lets submissions wait and prints how many KiB each added to this process.
pub(crate) fn measure(who: &str, url: &str) {
    let is_bare = who.starts_with("bare-");
    let protocol: Protocol = who.trim_start_matches("bare-").parse().unwrap();
    let grown = actix_rt::System::new().block_on(async {
        let version = Rc::new(prompts::version(QUESTIONS));
        let submission = Rc::new(prompts::submission(&version, TEXT));
        let (bodies, path) = prompts::requests(protocol, &version, &submission).await;
        let bare = BareClient::new(url, &path, bodies);
        let model = prompts::model(protocol, url);
        let before = resident_kib();
        // a task per submission, as in a server
        let calls = (0..CALLS).map(|_| -> Pin<Box<dyn Future<Output = ()>>> {
            if is_bare {
                let bare = bare.clone();
                Box::pin(async move { bare.ask().await })
            } else {
                let model = model.clone();
                let (version, submission) = (Rc::clone(&version), Rc::clone(&submission));
                Box::pin(async move {
                    model.answer(&version, &submission).await.outcome.unwrap();
                })
            }
        });
        let calls: Vec<_> = calls.map(actix_rt::spawn).collect();
        sleep(LOOK).await;
        let grown = resident_kib() - before;
        for ended in join_all(calls).await {
            ended.unwrap();
        }
        grown
    });
    println!("{}", grown / f64::from(CALLS));
}

/// Resident memory of this process.
fn resident_kib() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    let kib = line.split_whitespace().nth(1).unwrap();
    kib.parse().unwrap()
}
