//! Over real connections. With a paused clock the runtime skips every wait for a time that nothing
//! else ends.

use std::future::poll_fn;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;

use super::*;

/// A client's connection and the server's side of it.
async fn connected(budget: &BodyBudget) -> (TcpStream, GatedStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap())
        .await
        .unwrap();
    let (stream, _) = listener.accept().await.unwrap();
    (client, GatedStream::new(stream, budget.clone()))
}

/// Reads as the HTTP server does: on and on, until it is told to wait.
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

/// Whether the stream has something to say now.
fn is_told(stream: &mut GatedStream) -> bool {
    burst(stream).now_or_never().is_some()
}

const GET: &str = "GET / HTTP/1.1\r\nHost: t\r\n\r\n";

#[tokio::test]
async fn of_many_requests_one_is_let_through_at_a_time() {
    let (mut client, mut stream) = connected(&BodyBudget::default()).await;
    client.write_all(GET.repeat(3).as_bytes()).await.unwrap();
    arrived(&stream, 3 * GET.len()).await;
    let mut read = burst(&mut stream).await.unwrap();
    assert_eq!(read.matches("\r\n\r\n").count(), 1, "{read:?}");
    let first = stream.gate().clone().begin(0);
    assert!(!is_told(&mut stream), "the first is not answered yet");
    drop(first);
    for requests in 2..=3 {
        read += &burst(&mut stream).await.unwrap();
        assert_eq!(read.matches("\r\n\r\n").count(), requests, "{read:?}");
        drop(stream.gate().clone().begin(0));
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
    assert_eq!(burst(&mut stream).await.unwrap().len(), READ_AHEAD);
    assert_eq!(budget.held_bytes(), 0, "it is no long head");
    let under_way = stream.gate().clone().begin(1_000_000);
    assert!(!is_told(&mut stream));
    assert!(stream.kept.rest().len() <= READ_BESIDE);
    let gate = stream.gate().clone();
    let open = gate.open();
    open.want(40_000);
    let mut read = 0;
    while read < 40_000 {
        read += burst(&mut stream).await.unwrap().len();
    }
    assert_eq!(read, 40_000);
    assert!(!is_told(&mut stream), "no more is wanted");
    drop(open);
    drop(under_way);
    // the rest is read and dropped by the server, without room for a long head
    while read < 50_000 {
        read += burst(&mut stream).await.unwrap().len();
    }
}

#[tokio::test]
async fn a_body_in_chunks_is_read_without_the_requests_behind_it() {
    let (mut client, mut stream) = connected(&BodyBudget::default()).await;
    let chunks = "5\r\nhello\r\n0\r\n\r\n";
    let sent = format!("{chunks}{}", GET.repeat(2));
    let under_way = stream.gate().clone().begin(0);
    let gate = stream.gate().clone();
    let open = gate.open();
    open.want_at_most(1_000_000);
    client.write_all(sent.as_bytes()).await.unwrap();
    arrived(&stream, sent.len()).await;
    let read = burst(&mut stream).await.unwrap();
    assert!(read.starts_with(chunks) && read.len() < chunks.len() + GET.len());
    drop((open, under_way));
}

#[tokio::test]
async fn a_client_that_goes_away_meanwhile_is_noticed() {
    let (client, mut stream) = connected(&BodyBudget::default()).await;
    let _under_way = stream.gate().clone().begin(0);
    assert!(!is_told(&mut stream));
    drop(client);
    assert_eq!(burst(&mut stream).await.unwrap(), "");
}

#[tokio::test]
async fn a_long_head_needs_room() {
    let budget = BodyBudget::of_mib(32).unwrap();
    let all = budget.room_for_body(20 * 1024 * 1024, 1).await;
    let (mut client, mut stream) = connected(&budget).await;
    let head = format!("GET /?{} HTTP/1.1\r\nHost: t\r\n\r\n", "a".repeat(60_000));
    let (writing, _) = tokio::join!(client.write_all(head.as_bytes()), async {
        let mut read = String::new();
        while read.len() < USUAL_HEAD {
            read += &burst(&mut stream).await.unwrap();
        }
        assert!(!is_told(&mut stream) && read.len() == USUAL_HEAD);
        drop(all);
        while read.len() < head.len() {
            read += &burst(&mut stream).await.unwrap();
        }
        assert_eq!(budget.held_bytes(), LONG_HEAD);
        drop(stream.gate().clone().begin(0));
        assert!(!is_told(&mut stream));
        assert_eq!(budget.held_bytes(), 0);
    });
    writing.unwrap();
}

#[tokio::test]
async fn a_client_whose_bytes_are_not_read_gets_its_reply_all_the_same() {
    let (mut client, mut stream) = connected(&BodyBudget::default()).await;
    client.write_all(&[b'a'; 50_000]).await.unwrap();
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
async fn a_client_that_takes_nothing_of_its_reply_is_given_up() {
    let (client, mut stream) = connected(&BodyBudget::default()).await;
    let reply = vec![b'a'; 64 * 1024 * 1024];
    let given_up = stream.write_all(&reply).await.unwrap_err();
    assert_eq!(given_up.kind(), io::ErrorKind::TimedOut);
    drop(client);
}
