//! Reads a body within the budget, and gives up on one that stalls.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::header::{CONTENT_LENGTH, HeaderMap};
use futures_util::StreamExt as _;
use tokio::time::{Instant, timeout_at};

use crate::body::budget::{BodyBudget, HeldRoom};
use crate::gate::{OpenGate, ReadGate};
use crate::lifecycle::{Draining, Lifecycle};

/// The largest body that needs no room in the budget: small enough for thousands of callers at
/// once.
const USUAL_BYTES: usize = 16 * 1024;
/// While others wait for room, a body that stalls for this time is given up.
const STANDSTILL: Duration = Duration::from_secs(5);
/// A body stalls if fewer bytes than this arrive within [`STANDSTILL`].
const COMES_ON: usize = 16 * 1024;

/// The most bytes of an unused body that are read and dropped after the reply.
const DISCARDED_BYTES: usize = 64 * 1024;
/// How long an unused body may take to arrive: most arrive together with the head.
const DISCARDED_ARRIVAL: Duration = Duration::from_millis(100);

/// Reads the bodies of a listener's requests. Clones share one budget.
#[derive(Clone, Debug, Default)]
pub struct BodyReader {
    /// The memory budget of all bodies.
    pub budget: BodyBudget,
    /// The server's lifecycle: a body stops waiting for room when the server drains.
    pub lifecycle: Lifecycle,
}

/// The body of a request before it is read.
pub struct SentBody<'a> {
    /// The reader with its budget.
    pub reader: &'a BodyReader,
    /// The gate of the request's connection.
    pub gate: Option<&'a ReadGate>,
    /// The payload that the body arrives in.
    pub payload: &'a mut Payload,
}

/// Limits on a body.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// Largest size in bytes.
    pub bytes: usize,
    /// How long the body may take to arrive, without the time that it waits for room.
    pub arrival: Duration,
    /// How many copies of its bytes are in memory while it is read and used.
    pub copies: usize,
}

/// A body that has arrived.
#[derive(Debug, Default)]
pub struct ArrivedBody {
    /// The content of the body.
    pub bytes: Vec<u8>,
    /// The body's room in the budget, to be kept as long as its bytes and anything made from them.
    /// `None` for a body of up to 16 KiB, which any connection may hold.
    pub room: Option<HeldRoom>,
}

/// Why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyReadError {
    /// The body is over the size limit.
    #[error("the body is too large")]
    TooLarge,
    /// The body ended early, is framed wrongly or did not arrive in time.
    #[error("the body did not arrive")]
    Incomplete,
    /// The server began to drain while the body waited for room.
    #[error(transparent)]
    Draining(#[from] Draining),
}

/// A body while it is read.
struct ArrivingBody<'a> {
    payload: &'a mut Payload,
    gate: Option<OpenGate<'a>>,
    /// The declared length; `None` for a chunked body.
    length: Option<usize>,
    most: usize,
    deadline: Instant,
    bytes: Vec<u8>,
}

impl SentBody<'_> {
    /// Reads the body as soon as there is room for it.
    ///
    /// # Errors
    /// [`BodyReadError::TooLarge`] by the declared length, before anything is read, or at the first
    /// byte over the limit; the other errors while the body is awaited or read.
    pub async fn read(
        self,
        headers: &HeaderMap,
        limits: BodyLimits,
    ) -> Result<ArrivedBody, BodyReadError> {
        let BodyReader { budget, lifecycle } = self.reader;
        let length = declared_length(headers);
        if length.is_some_and(|length| length > limits.bytes) {
            return Err(BodyReadError::TooLarge);
        }
        let mut body = ArrivingBody {
            payload: self.payload,
            gate: self.gate.map(ReadGate::open),
            length,
            most: limits.bytes,
            deadline: Instant::now() + limits.arrival,
            bytes: Vec::new(),
        };
        // a body without a declared length may turn out to be small
        if length.is_none_or(|length| length <= USUAL_BYTES)
            && body.arrive(budget, USUAL_BYTES).await?
        {
            return Ok(ArrivedBody {
                bytes: body.bytes,
                room: None,
            });
        }
        let room = budget.room_for_body(length.unwrap_or(limits.bytes), limits.copies);
        let mut room = body.wait_for(lifecycle.unless_draining(room)).await?;
        body.arrive(budget, usize::MAX).await?;
        room.shrink_to(body.bytes.len().saturating_mul(limits.copies));
        Ok(ArrivedBody {
            bytes: body.bytes,
            room: Some(room),
        })
    }
}

impl ArrivingBody<'_> {
    /// Awaits a future without reading the body. That time does not count towards the deadline.
    async fn wait_for<T>(&mut self, future: impl Future<Output = T>) -> T {
        if let Some(gate) = &self.gate {
            gate.want(0);
        }
        let began = Instant::now();
        let outcome = future.await;
        self.deadline += began.elapsed();
        outcome
    }

    /// Reads until the body has more bytes than `enough` or ends; returns whether it ended.
    async fn arrive(&mut self, budget: &BodyBudget, enough: usize) -> Result<bool, BodyReadError> {
        self.bytes
            .reserve_exact(self.length.map_or(0, |length| length - self.bytes.len()));
        let mut looked_at = self.bytes.len();
        let mut look = self.deadline.min(Instant::now() + STANDSTILL);
        while self.bytes.len() <= enough {
            let Ok(next) = timeout_at(look, self.next()).await else {
                let stands_still = self.bytes.len() - looked_at < COMES_ON;
                if look == self.deadline || (stands_still && budget.waiting() > 0) {
                    return Err(BodyReadError::Incomplete);
                }
                looked_at = self.bytes.len();
                look = self.deadline.min(look + STANDSTILL);
                continue;
            };
            if next?.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads the next bytes; `None` at the end.
    async fn next(&mut self) -> Result<Option<()>, BodyReadError> {
        let Self {
            payload,
            gate,
            length,
            most,
            bytes,
            ..
        } = self;
        let (most, read) = (*most, bytes.len());
        let chunk = poll_fn(|cx| {
            let polled = payload.poll_next_unpin(cx);
            if let (Poll::Pending, Some(gate)) = (&polled, gate.as_ref()) {
                gate.want(length.unwrap_or(most + 1).saturating_sub(read));
            }
            polled
        });
        let Some(chunk) = chunk.await else {
            return Ok(None);
        };
        let chunk = chunk.map_err(|_| BodyReadError::Incomplete)?;
        if read + chunk.len() > most {
            return Err(BodyReadError::TooLarge);
        }
        bytes.extend_from_slice(&chunk);
        Ok(Some(()))
    }
}

/// Reads and drops a small body that the reply did not need, so that the connection can take the
/// next request. A large or slow body stays unread, and the connection is closed. Does nothing for
/// a body that was read already.
pub async fn discard_body(headers: &HeaderMap, gate: Option<&ReadGate>, payload: &mut Payload) {
    let is_small = declared_length(headers).is_none_or(|length| length <= DISCARDED_BYTES);
    if !is_small || matches!(payload, Payload::None) {
        return;
    }
    let gate = gate.map(ReadGate::open);
    let mut left = DISCARDED_BYTES;
    let to_its_end = poll_fn(|cx| {
        while let Poll::Ready(next) = payload.poll_next_unpin(cx) {
            match next {
                Some(Ok(bytes)) if bytes.len() <= left => left -= bytes.len(),
                _ => return Poll::Ready(()),
            }
        }
        if let Some(gate) = &gate {
            gate.want(left + 1);
        }
        Poll::Pending
    });
    let _ = tokio::time::timeout(DISCARDED_ARRIVAL, to_its_end).await;
}

/// The value of `Content-Length`. Actix has refused values that are not numbers; a number beyond
/// `usize` is over every limit.
pub fn declared_length(headers: &HeaderMap) -> Option<usize> {
    let value = headers.get(CONTENT_LENGTH)?.to_str().ok()?;
    Some(value.parse().unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests;
