//! Connections that sign in endlessly: each time with an unknown address, or with an invented code of
//! the provider.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use refract_test_stack::http::answer::HttpAnswer;
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

/// What the connections try.
#[derive(Clone, Copy)]
pub(crate) enum Tries {
    /// Passwords of unknown addresses.
    Passwords,
    /// Invented codes of the provider, for sign-ons that they begin.
    Codes,
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
    pub(crate) fn begin(
        service: &Service,
        number: usize,
        networks: Networks,
        tries: Tries,
    ) -> Self {
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
                    let answer = match tries {
                        Tries::Passwords => {
                            let email = format!("r{place}-{count}%40example.com");
                            let request = Request::outside("POST", "/sign-in")
                                .header("Sec-Fetch-Site", "same-origin")
                                .header("X-Forwarded-For", &from)
                                .header("Content-Type", "application/x-www-form-urlencoded")
                                .body(format!("email={email}&password=Sommer2026!!"));
                            connection.call(&request).await
                        }
                        Tries::Codes => invented_code(&mut connection, &from, count).await,
                    };
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
                assert!(matches!(status, 401 | 403 | 429 | 503), "{status}");
                *all.0.entry(status).or_default() += count;
            }
        }
        all
    }
}

impl Tally {
    /// The number of answers with this status.
    pub(crate) fn of(&self, status: u16) -> usize {
        self.0.get(&status).copied().unwrap_or_default()
    }
}

/// Begins a sign-on and comes back with an invented code.
async fn invented_code(connection: &mut HttpConnection, from: &str, count: u32) -> HttpAnswer {
    let request = Request::outside("GET", "/sign-on").header("X-Forwarded-For", from);
    let begun = connection.call(&request).await;
    let location = begun.header("location").unwrap();
    let (_, state) = location.split_once("state=").unwrap();
    let state = state.split('&').next().unwrap();
    let path = format!("/sign-on/callback?state={state}&code=invented{count}");
    let back = Request::outside("GET", &path)
        .header("X-Forwarded-For", from)
        .header("Cookie", &begun.cookies().join("; "));
    connection.call(&back).await
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
