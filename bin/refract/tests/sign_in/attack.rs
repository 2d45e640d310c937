//! Connections that sign in endlessly, each time with an unknown address.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use refract_test_stack::http::{HttpConnection, Request};
use refract_test_stack::service::Service;
use tokio::task::JoinSet;

/// An address of the attackers' network.
pub(crate) const ADDRESS: &str = "198.51.100.7";

/// The networks of the attackers' connections.
#[derive(Clone, Copy)]
pub(crate) enum Networks {
    /// All connections from one network.
    One,
    /// Each connection from a different network.
    Each,
}

/// An attack in progress.
pub(crate) struct Attack {
    connections: JoinSet<Tally>,
    is_over: Arc<AtomicBool>,
}

/// Numbers of answers by status.
#[derive(Default)]
pub(crate) struct Tally(BTreeMap<u16, usize>);

impl Attack {
    pub(crate) fn begin(service: &Service, number: usize, networks: Networks) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let app = service.nodes[0].app;
        let mut connections = JoinSet::new();
        for place in 0..number {
            let from = match networks {
                Networks::One => format!("198.51.100.{}", place % 250),
                Networks::Each => format!("198.{}.{}.7", 18 + place / 250, place % 250),
            };
            let is_over = Arc::clone(&is_over);
            connections.spawn(async move {
                let mut tally = Tally::default();
                let mut connection = HttpConnection::open(app).await;
                let mut count = 0_u32;
                while !is_over.load(Ordering::Relaxed) {
                    count += 1;
                    let email = format!("r{place}-{count}%40example.com");
                    let request = Request::outside("POST", "/sign-in")
                        .header("Sec-Fetch-Site", "same-origin")
                        .header("X-Forwarded-For", &from)
                        .header("Content-Type", "application/x-www-form-urlencoded")
                        .body(format!("email={email}&password=Sommer2026!!"));
                    let answer = connection.call(&request).await;
                    *tally.0.entry(answer.status).or_default() += 1;
                }
                tally
            });
        }
        Self {
            connections,
            is_over,
        }
    }

    /// Ends the attack, and returns its answers.
    pub(crate) async fn end(self) -> Tally {
        self.is_over.store(true, Ordering::Relaxed);
        let mut all = Tally::default();
        for tally in self.connections.join_all().await {
            for (status, count) in tally.0 {
                assert!(matches!(status, 401 | 429 | 503), "{status}");
                *all.0.entry(status).or_default() += count;
            }
        }
        all
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.0.iter();
        let counts: Vec<_> = counts
            .map(|(status, count)| format!("{count} times {status}"))
            .collect();
        write!(f, "answered {}", counts.join(", "))
    }
}
