//! One HTTP/1.1 connection to a model server, the idle connections of one thread, and where those of
//! all threads are.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::reply;
use super::request_body::RequestBody;
use crate::error::ModelError;

/// A server that closes a connection in this time had closed it before the request came; later, it
/// has read the request.
const CLOSING: Duration = Duration::from_secs(1);
/// How a connection ends while a request is on its way: the server, or a machine between, has closed
/// it.
const CLOSED: [ErrorKind; 5] = [
    ErrorKind::BrokenPipe,
    ErrorKind::ConnectionAborted,
    ErrorKind::ConnectionReset,
    ErrorKind::NotConnected,
    ErrorKind::UnexpectedEof,
];

/// Sends requests over one connection, one at a time. Dropping it closes the connection.
pub(super) struct ServerConnection {
    sender: SendRequest<RequestBody>,
    answer: Arc<AnswerBegun>,
}

/// Why the head of an answer did not come.
pub(super) struct SendError {
    pub(super) error: hyper::Error,
    /// Whether the request never reached the server: none of it was sent, or the server closed the
    /// connection meanwhile, before a byte of the answer came.
    pub(super) is_unreceived: bool,
}

impl ServerConnection {
    /// Starts HTTP/1.1 on a stream, and spawns the task that reads and writes it on the current
    /// runtime. The task ends when the connection is dropped.
    pub(super) async fn open(
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    ) -> Result<Self, ModelError> {
        let answer = Arc::new(AnswerBegun::default());
        let stream = WatchedStream {
            stream,
            answer: Arc::clone(&answer),
        };
        let opened = http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) = opened.map_err(|_| ModelError::Disconnected)?;
        // the sender reports errors as well, so the task's result is not needed
        tokio::spawn(connection);
        Ok(Self { sender, answer })
    }

    /// Sends a request and waits for the head of its answer.
    pub(super) async fn send(
        &mut self,
        request: Request<RequestBody>,
    ) -> Result<Response<Incoming>, SendError> {
        self.answer.reset();
        let begin = Instant::now();
        let sent = self.sender.try_send_request(request).await;
        sent.map_err(|mut failure| {
            let was_sent = failure.take_message().is_none();
            let error = failure.into_error();
            let is_met = begin.elapsed() < CLOSING && is_closed(&error);
            SendError {
                is_unreceived: !was_sent || is_met && !self.answer.has_begun(),
                error,
            }
        })
    }

    /// Whether a request can be sent: no answer is unread, and the server has not closed the
    /// connection.
    pub(super) fn is_ready(&self) -> bool {
        self.sender.is_ready()
    }

    /// Whether the connection is known to be closed.
    fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }
}

fn is_closed(error: &hyper::Error) -> bool {
    error.is_incomplete_message()
        || reply::io_kind(error).is_some_and(|kind| CLOSED.contains(&kind))
}

/// Whether a byte of the answer to the connection's last request has come.
#[derive(Default)]
struct AnswerBegun(AtomicBool);

impl AnswerBegun {
    fn reset(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    fn begin(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn has_begun(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A stream that notes when bytes come in. hyper reports a connection that ends before an answer
/// like one that ends within the answer's head.
struct WatchedStream<S> {
    stream: S,
    answer: Arc<AnswerBegun>,
}

impl<S: AsyncRead + Unpin> AsyncRead for WatchedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        if buffer.filled().len() > before {
            self.answer.begin();
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WatchedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

/// Idle connections, the longest idle first.
pub(super) struct IdleConnections {
    connections: Mutex<VecDeque<IdleConnection>>,
    keep_alive: Duration,
}

struct IdleConnection {
    connection: ServerConnection,
    since: Instant,
}

impl IdleConnections {
    /// Creates a pool of connections idle for less than `keep_alive`.
    pub(super) fn new(keep_alive: Duration) -> Self {
        Self {
            connections: Mutex::default(),
            keep_alive,
        }
    }

    /// Takes the most recently used connection that is ready. Closes those that are not: the server
    /// has closed them, or an answer was not read to its end.
    pub(super) fn take(&self) -> Option<ServerConnection> {
        let mut connections = self.connections();
        while let Some(idle) = connections.pop_back() {
            if idle.since.elapsed() < self.keep_alive && idle.connection.is_ready() {
                return Some(idle.connection);
            }
        }
        None
    }

    /// Locks the connections. Another thread looks only before it would open a connection over TLS,
    /// so the lock hardly ever waits.
    fn connections(&self) -> MutexGuard<'_, VecDeque<IdleConnection>> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a connection to the pool, and closes connections that were idle for too long.
    pub(super) fn put(&self, connection: ServerConnection) {
        let mut connections = self.connections();
        while let Some(longest) = connections.front()
            && longest.since.elapsed() >= self.keep_alive
        {
            connections.pop_front();
        }
        if !connection.is_closed() {
            let since = Instant::now();
            connections.push_back(IdleConnection { connection, since });
        }
    }
}

/// The pools of all threads with connections to one server. `Debug` shows none.
#[derive(Default)]
pub(super) struct PoolsOfThreads(Mutex<Vec<Weak<IdleConnections>>>);

impl PoolsOfThreads {
    /// Adds the pool of a thread.
    pub(super) fn add(&self, pool: &Arc<IdleConnections>) {
        let mut pools = self.pools();
        pools.retain(|pool| pool.strong_count() > 0);
        pools.push(Arc::downgrade(pool));
    }

    /// Takes a connection that is ready from the first pool that has one.
    pub(super) fn take(&self) -> Option<ServerConnection> {
        let pools = self.pools();
        let mut pools = pools.iter().filter_map(Weak::upgrade);
        pools.find_map(|pool| pool.take())
    }

    fn pools(&self) -> MutexGuard<'_, Vec<Weak<IdleConnections>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for PoolsOfThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PoolsOfThreads(..)")
    }
}
