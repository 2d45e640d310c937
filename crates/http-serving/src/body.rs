//! Bodies of requests: read frame by frame, within limits and a memory budget.

mod budget;
pub(crate) mod frame;
mod reader;

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::header::HeaderMap;
use actix_web::web::Bytes;
use futures_util::StreamExt as _;
use tokio::time::{Instant, timeout_at};

use crate::gate::{OpenGate, ReadGate};

pub use self::budget::{BodyBudget, BudgetTooSmall, HeldRoom};
pub use self::reader::{
    ArrivedBody, BodyLimits, BodyReadError, BodyReader, SentBody, declared_length, discard_body,
};

/// Bytes that are read from the connection at once.
const AT_ONCE: usize = 64 * 1024;
/// Bytes that an arriving file holds in memory: what is read at once, a piece of it that is being
/// stored, and what separates it from the other parts of its form.
const HELD: usize = 512 * 1024;
/// A body that stalls for this time is given up.
const STANDSTILL: Duration = Duration::from_secs(30);
/// A body stalls if fewer bytes than this arrive within [`STANDSTILL`].
const COMES_ON: usize = 16 * 1024;

/// The chunks of a body as they arrive. Holds room for half a MiB in the budget, however large the
/// body is.
pub struct BodyChunks<'a> {
    payload: &'a mut Payload,
    gate: Option<OpenGate<'a>>,
    most: usize,
    read: usize,
    /// The bytes that had arrived, and when it is looked again whether more have.
    looked_at: usize,
    look: Instant,
    _room: HeldRoom,
}

impl<'a> SentBody<'a> {
    /// Begins to read a body of up to `most` bytes chunk by chunk, as soon as there is room.
    ///
    /// # Errors
    /// [`BodyReadError::TooLarge`] by the declared length; [`BodyReadError::Draining`] while it
    /// waits for room.
    pub async fn chunks(
        self,
        headers: &HeaderMap,
        most: usize,
    ) -> Result<BodyChunks<'a>, BodyReadError> {
        if declared_length(headers).is_some_and(|length| length > most) {
            return Err(BodyReadError::TooLarge);
        }
        let room = self.reader.budget.room_for_body(HELD, 1);
        let room = self.reader.lifecycle.unless_draining(room).await?;
        Ok(BodyChunks {
            payload: self.payload,
            gate: self.gate.map(ReadGate::open),
            most,
            read: 0,
            looked_at: 0,
            look: Instant::now() + STANDSTILL,
            _room: room,
        })
    }
}

impl BodyChunks<'_> {
    /// The next bytes; `None` at the end.
    ///
    /// # Errors
    /// [`BodyReadError::TooLarge`] at the first byte over the limit; [`BodyReadError::Incomplete`]
    /// if the body ends early or stalls.
    pub async fn next(&mut self) -> Result<Option<Bytes>, BodyReadError> {
        loop {
            let Self { payload, gate, .. } = self;
            let chunk = poll_fn(|cx| {
                let polled = payload.poll_next_unpin(cx);
                if let (Poll::Pending, Some(gate)) = (&polled, gate.as_ref()) {
                    gate.want(AT_ONCE);
                }
                polled
            });
            let Ok(chunk) = timeout_at(self.look, chunk).await else {
                if self.read - self.looked_at < COMES_ON {
                    return Err(BodyReadError::Incomplete);
                }
                self.looked_at = self.read;
                self.look = Instant::now() + STANDSTILL;
                continue;
            };
            let Some(chunk) = chunk else {
                return Ok(None);
            };
            let chunk = chunk.map_err(|_| BodyReadError::Incomplete)?;
            self.read = self.read.saturating_add(chunk.len());
            if self.read > self.most {
                return Err(BodyReadError::TooLarge);
            }
            return Ok(Some(chunk));
        }
    }

    /// Awaits a future without reading the body, such as the storing of a chunk. That time does not
    /// count as a standstill.
    pub async fn wait_for<T>(&mut self, future: impl Future<Output = T>) -> T {
        let began = Instant::now();
        let outcome = future.await;
        self.look += began.elapsed();
        outcome
    }
}

#[cfg(test)]
mod tests {
    use actix_web::error::PayloadError;
    use actix_web::http::header::{CONTENT_LENGTH, HeaderValue};
    use futures_util::stream;

    use super::*;
    use crate::body::reader::BodyReader;

    const KIB: usize = 1024;

    /// Reads a body of chunks of 10 KiB, each after a pause, and stores each for some time. Returns
    /// the number of bytes.
    async fn read(
        chunks: usize,
        pause: Duration,
        storing: Duration,
        length: Option<usize>,
    ) -> Result<usize, BodyReadError> {
        let reader = BodyReader::default();
        let mut headers = HeaderMap::new();
        if let Some(length) = length {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
        }
        let chunks = stream::iter(0..chunks).then(move |_| async move {
            tokio::time::sleep(pause).await;
            Ok::<_, PayloadError>(Bytes::from_static(&[b' '; 10 * KIB]))
        });
        let mut payload = Payload::from(chunks.boxed_local());
        let body = SentBody {
            reader: &reader,
            gate: None,
            payload: &mut payload,
        };
        let mut chunks = body.chunks(&headers, 1024 * KIB).await?;
        assert_eq!(reader.budget.held_bytes(), HELD);
        let mut bytes = 0;
        while let Some(chunk) = chunks.next().await? {
            bytes += chunk.len();
            chunks.wait_for(tokio::time::sleep(storing)).await;
        }
        drop(chunks);
        assert_eq!(reader.budget.held_bytes(), 0);
        Ok(bytes)
    }

    const AT_ONCE: Duration = Duration::ZERO;

    #[tokio::test(start_paused = true)]
    async fn a_body_is_used_while_it_arrives() {
        assert_eq!(read(3, AT_ONCE, AT_ONCE, None).await, Ok(30 * KIB));
        assert_eq!(read(0, AT_ONCE, AT_ONCE, None).await, Ok(0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_over_the_limit_is_refused_by_its_length_or_its_bytes() {
        let too_large = Err(BodyReadError::TooLarge);
        assert_eq!(read(1, AT_ONCE, AT_ONCE, Some(1025 * KIB)).await, too_large);
        assert_eq!(read(103, AT_ONCE, AT_ONCE, None).await, too_large);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_stalls_is_given_up_and_one_that_is_stored_slowly_is_not() {
        let slow = Duration::from_secs(20);
        assert_eq!(
            read(4, slow, AT_ONCE, None).await,
            Err(BodyReadError::Incomplete)
        );
        assert_eq!(
            read(9, Duration::from_secs(10), AT_ONCE, None).await,
            Ok(90 * KIB)
        );
        assert_eq!(
            read(4, AT_ONCE, Duration::from_mins(1), None).await,
            Ok(40 * KIB)
        );
    }
}
