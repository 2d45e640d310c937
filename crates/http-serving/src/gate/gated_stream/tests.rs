//! Tests over real connections. With a paused clock, the runtime advances time instead of sleeping.

use std::future::poll_fn;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;

use super::*;
use crate::body::frame::{BodyFrame, ChunkPlace};

/// A client's connection and the server's side of it.
async fn connected(budget: &BodyBudget) -> (TcpStream, GatedStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap())
        .await
        .unwrap();
    let (stream, _) = listener.accept().await.unwrap();
    (client, GatedStream::new(stream, budget.clone()))
}

/// Reads as the HTTP server does: repeatedly, until it has to wait.
async fn burst(stream: &mut GatedStream) -> io::Result<String> {
    let mut read = Vec::new();
    poll_fn(|cx| {
        loop {
            let mut bytes = [0; 8192];
            let mut buf = ReadBuf::new(&mut bytes);
            match Pin::new(&mut *stream).poll_read(cx, &mut buf) {
                Poll::Ready(Ok(())) if buf.filled().is_empty() => return Poll::Ready(Ok(())),
                Poll::Ready(Ok(())) => read.extend_from_slice(buf.filled()),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending if read.is_empty() => return Poll::Pending,
                Poll::Pending => return Poll::Ready(Ok(())),
            }
        }
    })
    .await?;
    Ok(String::from_utf8(read).unwrap())
}

/// Waits until this many bytes have arrived at the server's side.
async fn arrived(stream: &GatedStream, bytes: usize) {
    let mut there = vec![0; bytes];
    while stream.io.get_ref().peek(&mut there).await.unwrap() < bytes {
        tokio::task::yield_now().await;
    }
}

/// Whether reading the stream returns something at once.
fn is_reported(stream: &mut GatedStream) -> bool {
    burst(stream).now_or_never().is_some()
}

const NO_BODY: BodyFrame = BodyFrame::Length(0);
const IN_CHUNKS: BodyFrame = BodyFrame::Chunks(ChunkPlace::Size(0));

const GET: &str = "GET / HTTP/1.1\r\nHost: t\r\n\r\n";

#[tokio::test]
async fn of_many_requests_one_is_let_through_at_a_time() {
    let (mut client, mut stream) = connected(&BodyBudget::default()).await;
    client.write_all(GET.repeat(3).as_bytes()).await.unwrap();
    arrived(&stream, 3 * GET.len()).await;
    let mut read = burst(&mut stream).await.unwrap();
    assert_eq!(read.matches("\r\n\r\n").count(), 1, "{read:?}");
    let first = stream.gate().clone().begin(NO_BODY);
    assert!(!is_reported(&mut stream), "the first is not answered yet");
    drop(first);
    for requests in 2..=3 {
        read += &burst(&mut stream).await.unwrap();
        assert_eq!(read.matches("\r\n\r\n").count(), requests, "{read:?}");
        drop(stream.gate().clone().begin(NO_BODY));
    }
    assert_eq!(read, GET.repeat(3));
}

#[tokio::test]
async fn a_body_that_nobody_reads_stays_with_the_system() {
    let budget = BodyBudget::default();
    let (mut client, mut stream) = connected(&budget).await;
    let head = "POST / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n";
    let body = "a".repeat(50_000 + READ_AHEAD - head.len());
    client
        .write_all(format!("{head}{body}").as_bytes())
        .await
        .unwrap();
    arrived(&stream, 50_000 + READ_AHEAD).await;
    assert_eq!(burst(&mut stream).await.unwrap(), head);
    assert_eq!(stream.kept.rest().len(), READ_AHEAD - head.len());
    let under_way = stream.gate().clone().begin(BodyFrame::Length(1_000_000));
    assert!(!is_reported(&mut stream));
    assert!(stream.kept.rest().len() <= READ_AHEAD);
    let gate = stream.gate().clone();
    let open = gate.open();
    open.want(40_000);
    let mut read = 0;
    while read < 40_000 {
        read += burst(&mut stream).await.unwrap().len();
    }
    assert_eq!(read, 40_000);
    assert!(!is_reported(&mut stream), "no more is wanted");
    drop(open);
    drop(under_way);
    // the server reads and drops the rest, which needs no room for a long head
    while read < body.len() {
        read += burst(&mut stream).await.unwrap().len();
    }
    assert_eq!(budget.held_bytes(), 0, "it is no long head");
}

#[tokio::test]
async fn a_body_is_read_without_the_requests_behind_it() {
    let chunks = "5\r\nhello\r\n0\r\n\r\n";
    for (frame, body) in [(IN_CHUNKS, chunks), (BodyFrame::Length(5), "hel\n\n")] {
        let (mut client, mut stream) = connected(&BodyBudget::default()).await;
        let sent = format!("{body}{}", GET.repeat(2000));
        let under_way = stream.gate().clone().begin(frame);
        let gate = stream.gate().clone();
        let open = gate.open();
        open.want(1_000_000);
        client.write_all(sent.as_bytes()).await.unwrap();
        arrived(&stream, READ_OF_BODY.min(30_000)).await;
        assert_eq!(burst(&mut stream).await.unwrap(), body);
        assert!(
            !is_reported(&mut stream),
            "more is wanted, but there is no more"
        );
        assert!(stream.kept.rest().len() <= READ_AHEAD);
        drop((open, under_way));
        assert_eq!(burst(&mut stream).await.unwrap(), GET);
    }
}

#[tokio::test]
async fn a_client_that_goes_away_meanwhile_is_noticed() {
    let (client, mut stream) = connected(&BodyBudget::default()).await;
    let _under_way = stream.gate().clone().begin(NO_BODY);
    assert!(!is_reported(&mut stream));
    drop(client);
    assert_eq!(burst(&mut stream).await.unwrap(), "");
}

#[tokio::test]
async fn a_long_head_needs_room() {
    let budget = BodyBudget::of_mib(32).unwrap();
    let all = budget.room_for_body(20 * 1024 * 1024, 1).await;
    let (mut client, mut stream) = connected(&budget).await;
    let head = format!("GET /?{} HTTP/1.1\r\nHost: t\r\n\r\n", "a".repeat(60_000));
    let (writing, ()) = tokio::join!(client.write_all(head.as_bytes()), async {
        let mut read = String::new();
        while read.len() < USUAL_HEAD {
            read += &burst(&mut stream).await.unwrap();
        }
        assert!(!is_reported(&mut stream) && read.len() == USUAL_HEAD);
        drop(all);
        while read.len() < head.len() {
            read += &burst(&mut stream).await.unwrap();
        }
        assert_eq!(budget.held_bytes(), LONG_HEAD);
        drop(stream.gate().clone().begin(NO_BODY));
        assert!(!is_reported(&mut stream));
        assert_eq!(budget.held_bytes(), 0);
    });
    writing.unwrap();
}

#[tokio::test]
async fn a_client_whose_bytes_are_not_read_gets_its_reply_all_the_same() {
    let (mut client, mut stream) = connected(&BodyBudget::default()).await;
    client.write_all(&vec![b'a'; 50_000]).await.unwrap();
    arrived(&stream, 50_000).await;
    stream.write_all(b"no").await.unwrap();
    drop(stream);
    let mut reply = String::new();
    client.read_to_string(&mut reply).await.unwrap();
    assert_eq!(reply, "no");
}

#[tokio::test(start_paused = true)]
async fn a_head_that_does_not_come_to_its_end_is_given_up() {
    let (mut client, mut stream) = connected(&BodyBudget::default()).await;
    client.write_all(b"GET / HTTP/1.1\r\nHost:").await.unwrap();
    assert!(burst(&mut stream).await.unwrap().starts_with("GET"));
    let given_up = burst(&mut stream).await.unwrap_err();
    assert_eq!(given_up.kind(), io::ErrorKind::TimedOut);
}

#[tokio::test(start_paused = true)]
async fn so_is_one_that_came_with_the_request_before() {
    let begun = "GET / HTTP/1.1\r\nHost:";
    for (head, body, frame) in [
        (GET, "", NO_BODY),
        ("POST / HTTP/1.1\r\n\r\n", "hello", BodyFrame::Length(5)),
        ("POST / HTTP/1.1\n\n", "hel\n\nlo", BodyFrame::Length(7)),
        (
            "POST / HTTP/1.1\r\n\r\n",
            "5\r\nhello\r\n0\r\n\r\n",
            IN_CHUNKS,
        ),
    ] {
        for begun in [begun, ""] {
            let (mut client, mut stream) = connected(&BodyBudget::default()).await;
            let sent = format!("{head}{body}{begun}");
            client.write_all(sent.as_bytes()).await.unwrap();
            arrived(&stream, sent.len()).await;
            assert_eq!(burst(&mut stream).await.unwrap(), head);
            let under_way = stream.gate().clone().begin(frame);
            let gate = stream.gate().clone();
            let open = gate.open();
            open.want(1000);
            if !body.is_empty() {
                assert_eq!(burst(&mut stream).await.unwrap(), body);
            }
            drop((open, under_way));
            if begun.is_empty() {
                // the HTTP server's timeout for idle connections applies
                let next = tokio::time::timeout(Duration::from_mins(1), burst(&mut stream));
                assert!(next.await.is_err());
            } else {
                assert_eq!(burst(&mut stream).await.unwrap(), begun);
                let given_up = burst(&mut stream).await.unwrap_err();
                assert_eq!(given_up.kind(), io::ErrorKind::TimedOut);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_rest_of_a_body_that_nobody_reads_is_given_up() {
    for frame in [IN_CHUNKS, BodyFrame::Length(100), BodyFrame::Rest] {
        let (mut client, mut stream) = connected(&BodyBudget::default()).await;
        drop(stream.gate().clone().begin(frame));
        client.write_all(b"5\r\nhe").await.unwrap();
        assert_eq!(burst(&mut stream).await.unwrap(), "5\r\nhe");
        let given_up = burst(&mut stream).await.unwrap_err();
        assert_eq!(given_up.kind(), io::ErrorKind::TimedOut);
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_takes_nothing_of_its_reply_is_given_up() {
    let (client, mut stream) = connected(&BodyBudget::default()).await;
    let reply = vec![b'a'; 64 * 1024 * 1024];
    let given_up = stream.write_all(&reply).await.unwrap_err();
    assert_eq!(given_up.kind(), io::ErrorKind::TimedOut);
    drop(client);
}
