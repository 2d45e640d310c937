//! Requests over connections that the server closes, at every moment.

use std::cell::Cell;
use std::rc::Rc;

use refract_test_support::model_server::Script;

use super::*;

const ANSWER: &str = "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nanswer";

/// When a server ends a connection.
#[derive(Clone, Copy, Debug)]
enum Ends {
    /// Right after its first answer.
    AfterAnswer,
    /// After its first answer, whose head says so.
    AsAnnounced,
    /// In the middle of its second request.
    InRequest,
    /// After its second request, by a reset.
    AfterRequest,
    /// Some time after its second request.
    AfterThought,
    /// In the middle of the head of its second answer.
    InHead,
    /// In the middle of the body of its second answer.
    InBody,
}

/// A server that ends connections.
struct EndingServer {
    uri: Uri,
    counts: Rc<Counts>,
}

#[derive(Default)]
struct Counts {
    connections: Cell<usize>,
    requests: Cell<usize>,
}

impl EndingServer {
    /// A server that ends its first connection so, and answers on all others.
    async fn start(ends: Ends) -> Self {
        Self::serve(move |connection| (connection == 1).then_some(ends), 1).await
    }

    /// A server that answers this number of requests, and ends each connection after a further one.
    async fn answering(requests: usize) -> Self {
        Self::serve(|_| Some(Ends::AfterRequest), requests).await
    }

    async fn serve(ends: impl Fn(usize) -> Option<Ends> + 'static, answered: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let uri = format!("http://{}/v1/systemone", listener.local_addr().unwrap());
        let counts = Rc::new(Counts::default());
        let counted = Rc::clone(&counts);
        actix_rt::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.connections.set(counted.connections.get() + 1);
                let ends = ends(counted.connections.get());
                actix_rt::spawn(serve(stream, ends, answered, Rc::clone(&counted)));
            }
        });
        Self {
            uri: uri.parse().unwrap(),
            counts,
        }
    }

    /// Connections, and requests read to the end.
    fn counts(&self) -> (usize, usize) {
        (self.counts.connections.get(), self.counts.requests.get())
    }
}

/// Serves one connection; it ends so once the server has answered this number of requests.
async fn serve(mut stream: TcpStream, ends: Option<Ends>, answered: usize, counts: Rc<Counts>) {
    let announced = ANSWER.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
    loop {
        if matches!(ends, Some(Ends::InRequest)) && counts.requests.get() >= answered {
            stream.read_u8().await.ok();
            stream.set_zero_linger().unwrap();
            return;
        }
        if read_request(&mut stream).await.is_none() {
            return;
        }
        let is_last = counts.requests.get() >= answered;
        counts.requests.set(counts.requests.get() + 1);
        let sent = match ends {
            Some(Ends::AsAnnounced) => announced.as_bytes(),
            Some(Ends::InHead) if is_last => &ANSWER.as_bytes()[..20],
            Some(Ends::InBody) if is_last => &ANSWER.as_bytes()[..ANSWER.len() - 3],
            Some(ends @ (Ends::AfterRequest | Ends::AfterThought)) if is_last => {
                if matches!(ends, Ends::AfterThought) {
                    // longer than a closing takes to be noticed
                    tokio::time::sleep(Duration::from_millis(1_100)).await;
                }
                stream.set_zero_linger().unwrap();
                return;
            }
            Some(_) | None => ANSWER.as_bytes(),
        };
        stream.write_all(sent).await.unwrap();
        let is_over = match ends {
            Some(Ends::AfterAnswer | Ends::AsAnnounced) => true,
            Some(Ends::InHead | Ends::InBody) => is_last,
            Some(Ends::InRequest | Ends::AfterRequest | Ends::AfterThought) | None => false,
        };
        if is_over {
            return;
        }
    }
}

/// Reads a request to the end of its body; `None` if the connection ends before.
async fn read_request(stream: &mut TcpStream) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head.split("content-length: ").nth(1).unwrap();
    let length = length.split("\r\n").next().unwrap().parse().unwrap();
    stream.read_exact(&mut vec![0; length]).await.ok()?;
    Some(())
}

/// A body that no buffer of a socket holds.
fn large_body() -> RequestBody {
    RequestBody::new([Bytes::from(vec![b'x'; 16 * 1024 * 1024])])
}

#[actix_rt::test]
async fn a_request_over_a_connection_that_the_server_closed_goes_over_a_new_one() {
    for ends in [Ends::AfterAnswer, Ends::AsAnnounced] {
        let server = EndingServer::start(ends).await;
        let connections = connections(&server.uri);
        for body in [body(), large_body()] {
            let answer = answer(&connections, body).await;
            assert_eq!(answer.as_deref(), Ok(&b"answer"[..]), "{ends:?}");
        }
        assert_eq!(server.counts(), (2, 2), "{ends:?}");
    }
}

#[actix_rt::test]
async fn a_request_that_meets_the_closing_of_its_connection_goes_over_a_new_one() {
    for (ends, body, requests) in [
        (Ends::InRequest, body(), 2),
        (Ends::InRequest, large_body(), 2),
        (Ends::AfterRequest, body(), 3),
    ] {
        let server = EndingServer::start(ends).await;
        let connections = connections(&server.uri);
        for body in [self::body(), body] {
            let answer = answer(&connections, body).await;
            assert_eq!(answer.as_deref(), Ok(&b"answer"[..]), "{ends:?}");
        }
        assert_eq!(server.counts(), (2, requests), "{ends:?}");
    }
}

#[actix_rt::test]
async fn what_a_server_read_is_not_sent_again() {
    for ends in [Ends::InHead, Ends::InBody, Ends::AfterThought] {
        let server = EndingServer::start(ends).await;
        let connections = connections(&server.uri);
        assert!(answer(&connections, body()).await.is_ok());
        let second = answer(&connections, body()).await;
        assert_eq!(second, Err(ModelError::Disconnected), "{ends:?}");
        assert_eq!(server.counts(), (1, 2), "{ends:?}");
        // the next request goes over a new connection
        assert!(answer(&connections, body()).await.is_ok());
    }
}

#[actix_rt::test]
async fn a_request_over_a_new_connection_is_not_sent_again() {
    let server = EndingServer::answering(0).await;
    let connections = connections(&server.uri);
    assert_eq!(failure(&connections).await, ModelError::Disconnected);
    assert_eq!(server.counts(), (1, 1));
}

#[actix_rt::test]
async fn threads_share_idle_connections_over_tls_only() {
    let server = ModelServer::start(ScriptedReply::body("answer"));
    let (certificate, uri) = tls_server("127.0.0.1", &server).await;
    let over_tls = trusting(&uri, [certificate]);
    let plain = connections(&format!("{}/systemone", server.url()).parse().unwrap());
    for (first, opened) in [(over_tls, 1), (plain, 2)] {
        let before = server.counts().connections;
        let second = first.with_none_open();
        for connections in [&first, &second, &first] {
            assert_eq!(answer(connections, body()).await.unwrap(), "answer");
        }
        assert_eq!(server.counts().connections - before, opened);
    }
}

/// Runs on a thread whose runtime ends with the future.
fn on_a_thread_that_ends<F: Future<Output = ()>>(
    run: impl FnOnce() -> F + Send + 'static,
) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || actix_rt::System::new().block_on(run()))
}

#[actix_rt::test]
async fn the_end_of_the_thread_that_lent_a_connection_is_nothing_to_the_borrower() {
    for held in [
        ScriptedReply::body("answer").held(),
        ScriptedReply::body("answer").body_held(),
    ] {
        let server = ModelServer::start(Script::first([ScriptedReply::body("answer")]).then(held));
        let (certificate, uri) = tls_server("127.0.0.1", &server).await;
        let ours = trusting(&uri, [certificate]);
        let theirs = ours.with_none_open();
        let (asked, is_asked) = tokio::sync::oneshot::channel();
        let (end, ends) = tokio::sync::oneshot::channel::<()>();
        let thread = on_a_thread_that_ends(async move || {
            asked.send(answer(&theirs, body()).await.is_ok()).unwrap();
            ends.await.unwrap();
        });
        assert!(is_asked.await.unwrap());
        let ended = async {
            server.wait_until(|counts| counts.requests == 2).await;
            end.send(()).unwrap();
            let ended = tokio::task::spawn_blocking(|| thread.join().unwrap());
            ended.await.unwrap();
            server.release_all();
        };
        let (answer, ()) = tokio::join!(answer(&ours, body()), ended);
        assert_eq!(answer.unwrap(), "answer");
        let counts = server.counts();
        assert_eq!((counts.connections, counts.requests), (1, 2));
    }
}

#[actix_rt::test]
async fn the_end_of_the_thread_that_borrowed_a_connection_is_nothing_to_the_lender() {
    let held = ScriptedReply::body("answer").held();
    let replies = [ScriptedReply::body("answer"), held];
    let script = Script::first(replies).then(ScriptedReply::body("answer"));
    let server = ModelServer::start(script);
    let (certificate, uri) = tls_server("127.0.0.1", &server).await;
    let ours = trusting(&uri, [certificate]);
    assert_eq!(answer(&ours, body()).await.unwrap(), "answer");
    let theirs = ours.with_none_open();
    let (end, ends) = tokio::sync::oneshot::channel::<()>();
    let thread = on_a_thread_that_ends(async move || {
        let abandoned = tokio::select! {
            _ = answer(&theirs, body()) => false,
            _ = ends => true,
        };
        assert!(abandoned);
    });
    server.wait_until(|counts| counts.requests == 2).await;
    end.send(()).unwrap();
    let ended = tokio::task::spawn_blocking(|| thread.join().unwrap());
    ended.await.unwrap();
    assert_eq!(answer(&ours, body()).await.unwrap(), "answer");
    let counts = server.counts();
    assert_eq!((counts.connections, counts.requests), (2, 3));
}
