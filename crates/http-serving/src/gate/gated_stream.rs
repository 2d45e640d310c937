//! The stream of a connection, read no further than its gate allows.
//!
//! A connection with an unread body costs the node up to [`READ_AHEAD`] bytes in the HTTP server's
//! buffers, and up to as many here. A head over [`USUAL_HEAD`] needs room in the budget.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::future::{FutureExt as _, LocalBoxFuture};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf, Take};
use tokio::net::TcpStream;
use tokio::time::Sleep;

use crate::body::{BodyBudget, HeldRoom};
use crate::gate::ReadGate;
use crate::gate::head_fields::{HeadFields, LastOfHead};

/// The most bytes of one read while no body is being read: enough for a usual call with its body.
pub(crate) const READ_AHEAD: usize = 8 * 1024;
/// The most bytes of one read of a body.
const READ_OF_BODY: usize = 64 * 1024;
/// The most bytes that are read during a request with an unread body: reading shows whether the
/// client is still connected.
const READ_BESIDE: usize = 1024;
/// The longest head that needs no room in the budget.
const USUAL_HEAD: usize = 16 * 1024;
/// The room for a longer head, in the HTTP server's buffers, which grow by doubling.
const LONG_HEAD: usize = 256 * 1024;
/// The most reads that empty the receive buffer when a connection is closed.
const LAST_READS: usize = 32;
/// How long a head may take to arrive in full once it has begun.
const HEAD: Duration = Duration::from_secs(10);
/// How long the rest of a body may take after its request was answered: longer than the servers'
/// own time for dropping unread bodies.
const REST: Duration = Duration::from_secs(15);
/// How long a client may accept no byte of a reply.
const REPLY: Duration = Duration::from_mins(1);

/// A connection's stream that obeys a gate.
pub(crate) struct GatedStream {
    io: Take<TcpStream>,
    gate: ReadGate,
    budget: BodyBudget,
    kept: KeptBytes,
    head: LastOfHead,
    fields: HeadFields,
    burst: Burst,
    /// Room for a head longer than [`USUAL_HEAD`]; `asked_room` is the wait for it.
    head_room: Option<HeldRoom>,
    asked_room: Option<LocalBoxFuture<'static, HeldRoom>>,
    /// The deadline for the rest of a head, or of an unread body.
    head_deadline: Option<Pin<Box<Sleep>>>,
    reply_deadline: Option<Pin<Box<Sleep>>>,
}

/// Bytes that were read from the socket and not yet passed on to the server.
#[derive(Default)]
struct KeptBytes {
    bytes: Vec<u8>,
    /// The bytes before this position were passed on.
    from: usize,
}

/// The bytes passed on since the server last had to wait.
#[derive(Default)]
struct Burst {
    bytes: usize,
    has_head_ended: bool,
}

impl GatedStream {
    pub(crate) fn new(io: TcpStream, budget: BodyBudget) -> Self {
        Self {
            io: io.take(0),
            gate: ReadGate::default(),
            budget,
            kept: KeptBytes::default(),
            head: LastOfHead::default(),
            fields: HeadFields::default(),
            burst: Burst::default(),
            head_room: None,
            asked_room: None,
            head_deadline: None,
            reply_deadline: None,
        }
    }

    /// The gate of this connection.
    pub(crate) fn gate(&self) -> &ReadGate {
        &self.gate
    }

    /// Reads a head, and the part of its body that arrives with it.
    fn read_head(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let so_far = self.gate.read_since_request();
        if so_far == 0 {
            (self.head_room, self.asked_room) = (None, None);
            self.head_deadline = None;
        } else if so_far >= USUAL_HEAD && self.burst.bytes == 0 {
            // the server has searched all of these bytes and found no end of a head
            ready!(self.poll_room(cx));
        }
        let polled = self.let_through(cx, buf, READ_AHEAD, false);
        if polled.is_pending() && so_far > 0 && !self.burst.has_head_ended {
            return poll_deadline(&mut self.head_deadline, HEAD, cx);
        }
        polled
    }

    /// Waits until there is room for a long head.
    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.head_room.is_none() {
            let budget = &self.budget;
            let room = self.asked_room.get_or_insert_with(|| {
                let budget = budget.clone();
                async move { budget.room_for_body(LONG_HEAD, 1).await }.boxed_local()
            });
            self.head_room = Some(ready!(room.poll_unpin(cx)));
        }
        Poll::Ready(())
    }

    /// Reads as much as the reader of a request's body wants.
    fn read_body(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.head_deadline = None;
        let wanted = self.gate.wanted();
        if wanted == 0 || !self.gate.is_body_open() {
            return self.watch(cx);
        }
        self.let_through(cx, buf, wanted.min(self.most_of_body()), true)
    }

    /// Reads the rest of a body after its request was answered. The server drops these bytes, and
    /// then takes the next request or closes the connection.
    fn read_rest(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let polled = self.let_through(cx, buf, self.most_of_body(), true);
        if polled.is_pending() {
            return poll_deadline(&mut self.head_deadline, REST, cx);
        }
        polled
    }

    /// The most bytes of one read of the body. Bytes after the body stay in this buffer, so the
    /// read may not go far beyond the body.
    fn most_of_body(&self) -> usize {
        let surely = self.gate.surely_of_body();
        surely.clamp(READ_AHEAD, READ_OF_BODY)
    }

    /// Waits until more may be read, and detects a client that disconnects meanwhile.
    fn watch(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.gate.wake_when_open(cx.waker());
        if !self.kept.rest().is_empty() {
            return Poll::Pending;
        }
        ready!(self.io.get_ref().poll_read_ready(cx))?;
        let mut beside = [0; READ_BESIDE];
        let mut read = ReadBuf::new(&mut beside);
        self.io.set_limit(u64::MAX);
        ready!(Pin::new(&mut self.io).poll_read(cx, &mut read))?;
        if read.filled().is_empty() {
            return Poll::Ready(Ok(()));
        }
        self.kept.add(read.filled());
        Poll::Pending
    }

    /// Passes on bytes of the body or of a head, beginning with those kept here; at most `most` in
    /// one burst.
    fn let_through(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
        most: usize,
        is_body: bool,
    ) -> Poll<io::Result<()>> {
        let most = most.saturating_sub(self.burst.bytes).min(buf.remaining());
        if self.burst.has_head_ended && self.kept.rest().is_empty() {
            // the server handles the head before more is read
            ready!(self.io.get_ref().poll_read_ready(cx))?;
        }
        if most == 0 || self.burst.has_head_ended {
            return yield_once(cx);
        }
        let before = buf.filled().len();
        let through = if self.kept.rest().is_empty() {
            self.io.set_limit(u64::try_from(most).unwrap_or(u64::MAX));
            ready!(Pin::new(&mut self.io).poll_read(cx, buf))?;
            let read = buf.filled().get(before..).unwrap_or_default();
            if read.is_empty() {
                // the client has closed its side
                return Poll::Ready(Ok(()));
            }
            let through = self.burst.take(&self.gate, &mut self.head, read, is_body);
            self.kept.add(read.get(through..).unwrap_or_default());
            buf.set_filled(before + through);
            through
        } else {
            let rest = self.kept.rest();
            let offered = rest.get(..most).unwrap_or(rest);
            let through = self
                .burst
                .take(&self.gate, &mut self.head, offered, is_body);
            buf.put_slice(offered.get(..through).unwrap_or_default());
            self.kept.let_through(through);
            through
        };
        self.burst.bytes += through;
        if !is_body {
            self.fields.change(buf, before, self.burst.has_head_ended);
        }
        Poll::Ready(Ok(()))
    }
}

impl KeptBytes {
    fn rest(&self) -> &[u8] {
        self.bytes.get(self.from..).unwrap_or_default()
    }

    fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    fn let_through(&mut self, bytes: usize) {
        self.from += bytes;
        if self.rest().is_empty() {
            // also frees the memory: few connections need it again
            *self = Self::default();
        }
    }
}

impl Burst {
    /// How many of the next bytes belong to the body, or else to the head.
    fn take(
        &mut self,
        gate: &ReadGate,
        head: &mut LastOfHead,
        bytes: &[u8],
        is_body: bool,
    ) -> usize {
        if is_body {
            return gate.take_of_body(bytes);
        }
        let end = head.end_in(bytes);
        let through = end.unwrap_or(bytes.len());
        if end.is_some() {
            (*head, self.has_head_ended) = (LastOfHead::default(), true);
        } else {
            head.follow(bytes);
        }
        gate.read_of_head(through);
        through
    }
}

impl AsyncRead for GatedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let polled = if this.gate.is_request_under_way() {
            this.read_body(cx, buf)
        } else if this.gate.is_body_open() {
            this.read_rest(cx, buf)
        } else {
            this.read_head(cx, buf)
        };
        if polled.is_pending() {
            this.burst = Burst::default();
        }
        polled
    }
}

impl AsyncWrite for GatedStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(this.io.get_mut()).poll_write(cx, bytes);
        if written.is_pending() {
            ready!(poll_deadline(&mut this.reply_deadline, REPLY, cx))?;
            return Poll::Pending;
        }
        this.reply_deadline = None;
        written
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(self.get_mut().io.get_mut()).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(self.get_mut().io.get_mut()).poll_shutdown(cx)
    }
}

/// Empties the receive buffer: closing a connection with unread bytes resets it, and then the
/// client may lose the reply.
impl Drop for GatedStream {
    fn drop(&mut self) {
        let mut bytes = [0; READ_AHEAD];
        for _ in 0..LAST_READS {
            if !matches!(self.io.get_ref().try_read(&mut bytes), Ok(1..)) {
                return;
            }
        }
    }
}

/// Yields to the server, so that it handles the bytes that it has before it reads on.
fn yield_once(cx: &mut Context<'_>) -> Poll<io::Result<()>> {
    cx.waker().wake_by_ref();
    Poll::Pending
}

/// An error once the timeout is over; the timeout starts at the first call.
fn poll_deadline(
    deadline: &mut Option<Pin<Box<Sleep>>>,
    after: Duration,
    cx: &mut Context<'_>,
) -> Poll<io::Result<()>> {
    let deadline = deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(after)));
    ready!(deadline.poll_unpin(cx));
    Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
}

#[cfg(test)]
mod tests;
