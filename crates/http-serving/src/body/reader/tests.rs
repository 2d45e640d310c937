//! Tests with a paused clock: the runtime advances time instead of sleeping.

use actix_web::error::PayloadError;
use actix_web::http::header::HeaderValue;
use actix_web::web::Bytes;
use futures_util::FutureExt as _;
use futures_util::stream::{self, Stream};

use super::*;

const KIB: usize = 1024;
const LIMITS: BodyLimits = BodyLimits {
    bytes: 1024 * KIB,
    arrival: Duration::from_secs(30),
    copies: 1,
};

fn reader() -> BodyReader {
    BodyReader {
        budget: BodyBudget::of_mib(32).unwrap(),
        lifecycle: Lifecycle::default(),
    }
}

/// Reads a body that arrives in these chunks; without a length it comes chunked.
async fn read(
    reader: &BodyReader,
    length: Option<usize>,
    chunks: impl Stream<Item = Result<Bytes, PayloadError>> + 'static,
) -> Result<ArrivedBody, BodyReadError> {
    let mut headers = HeaderMap::new();
    if let Some(length) = length {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    let mut payload = Payload::from(chunks.boxed_local());
    let body = SentBody {
        reader,
        gate: None,
        payload: &mut payload,
    };
    body.read(&headers, LIMITS).await
}

/// `number` chunks of 10 KiB, one after each pause.
fn chunks(
    number: usize,
    pause: Duration,
) -> impl Stream<Item = Result<Bytes, PayloadError>> + 'static {
    stream::iter(0..number).then(move |_| async move {
        tokio::time::sleep(pause).await;
        Ok(Bytes::from_static(&[b' '; 10 * KIB]))
    })
}

/// All the room for large bodies.
fn all_room(reader: &BodyReader) -> HeldRoom {
    let room = reader.budget.room_for_body(20 * 1024 * KIB, 1);
    room.now_or_never().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_body_of_a_usual_call_holds_no_room_and_a_larger_one_what_it_takes() {
    let reader = reader();
    let at_once = Duration::ZERO;
    for (length, number, held) in [
        (Some(10 * KIB), 1, None),
        (None, 1, None),
        (Some(60 * KIB), 6, Some(60 * KIB)),
        (None, 6, Some(60 * KIB)),
        (Some(1000 * KIB), 100, Some(1000 * KIB)),
    ] {
        let arrived = read(&reader, length, chunks(number, at_once))
            .await
            .unwrap();
        assert_eq!(arrived.bytes.len(), number * 10 * KIB);
        assert_eq!(reader.budget.held_bytes(), held.unwrap_or(0), "{length:?}");
        assert_eq!(arrived.room.is_some(), held.is_some());
    }
    assert_eq!(
        reader.budget.held_bytes(),
        0,
        "it is given back with the body"
    );
}

#[tokio::test(start_paused = true)]
async fn the_time_that_a_body_waits_for_room_is_not_counted() {
    let reader = reader();
    let room = all_room(&reader);
    let later = async {
        tokio::time::sleep(Duration::from_mins(10)).await;
        drop(room);
    };
    let slow = chunks(20, Duration::from_secs(1));
    let (arrived, ()) = tokio::join!(read(&reader, Some(200 * KIB), slow), later);
    assert_eq!(arrived.unwrap().bytes.len(), 200 * KIB);
    let never = stream::pending();
    let refused = read(&reader, Some(200 * KIB), never).await;
    assert_eq!(refused.unwrap_err(), BodyReadError::Incomplete);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_stands_still_gives_way_to_those_that_wait() {
    let reader = reader();
    let room = reader.budget.room_for_body(19 * 1024 * KIB, 1).await;
    let began = Instant::now();
    let still = read(&reader, Some(1024 * KIB), stream::pending());
    let next = read(&reader, Some(1024 * KIB), chunks(102, Duration::ZERO));
    let (still, next) = tokio::join!(still, next);
    assert_eq!(still.unwrap_err(), BodyReadError::Incomplete);
    assert!(next.is_ok() && began.elapsed() < Duration::from_secs(6));
    // when no request waits for room, the body has its full deadline
    let slow = chunks(3, Duration::from_secs(9));
    assert!(read(&reader, Some(30 * KIB), slow).await.is_ok());
    drop(room);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_comes_on_is_read_while_others_wait() {
    let reader = reader();
    let room = reader.budget.room_for_body(19 * 1024 * KIB, 1).await;
    let slow = read(&reader, Some(200 * KIB), chunks(20, Duration::from_secs(1)));
    let next = read(&reader, Some(1024 * KIB), chunks(102, Duration::ZERO));
    // a body that was read releases its room at once
    let (slow, next) = tokio::join!(slow.map(|it| it.map(drop)), next);
    assert!(slow.is_ok() && next.is_ok());
    drop(room);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_room_in_a_server_that_drains() {
    let reader = reader();
    let _room = all_room(&reader);
    let waiting = read(&reader, Some(1024 * KIB), stream::empty());
    let draining = reader.lifecycle.drain(Duration::ZERO);
    let (refused, _) = tokio::join!(waiting, draining);
    assert_eq!(refused.unwrap_err(), BodyReadError::Draining(Draining));
}

#[tokio::test(start_paused = true)]
async fn a_body_over_the_limit_is_refused_by_its_length_or_at_the_first_byte_beyond() {
    let reader = reader();
    let unread = stream::poll_fn(|_| panic!("nothing is read"));
    let refused = read(&reader, Some(1024 * KIB + 1), unread).await;
    assert_eq!(refused.unwrap_err(), BodyReadError::TooLarge);
    let refused = read(&reader, None, chunks(usize::MAX, Duration::ZERO)).await;
    assert_eq!(refused.unwrap_err(), BodyReadError::TooLarge);
}
