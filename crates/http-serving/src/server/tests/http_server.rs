//! The stream and the HTTP server each find the end of a body. These tests show that they agree:
//! however requests are framed and split, all of them are answered in order, no body is taken for a
//! request, and no connection hangs.

use std::pin::Pin;
use std::task::{Context, Poll};

use actix_server::ServerHandle;
use actix_web::body::{BodySize, MessageBody};
use actix_web::http::StatusCode;
use actix_web::web::{Bytes, Payload};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::task::JoinHandle;

use super::super::*;
use crate::{BodyLimits, BodyReader, RequestUnderWay, SentBody, bind, discard_body};

/// The bytes of a reply, and its request.
struct Echo {
    bytes: Bytes,
    under_way: RequestUnderWay,
}

impl MessageBody for Echo {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.bytes.len().try_into().unwrap())
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        assert!(self.under_way.gate().is_some());
        let bytes = std::mem::take(&mut self.bytes);
        Poll::Ready((!bytes.is_empty()).then_some(Ok(bytes)))
    }
}

/// Answers `/read` with the path and body in brackets, and anything else without reading the body.
async fn echo(request: HttpRequest, payload: Payload) -> HttpResponse {
    let under_way = RequestUnderWay::begin(&request);
    let mut payload = payload.into_inner();
    let (mut status, mut body) = (StatusCode::OK, Vec::new());
    if request.path() == "/read" {
        let limits = BodyLimits {
            bytes: 100_000,
            arrival: Duration::from_mins(1),
            copies: 1,
        };
        let sent = SentBody {
            reader: &BodyReader::default(),
            gate: under_way.gate(),
            payload: &mut payload,
        };
        match sent.read(request.headers(), limits).await {
            Ok(arrived) => body = arrived.bytes,
            Err(_) => status = StatusCode::UNPROCESSABLE_ENTITY,
        }
    }
    discard_body(request.headers(), under_way.gate(), &mut payload).await;
    let bytes = [b"[", request.path().as_bytes(), b" ", &body, b"]"].concat();
    HttpResponse::build(status)
        .message_body(Echo {
            bytes: bytes.into(),
            under_way,
        })
        .unwrap()
        .map_into_boxed_body()
}

/// The statuses and bodies of a server's replies to text sent in pieces of this length.
async fn replies(server: &str, sent: &str, piece: usize) -> String {
    let mut client = TcpStream::connect(server).await.unwrap();
    client.set_nodelay(true).unwrap();
    let (mut reading, mut writing) = client.split();
    let write = async {
        for piece in sent.as_bytes().chunks(piece) {
            // the server may have closed the connection
            if writing.write_all(piece).await.is_err() {
                return;
            }
            tokio::task::yield_now().await;
        }
        let _ = writing.shutdown().await;
    };
    let mut received = Vec::new();
    let both = async { tokio::join!(write, reading.read_to_end(&mut received)) };
    let within = tokio::time::timeout(Duration::from_secs(8), both).await;
    let received = String::from_utf8(received).unwrap();
    assert!(
        within.is_ok(),
        "it hangs with {received:?} after {sent:?} by {piece}"
    );
    let replies = received.split("HTTP/1.").skip(1);
    let replies = replies.map(|reply| {
        let (head, body) = reply.split_once("\r\n\r\n").unwrap();
        assert!(!head.contains("upgrade"), "{head:?} after {sent:?}");
        format!("{}{body}", head.get(2..5).unwrap())
    });
    replies.collect::<Vec<_>>().join(" ")
}

fn post(path: &str, headers: &str, body: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: a\r\n{headers}\r\n{body}")
}

const NEXT: &str = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n";
const CHUNKED: &str = "Transfer-Encoding: chunked\r\n";
const CHUNKS: &str = "5;a=b\r\nhello\r\n00a \r\n\r\n0\r\n\r\nGET\r\n000\r\n\r\n";
const LENGTH: &str = "Content-Length: 5\r\n";

/// A running server.
struct Served {
    address: String,
    handle: ServerHandle,
    serving: JoinHandle<io::Result<()>>,
}

impl Served {
    fn start() -> Self {
        let listener = bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let serving = Serving {
            listener,
            workers: 1.try_into().unwrap(),
            connections: 100,
            connections_for_each_mib: 16,
            linger: Duration::from_secs(2),
            budget: BodyBudget::default(),
        };
        let server = http_server(
            serving,
            Arc::new(|| -> Handler {
                Rc::new(|request, payload| Box::pin(echo(request, payload)))
            }),
        )
        .unwrap();
        Self {
            address,
            handle: server.handle(),
            serving: tokio::spawn(server),
        }
    }

    async fn stop(self) {
        self.handle.stop(false).await;
        self.serving.await.unwrap().unwrap();
    }
}

/// Sends each text, followed by a request, to a new server, in pieces of several lengths.
async fn assert_replies(cases: &[(String, &str)]) {
    let server = Served::start();
    for (sent, expected) in cases {
        let sent = format!("{sent}{NEXT}");
        for piece in [usize::MAX, 40, 7, 1] {
            let replies = replies(&server.address, &sent, piece).await;
            assert_eq!(replies, *expected, "{sent:?} by {piece}");
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn every_request_is_answered_however_it_is_framed_and_cut() {
    let hello = "200[/read hello] 200[/next ]";
    let chunks = "200[/read hello\r\n0\r\n\r\nGET] 200[/next ]";
    let unread = "200[/no ] 200[/next ]";
    let cases = [
        (post("/read", LENGTH, "hello"), hello),
        (post("/no", LENGTH, "hello"), unread),
        (post("/read", "Content-Length:  5 \r\n", "hello"), hello),
        (
            post("/read", "Content-Length: 0\r\n", ""),
            "200[/read ] 200[/next ]",
        ),
        (post("/read", "", ""), "200[/read ] 200[/next ]"),
        (format!("\r\n\r\n{}", post("/read", LENGTH, "hello")), hello),
        (
            post("/read", LENGTH, "hello").replacen("\r\n", "\n", 9),
            hello,
        ),
        (
            post("/read", LENGTH, "\n\r\n\r\n"),
            "200[/read \n\r\n\r\n] 200[/next ]",
        ),
        (post("/read", CHUNKED, CHUNKS), chunks),
        (post("/no", CHUNKED, CHUNKS), unread),
        (
            post("/read", CHUNKED, "0\r\nA: b\r\nc\r\n\r\n"),
            "200[/read ] 200[/next ]",
        ),
        (
            format!("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n{LENGTH}\r\nhello"),
            "200[ ] 200[/next ]",
        ),
        (
            NEXT.repeat(3),
            "200[/next ] 200[/next ] 200[/next ] 200[/next ]",
        ),
    ];
    assert_replies(&cases).await;
}

#[tokio::test]
async fn what_follows_a_body_without_an_end_is_no_request() {
    let cases = [
        // a body that ends with the connection: the next request is part of it
        (
            "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\nhello".to_owned(),
            "200[ ]",
        ),
        // unsupported framings
        (
            post(
                "/read",
                "Content-Length: 5\r\nContent-Length: 5\r\n",
                "hello",
            ),
            "400",
        ),
        (post("/read", "Content-Length: +5\r\n", "hello"), "400"),
        (post("/read", "Content-Length: 5, 5\r\n", "hello"), "400"),
        (
            post("/read", "Content-Length: 99999999999999999999\r\n", "hello"),
            "400",
        ),
        (
            post("/read", "Transfer-Encoding: identity\r\n", "hello"),
            "400",
        ),
        (
            post("/read", "Transfer-Encoding: gzip, chunked\r\n", CHUNKS),
            "400",
        ),
        (post("/read", &CHUNKED.repeat(2), CHUNKS), "400"),
        (post("/read", &format!("{CHUNKED}{LENGTH}"), CHUNKS), "400"),
        (
            post("/read", CHUNKED, CHUNKS).replace("HTTP/1.1", "HTTP/1.0"),
            "400",
        ),
        // invalid chunks: the server closes the connection
        (post("/read", CHUNKED, "5\nhello\r\n0\r\n\r\n"), ""),
        (post("/read", CHUNKED, "\r\n\r\n"), ""),
        (post("/read", CHUNKED, "1\r\nab\r\n0\r\n\r\n"), ""),
        (
            post("/read", CHUNKED, "fffffffffffffffff\r\na\r\n0\r\n\r\n"),
            "",
        ),
        (post("/read", CHUNKED, "0\r\n\rx"), ""),
    ];
    assert_replies(&cases).await;
}

/// What clients and proxies send besides; each is answered, and the connection goes on.
#[tokio::test]
async fn what_clients_and_proxies_send_changes_neither_answer_nor_connection() {
    let settings = "HTTP2-Settings: AAMAAABkAAQBAAAAAAIAAAAA\r\n";
    let offer = format!("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n{settings}");
    let hello = "200[/read hello] 200[/next ]";
    let with_length = [
        // Java's HttpClient, curl --http2
        &offer,
        // a proxy with the usual lines for websockets
        "Connection: upgrade\r\n",
        "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n",
        "connection:UPGRADE\r\nCONNECTION: keep-alive\r\n",
        "Connection: TE\r\nTE: trailers\r\nProxy-Connection: keep-alive\r\n",
        "Connection:\r\nKeep-Alive: timeout=5, max=100\r\n",
        "Expect: something\r\n",
        "X-A: 1\r\nx-a: 2\r\nX_B: \u{e9}\t\r\nX-Empty:\r\n",
        &"X-Forwarded-For: 203.0.113.9\r\n".repeat(90),
        &format!("Authorization: Bearer {}\r\n", "e".repeat(60_000)),
    ];
    let mut cases: Vec<_> = with_length
        .map(|fields| (post("/read", &format!("{fields}{LENGTH}"), "hello"), hello))
        .into();
    let chunks = "5\r\nhello\r\n0\r\nX-Checksum: a\r\n\r\n";
    let old = |fields: &str| post("/read", fields, "").replace("/1.1", "/1.0");
    let with_chunks = format!("{offer}Trailer: X-Checksum\r\ntransfer-encoding: Chunked\r\n");
    cases.extend([
        (post("/read", &with_chunks, chunks), hello),
        (
            post(
                "/read",
                "eXPECT: 100-Continue\r\ncontent-length:5\r\n",
                "hello",
            ),
            "100 200[/read hello] 200[/next ]",
        ),
        // a request to a proxy
        (post("http://a/read", LENGTH, "hello"), hello),
        // a body where none is expected
        (
            post("/no", LENGTH, "hello").replace("POST", "GET"),
            "200[/no ] 200[/next ]",
        ),
        (
            post("/no", CHUNKED, chunks).replace("POST", "GET"),
            "200[/no ] 200[/next ]",
        ),
        // nginx with its defaults
        (
            old(&format!("Connection: close\r\n{LENGTH}")) + "hello",
            "200[/read hello]",
        ),
        (
            old(&format!("Connection: keep-alive, upgrade\r\n{LENGTH}")) + "hello",
            hello,
        ),
        // not understood: said, and the end of the connection
        (post("/read", "A: b\r\n folded\r\n", ""), "400"),
        (post("/read", "Host: b\r\n", ""), "400"),
        (post("/read", &"X: 1\r\n".repeat(99), ""), "431"),
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), "400"),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(), "400"),
    ]);
    assert_replies(&cases).await;
}

#[tokio::test]
async fn a_post_of_http_1_0_may_have_no_body() {
    let server = Served::start();
    for (fields, expected) in [
        ("Connection: close\r\n", "200[/read ]"),
        ("Connection: keep-alive\r\n", "200[/read ] 200[/next ]"),
    ] {
        let sent = post("/read", fields, "").replace("/1.1", "/1.0") + NEXT;
        assert_eq!(replies(&server.address, &sent, usize::MAX).await, expected);
    }
    server.stop().await;
}
