//! Submissions per second with a server that answers at once, on one thread.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use refract_model_gateway::Protocol;

use crate::bare::BareClient;
use crate::processes::Server;
use crate::prompts;

/// Characters of the text.
const TEXT: usize = 1_000;
/// Requests in flight at once, of the gateway or of the bare client.
const AT_ONCE: usize = 60;
/// Rounds of each side. The fastest counts, since other load on the machine only slows rounds down.
const ROUNDS: u32 = 6;
const ROUND: Duration = Duration::from_secs(1);

pub(crate) fn print() {
    println!(
        "\n{:24}{:>12}{:>12}{:>8}",
        "calls per second", "refract", "bare hyper", "ratio"
    );
    for protocol in [Protocol::SystemOne, Protocol::Decisions, Protocol::Chat] {
        for questions in [1, 3, 100] {
            let (ours, bare) = actix_rt::System::new().block_on(fastest(protocol, questions));
            let what = format!("{}, {questions} questions", protocol.name());
            println!("{what:24}{ours:>12.0}{bare:>12.0}{:>8.2}", ours / bare);
        }
    }
    println!("ratio: calls of refract to one of the bare client, which sends the same requests");
}

/// Submissions per second of the gateway and of the bare client.
async fn fastest(protocol: Protocol, questions: usize) -> (f64, f64) {
    let server = Server::start(&prompts::answer(protocol, questions), Duration::ZERO);
    let version = prompts::version(questions);
    let submission = prompts::submission(&version, TEXT);
    let (bodies, path) = prompts::requests(protocol, &version, &submission).await;
    let callers = (AT_ONCE / bodies.len()).max(1);
    let bare = BareClient::new(&server.url, &path, bodies);
    let model = prompts::model(protocol, &server.url);
    let ours = || async {
        let call = model.answer(&version, &submission).await;
        call.outcome.unwrap();
    };
    let mut fastest = (0.0_f64, 0.0_f64);
    for _ in 0..ROUNDS {
        fastest.0 = fastest.0.max(per_second(callers, ours).await);
        fastest.1 = fastest.1.max(per_second(callers, || bare.ask()).await);
    }
    fastest
}

/// Submissions per second of `callers` callers. Each one asks again after its answer.
async fn per_second<F: Future<Output = ()>>(callers: usize, call: impl Fn() -> F) -> f64 {
    let begin = Instant::now();
    let callers = (0..callers).map(|_| async {
        let mut calls = 0_u32;
        while begin.elapsed() < ROUND {
            call().await;
            calls += 1;
        }
        calls
    });
    let calls: u32 = join_all(callers).await.into_iter().sum();
    f64::from(calls) / begin.elapsed().as_secs_f64()
}
