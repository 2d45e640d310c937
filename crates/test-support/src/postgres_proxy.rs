//! A proxy in front of a PostgreSQL server that makes statements fail at the worst moments.
//!
//! The proxy reads enough of the protocol to know the current statement. It works only on
//! connections without TLS, with `sslmode=disable`.
#![expect(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test whose proxy cannot be set up or reads a malformed message fails here"
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

/// The text for the beginning of a session, which plans see and count as a statement.
pub const SESSION: &str = "the beginning of a session";

/// A fault for a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementFault {
    /// The connection ends before the server gets the statement.
    CutBefore,
    /// The server executes the statement; then the connection ends without the answer.
    CutAnswer,
    /// The proxy stands still: the server executes the statement, and its answer never comes.
    HoldAnswer,
    /// The proxy answers in place of the server, with an error with this SQLSTATE.
    Refuse(&'static str),
}

/// Chooses the fault for a statement by its text and the number of statements before it.
type FaultPlan = Box<dyn Fn(&str, usize) -> Option<StatementFault> + Send + Sync>;

/// A running proxy. Dropping it ends all its connections.
#[derive(Debug)]
pub struct PostgresProxy {
    port: u16,
    state: Arc<ProxyState>,
    accepting: JoinHandle<()>,
}

struct ProxyState {
    server: u16,
    plan: Mutex<FaultPlan>,
    asked: AtomicUsize,
    faults: AtomicUsize,
}

impl std::fmt::Debug for ProxyState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ProxyState")
    }
}

impl PostgresProxy {
    /// Starts a proxy on the current runtime, in front of the server at this port of the loopback
    /// interface. `plan` chooses the fault for each executed statement.
    ///
    /// # Panics
    ///
    /// When no port is free.
    pub async fn start(
        server: u16,
        plan: impl Fn(&str, usize) -> Option<StatementFault> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.unwrap_or_else(|error| panic!("the proxy has no port: {error}"));
        let port = listener.local_addr().map_or(0, |address| address.port());
        let state = Arc::new(ProxyState {
            server,
            plan: Mutex::new(Box::new(plan)),
            asked: AtomicUsize::new(0),
            faults: AtomicUsize::new(0),
        });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&state)));
        Self {
            port,
            state,
            accepting,
        }
    }

    /// The port of the proxy.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Number of faults so far.
    pub fn faults(&self) -> usize {
        self.state.faults.load(Ordering::SeqCst)
    }

    /// Replaces the plan for later statements.
    pub fn change(
        &self,
        plan: impl Fn(&str, usize) -> Option<StatementFault> + Send + Sync + 'static,
    ) {
        *self
            .state
            .plan
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Box::new(plan);
    }

    /// Lets later statements pass without faults.
    pub fn heal(&self) {
        self.change(|_, _| None);
    }
}

impl Drop for PostgresProxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl ProxyState {
    fn fault(&self, sql: &str) -> Option<StatementFault> {
        let asked = self.asked.fetch_add(1, Ordering::SeqCst);
        let plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        let fault = plan(sql, asked);
        if fault.is_some() {
            self.faults.fetch_add(1, Ordering::SeqCst);
        }
        fault
    }
}

async fn accept(listener: TcpListener, state: Arc<ProxyState>) {
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let state = Arc::clone(&state);
        connections.spawn(async move {
            // an error means that one side closed the connection
            serve(client, state).await.ok();
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(mut client: TcpStream, state: Arc<ProxyState>) -> io::Result<()> {
    client.set_nodelay(true)?;
    let mut startup = vec![0; 4];
    client.read_exact(&mut startup).await?;
    let length = u32::from_be_bytes([startup[0], startup[1], startup[2], startup[3]]);
    startup.resize(usize::try_from(length).map_err(io::Error::other)?.max(4), 0);
    client.read_exact(&mut startup[4..]).await?;
    match state.fault(SESSION) {
        None => {}
        Some(StatementFault::Refuse(sqlstate)) => {
            return client.write_all(&error_response(sqlstate)).await;
        }
        Some(StatementFault::HoldAnswer) => return std::future::pending().await,
        Some(StatementFault::CutBefore | StatementFault::CutAnswer) => return Ok(()),
    }
    let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, state.server)).await?;
    server.set_nodelay(true)?;
    server.write_all(&startup).await?;
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let answers = AnswerRelay::default();
    tokio::select! {
        ended = requests(from_client, to_server, &state, &answers) => ended,
        ended = answers.pass(from_server, to_client) => ended,
    }
}

/// Reads one message. Returns its type, and all bytes including the type.
async fn message(from: &mut OwnedReadHalf) -> io::Result<(u8, Vec<u8>)> {
    let mut bytes = vec![0; 5];
    from.read_exact(&mut bytes).await?;
    let length = u32::from_be_bytes([bytes[1], bytes[2], bytes[3], bytes[4]]);
    let whole = 1 + usize::try_from(length).map_err(io::Error::other)?;
    bytes.resize(whole.max(5), 0);
    from.read_exact(&mut bytes[5..]).await?;
    Ok((bytes[0], bytes))
}

/// Forwards the client's messages in batches, each up to a `Sync`, a `Flush` or a simple query.
async fn requests(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    state: &ProxyState,
    answers: &AnswerRelay,
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
                fault = fault.or_else(|| state.fault(sql?));
            }
            b'Q' => {
                let sql = String::from_utf8_lossy(&bytes[5..bytes.len() - 1]).into_owned();
                fault = fault.or_else(|| state.fault(&sql));
            }
            _ => {}
        }
        batch.extend_from_slice(&bytes);
        if !matches!(kind, b'S' | b'H' | b'Q' | b'X' | b'p') {
            continue;
        }
        match fault.take() {
            None => to.write_all(&batch).await?,
            Some(StatementFault::CutBefore) => return Ok(()),
            Some(StatementFault::CutAnswer) => {
                answers.hold();
                to.write_all(&batch).await?;
                answers.held.notified().await;
                return Ok(());
            }
            Some(StatementFault::HoldAnswer) => {
                answers.hold();
                to.write_all(&batch).await?;
                return std::future::pending().await;
            }
            Some(StatementFault::Refuse(sqlstate)) => {
                // the server gets an empty batch instead, and the error precedes its answer
                answers.replace(sqlstate);
                to.write_all(b"S\0\0\0\x04").await?;
            }
        }
        batch.clear();
    }
}

/// Forwards the server's answers to the client, holds them back or replaces one.
#[derive(Default)]
struct AnswerRelay {
    next: Mutex<NextAnswer>,
    held: Notify,
}

#[derive(Clone, Copy, Default)]
enum NextAnswer {
    #[default]
    Pass,
    Hold,
    Replace(&'static str),
}

impl AnswerRelay {
    fn set(&self, next: NextAnswer) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = next;
    }

    fn hold(&self) {
        self.set(NextAnswer::Hold);
    }

    fn replace(&self, sqlstate: &'static str) {
        self.set(NextAnswer::Replace(sqlstate));
    }

    async fn pass(&self, mut from: OwnedReadHalf, mut to: OwnedWriteHalf) -> io::Result<()> {
        loop {
            let (kind, bytes) = message(&mut from).await?;
            let next = *self.next.lock().unwrap_or_else(PoisonError::into_inner);
            match next {
                NextAnswer::Pass => to.write_all(&bytes).await?,
                // the server is ready for the next statement, so it has executed this one
                NextAnswer::Hold if kind == b'Z' => self.held.notify_one(),
                NextAnswer::Hold => {}
                NextAnswer::Replace(sqlstate) => {
                    to.write_all(&error_response(sqlstate)).await?;
                    to.write_all(&bytes).await?;
                    self.set(NextAnswer::Pass);
                }
            }
        }
    }
}

fn error_response(sqlstate: &str) -> Vec<u8> {
    let fields = format!("SERROR\0VERROR\0C{sqlstate}\0Mthe proxy refuses\0\0");
    let length = u32::try_from(fields.len() + 4).unwrap_or_default();
    let mut bytes = vec![b'E'];
    bytes.extend(length.to_be_bytes());
    bytes.extend(fields.into_bytes());
    bytes
}
