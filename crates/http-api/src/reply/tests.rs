//! The bytes on the wire, tested over TCP with a server that reads a body and refuses the request.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use actix_web::{App, HttpRequest, HttpServer, web};
use refract_http_serving::{BodyReader, SentBody};

use super::*;
use crate::request;

/// Starts a server on a free port and runs the client on another thread.
fn against_a_server(client: impl FnOnce(SocketAddr) + Send + 'static) {
    actix_web::rt::System::new().block_on(async {
        let server = HttpServer::new(|| App::new().default_service(web::to(refuse)));
        let server = server
            .workers(1)
            .disable_signals()
            .bind("127.0.0.1:0")
            .unwrap();
        let address = server.addrs()[0];
        let server = server.run();
        let handle = server.handle();
        let running = actix_web::rt::spawn(server);
        let talked = actix_web::rt::task::spawn_blocking(move || client(address)).await;
        handle.stop(false).await;
        running.await.unwrap().unwrap();
        talked.unwrap();
    });
}

async fn refuse(request: HttpRequest, payload: web::Payload) -> HttpResponse {
    let id = RequestId::of(request.headers());
    let mut payload = payload.into_inner();
    let body = SentBody {
        reader: &BodyReader::default(),
        gate: None,
        payload: &mut payload,
    };
    let read = request::read_body(request.headers(), body).await;
    let under_way = RequestUnderWay::begin(&request);
    let reply = Reply::error(&read.err().unwrap_or(ApiError::RouteNotFound));
    reply.into_response(&id, payload, under_way)
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    stream
}

/// Sends a whole request and reads until the server closes.
fn ask(address: SocketAddr, request: &str) -> String {
    let mut stream = connect(address);
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn every_answer_has_its_headers_and_no_more() {
    against_a_server(|address| {
        let request =
            "GET / HTTP/1.1\r\nhost: x\r\nx-request-id: order-7\r\nconnection: close\r\n\r\n";
        let answer = ask(address, request);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let mut lines = head.split("\r\n");
        assert_eq!(lines.next(), Some("HTTP/1.1 404 Not Found"));
        let mut headers: Vec<&str> = lines.filter(|line| !line.starts_with("date: ")).collect();
        headers.sort_unstable();
        assert_eq!(
            headers,
            [
                "cache-control: no-store",
                "connection: close",
                "content-length: 58",
                "content-type: application/json; charset=utf-8",
                "x-request-id: order-7",
            ]
        );
        assert_eq!(
            body,
            r#"{"error":{"code":"not_found","message":"Route not found"}}"#
        );
    });
}

#[test]
fn a_head_request_gets_no_body() {
    against_a_server(|address| {
        let answer = ask(
            address,
            "HEAD / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
        );
        assert!(answer.starts_with("HTTP/1.1 404 Not Found\r\n"), "{answer}");
        assert!(answer.ends_with("\r\n\r\n"), "{answer}");
    });
}

#[test]
fn a_length_over_the_limit_is_answered_before_a_byte_of_the_body() {
    against_a_server(|address| {
        for expectation in ["", "expect: 100-continue\r\n"] {
            let request = format!(
                "POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n{expectation}\
                 content-length: 1048577\r\n\r\n"
            );
            let answer = ask(address, &request);
            assert!(
                answer.contains("HTTP/1.1 413 Payload Too Large\r\n"),
                "{answer}"
            );
            assert!(answer.contains("connection: close\r\n"), "{answer}");
        }
    });
}

#[test]
fn a_chunked_body_without_end_is_answered_and_cut_off() {
    against_a_server(|address| {
        let mut stream = connect(address);
        let head = "POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
                    transfer-encoding: chunked\r\n\r\n";
        stream.write_all(head.as_bytes()).unwrap();
        let mut sender = stream.try_clone().unwrap();
        let endless = thread::spawn(move || {
            let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
            let deadline = Instant::now() + Duration::from_secs(20);
            while Instant::now() < deadline {
                if sender.write_all(chunk.as_bytes()).is_err() {
                    return true;
                }
            }
            false
        });
        let mut answer = vec![0; 4096];
        let length = stream.read(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer[..length]).into_owned();
        assert!(
            answer.starts_with("HTTP/1.1 413 Payload Too Large\r\n"),
            "{answer}"
        );
        assert!(
            endless.join().unwrap(),
            "the server read on for as long as it was sent to"
        );
    });
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    against_a_server(|address| {
        let body = "content-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
        let answers = ask(
            address,
            &format!(
                "POST / HTTP/1.1\r\nhost: x\r\nx-request-id: 1\r\n{body}\
                 GET / HTTP/1.1\r\nhost: x\r\nx-request-id: 2\r\n\r\n\
                 POST / HTTP/1.1\r\nhost: x\r\nx-request-id: 3\r\nconnection: close\r\n{body}"
            ),
        );
        let ids: Vec<&str> = answers
            .split("\r\n")
            .filter_map(|line| line.strip_prefix("x-request-id: "))
            .collect();
        assert_eq!(ids, ["1", "2", "3"], "{answers}");
    });
}
