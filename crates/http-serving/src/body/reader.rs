//! Reads a body within the budget, and gives up one that does not come.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::header::{CONTENT_LENGTH, HeaderMap, UPGRADE};
use futures_util::StreamExt as _;
use tokio::time::{Instant, timeout_at};

use crate::body::budget::{BodyBudget, HeldRoom};
use crate::gate::read_gate::{OpenGate, ReadGate};
use crate::lifecycle::{Draining, Lifecycle};

/// The largest body that needs no room in the budget: thousands of callers may send as much.
const USUAL_BYTES: usize = 16 * 1024;
/// While others wait for room, a body that stands still for this time is given up.
const STANDSTILL: Duration = Duration::from_secs(5);
/// A body of which less than this came within that time stands still.
const COMES_ON: usize = 16 * 1024;

/// The most of a body that is read and dropped after a reply that did not need it.
const DISCARDED_BYTES: usize = 64 * 1024;
/// How long a body that is only dropped may take to arrive: most come with the head.
const DISCARDED_ARRIVAL: Duration = Duration::from_millis(100);

/// What the bodies of a listener's requests are read with. Clones share one budget.
#[derive(Clone, Debug, Default)]
pub struct BodyReader {
    /// What bodies may hold.
    pub budget: BodyBudget,
    /// A body waits for room until the server drains.
    pub lifecycle: Lifecycle,
}

/// The body of a request, which is not read yet.
pub struct SentBody<'a> {
    /// What it is read with.
    pub reader: &'a BodyReader,
    /// The gate of the request's connection.
    pub gate: Option<&'a ReadGate>,
    /// The body on its way.
    pub payload: &'a mut Payload,
}

/// What a body may be.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// The most bytes.
    pub bytes: usize,
    /// How long the body may take to arrive. The time for which it waits for room does not count.
    pub arrival: Duration,
    /// How many times its bytes are in memory while it is read and used.
    pub copies: usize,
}

/// A body that arrived.
#[derive(Debug, Default)]
pub struct ArrivedBody {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The room that the body holds, to be kept for as long as its bytes and what is made of them.
    /// `None` for a body of up to 16 KiB, which is no more than any connection may hold.
    pub room: Option<HeldRoom>,
}

/// Why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyReadError {
    /// It is larger than it may be.
    #[error("the body is too large")]
    TooLarge,
    /// It ended early, is framed wrongly or did not arrive in time.
    #[error("the body did not arrive")]
    Incomplete,
    /// The server drains, and there was no room before.
    #[error(transparent)]
    Draining(#[from] Draining),
}

/// A body while it is read.
struct ArrivingBody<'a> {
    payload: &'a mut Payload,
    gate: Option<OpenGate<'a>>,
    /// The length that was declared; `None` for a body in chunks.
    length: Option<usize>,
    most: usize,
    deadline: Instant,
    bytes: Vec<u8>,
}

impl SentBody<'_> {
    /// Reads the body, once there is room for it.
    ///
    /// # Errors
    /// [`BodyReadError::TooLarge`] from the declared length, before anything is read, or at the first
    /// byte over the limit; the others.
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
        // a body after `Upgrade: websocket` ends with the connection, whatever its length says
        let length = length.filter(|_| !headers.contains_key(UPGRADE));
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
    /// Reads nothing until a future has ended. That time does not count.
    async fn wait_for<T>(&mut self, future: impl Future<Output = T>) -> T {
        if let Some(gate) = &self.gate {
            gate.want(0);
        }
        let began = Instant::now();
        let outcome = future.await;
        self.deadline += began.elapsed();
        outcome
    }

    /// Reads until the body has more bytes than `enough` or ends; whether it ended.
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

    /// Takes the next bytes; `None` at the end.
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
/// next request. A body that is large or slow stays unread, and the connection is closed. A body that
/// was read already leaves nothing to drop.
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

/// The value of `Content-Length`. Actix has refused values that are no number; a number beyond `usize`
/// is over every limit.
pub fn declared_length(headers: &HeaderMap) -> Option<usize> {
    let value = headers.get(CONTENT_LENGTH)?.to_str().ok()?;
    Some(value.parse().unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests;
