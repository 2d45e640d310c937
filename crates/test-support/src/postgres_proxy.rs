//! A proxy before a PostgreSQL server that breaks statements in the worst places.
//!
//! It reads as much of the protocol as it needs to tell which statement is under way: on plain
//! connections, `sslmode=disable`.
#![expect(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test whose proxy cannot be set up, or reads what is no message, ends here"
)]

use std::collections::HashMap;
use std::io;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// The beginning of a session, which counts as a statement with this text.
pub const SESSION: &str = "the beginning of a session";

/// What happens to a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The connection ends before the server hears of it.
    CutBefore,
    /// The server carries it out, and the connection ends instead of its answer.
    CutAnswer,
    /// The proxy answers in the server's place with this SQLSTATE.
    Refuse(&'static str),
}

/// Says what happens to a statement, by its text and how many times the proxy was asked before.
type Plan = Box<dyn Fn(&str, usize) -> Option<Fault> + Send + Sync>;

/// A running proxy; its connections end with it.
#[derive(Debug)]
pub struct PostgresProxy {
    port: u16,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

struct Shared {
    server: u16,
    plan: Mutex<Plan>,
    asked: AtomicUsize,
    faults: AtomicUsize,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shared")
    }
}

impl PostgresProxy {
    /// Starts on the current runtime before the server at this port of the loopback interface.
    /// `plan` is asked for each statement that is carried out.
    ///
    /// # Panics
    ///
    /// Where no port is to be had.
    pub async fn start(
        server: u16,
        plan: impl Fn(&str, usize) -> Option<Fault> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.unwrap_or_else(|error| panic!("the proxy has no port: {error}"));
        let port = listener.local_addr().map_or(0, |address| address.port());
        let shared = Arc::new(Shared {
            server,
            plan: Mutex::new(Box::new(plan)),
            asked: AtomicUsize::new(0),
            faults: AtomicUsize::new(0),
        });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Self {
            port,
            shared,
            accepting,
        }
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// How many faults it made.
    pub fn faults(&self) -> usize {
        self.shared.faults.load(Ordering::SeqCst)
    }

    /// Has another plan from now on.
    pub fn change(&self, plan: impl Fn(&str, usize) -> Option<Fault> + Send + Sync + 'static) {
        *self
            .shared
            .plan
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Box::new(plan);
    }

    /// Lets every statement pass from now on.
    pub fn heal(&self) {
        self.change(|_, _| None);
    }
}

impl Drop for PostgresProxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Shared {
    fn fault(&self, sql: &str) -> Option<Fault> {
        let asked = self.asked.fetch_add(1, Ordering::SeqCst);
        let plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        let fault = plan(sql, asked);
        if fault.is_some() {
            self.faults.fetch_add(1, Ordering::SeqCst);
        }
        fault
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            // either side may end it
            serve(client, shared).await.ok();
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(mut client: TcpStream, shared: Arc<Shared>) -> io::Result<()> {
    client.set_nodelay(true)?;
    let mut startup = vec![0; 4];
    client.read_exact(&mut startup).await?;
    let length = u32::from_be_bytes([startup[0], startup[1], startup[2], startup[3]]);
    startup.resize(usize::try_from(length).map_err(io::Error::other)?.max(4), 0);
    client.read_exact(&mut startup[4..]).await?;
    match shared.fault(SESSION) {
        None => {}
        Some(Fault::Refuse(state)) => return client.write_all(&error_response(state)).await,
        Some(Fault::CutBefore | Fault::CutAnswer) => return Ok(()),
    }
    let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, shared.server)).await?;
    server.set_nodelay(true)?;
    server.write_all(&startup).await?;
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let answers = Answers::default();
    tokio::select! {
        ended = requests(from_client, to_server, &shared, &answers) => ended,
        ended = answers.pass(from_server, to_client) => ended,
    }
}

/// A message: its type and all its bytes.
async fn message(from: &mut OwnedReadHalf) -> io::Result<(u8, Vec<u8>)> {
    let mut bytes = vec![0; 5];
    from.read_exact(&mut bytes).await?;
    let length = u32::from_be_bytes([bytes[1], bytes[2], bytes[3], bytes[4]]);
    let whole = 1 + usize::try_from(length).map_err(io::Error::other)?;
    bytes.resize(whole.max(5), 0);
    from.read_exact(&mut bytes[5..]).await?;
    Ok((bytes[0], bytes))
}

/// Passes on what the client sends, a batch at a time: up to its `Sync`, `Flush` or plain query.
async fn requests(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    shared: &Shared,
    answers: &Answers,
) -> io::Result<()> {
    let mut statements = HashMap::new();
    let mut batch = Vec::new();
    let mut fault = None;
    loop {
        let (kind, bytes) = message(&mut from).await?;
        match kind {
            b'P' => {
                let mut texts = bytes[5..].split(|byte| *byte == 0);
                let name = texts.next().unwrap_or_default().to_vec();
                let sql = texts.next().unwrap_or_default();
                statements.insert(name, String::from_utf8_lossy(sql).into_owned());
            }
            b'B' => {
                let name = bytes[5..].split(|byte| *byte == 0).nth(1);
                let sql = name.and_then(|name| statements.get(name));
                fault = fault.or_else(|| shared.fault(sql?));
            }
            b'Q' => {
                let sql = String::from_utf8_lossy(&bytes[5..bytes.len() - 1]).into_owned();
                fault = fault.or_else(|| shared.fault(&sql));
            }
            _ => {}
        }
        batch.extend_from_slice(&bytes);
        if !matches!(kind, b'S' | b'H' | b'Q' | b'X' | b'p') {
            continue;
        }
        match fault.take() {
            None => to.write_all(&batch).await?,
            Some(Fault::CutBefore) => return Ok(()),
            Some(Fault::CutAnswer) => {
                answers.hold();
                to.write_all(&batch).await?;
                answers.held.notified().await;
                return Ok(());
            }
            Some(Fault::Refuse(state)) => {
                // the server sees an empty query in its place
                answers.replace(state);
                to.write_all(b"S\0\0\0\x04").await?;
            }
        }
        batch.clear();
    }
}

/// What becomes of the server's answers.
#[derive(Default)]
struct Answers {
    next: Mutex<Next>,
    held: Notify,
}

#[derive(Clone, Copy, Default)]
enum Next {
    #[default]
    Pass,
    Hold,
    Replace(&'static str),
}

impl Answers {
    fn set(&self, next: Next) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = next;
    }

    fn hold(&self) {
        self.set(Next::Hold);
    }

    fn replace(&self, state: &'static str) {
        self.set(Next::Replace(state));
    }

    async fn pass(&self, mut from: OwnedReadHalf, mut to: OwnedWriteHalf) -> io::Result<()> {
        loop {
            let (kind, bytes) = message(&mut from).await?;
            let next = *self.next.lock().unwrap_or_else(PoisonError::into_inner);
            match next {
                Next::Pass => to.write_all(&bytes).await?,
                // the statement is carried out when the server is ready for the next
                Next::Hold if kind == b'Z' => self.held.notify_one(),
                Next::Hold => {}
                Next::Replace(state) => {
                    to.write_all(&error_response(state)).await?;
                    to.write_all(&bytes).await?;
                    self.set(Next::Pass);
                }
            }
        }
    }
}

fn error_response(state: &str) -> Vec<u8> {
    let fields = format!("SERROR\0VERROR\0C{state}\0Mthe proxy refuses\0\0");
    let length = u32::try_from(fields.len() + 4).unwrap_or_default();
    let mut bytes = vec![b'E'];
    bytes.extend(length.to_be_bytes());
    bytes.extend(fields.into_bytes());
    bytes
}
