//! Ordinary callers of the API, at a steady rate.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use refract_test_stack::http::{HttpConnection, Request};
use refract_test_stack::service::{PRISM, Service};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{Instant, interval};

/// The connections of the calls.
const CONNECTIONS: usize = 8;
/// The interval between two calls of a connection: 80 calls per second in total.
const PACE: Duration = Duration::from_millis(100);

/// The outcome of ordinary calls.
pub(crate) struct OrdinaryCalls {
    /// The latency of each answered call, from the moment at which it was due.
    pub(crate) took: Vec<Duration>,
    pub(crate) failed: usize,
}

impl OrdinaryCalls {
    /// Creates this many results.
    pub(crate) async fn make(service: &Service, number: usize) -> Self {
        let mut callers = JoinSet::new();
        for caller in 0..CONNECTIONS {
            let calls = (caller..number).step_by(CONNECTIONS).count();
            callers.spawn(call(service.api(), service.key.clone(), calls));
        }
        let mut all = Self {
            took: Vec::new(),
            failed: 0,
        };
        while let Some(ended) = callers.join_next().await {
            let (took, failed) = ended.unwrap();
            all.took.extend(took);
            all.failed += failed;
        }
        all.took.sort();
        all
    }

    /// The latency within which this many of 1,000 calls were answered.
    pub(crate) fn within(&self, per_mille: usize) -> Duration {
        let rank = self.took.len().saturating_sub(1) * per_mille / 1000;
        self.took.get(rank).copied().unwrap_or_default()
    }
}

impl fmt::Display for OrdinaryCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [half, most, last] = [500, 990, 1000].map(|part| self.within(part));
        write!(
            f,
            "{} answered, {} failed: p50 {half:.1?}, p99 {most:.1?}, slowest {last:.1?}",
            self.took.len(),
            self.failed
        )
    }
}

async fn call(api: SocketAddr, key: String, calls: usize) -> (Vec<Duration>, usize) {
    let mut ticks = interval(PACE);
    let (mut took, mut failed) = (Vec::new(), 0);
    let mut connection = HttpConnection::open(api).await;
    for number in 0..calls {
        let due = ticks.tick().await;
        let request = Request::post(&format!("/prisms/{PRISM}/results"))
            .bearer(&key)
            .json(&json!({"text": format!("Where is order {number}?")}));
        if connection.call(&request).await.status == 200 {
            took.push(Instant::now() - due);
        } else {
            failed += 1;
        }
    }
    (took, failed)
}
