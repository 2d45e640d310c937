//! Measures creates over HTTP, with the concurrency of the file run.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Starts a server and returns the seconds that `creates` calls take.
pub(crate) fn measure(
    mut make_key: Command,
    binary: impl Fn(&[&str]) -> Command,
    runtime: &tokio::runtime::Runtime,
    creates: u32,
    concurrency: u32,
) -> f64 {
    let made = make_key.output().unwrap().stdout;
    let key: serde_json::Value = serde_json::from_slice(&made).unwrap();
    let mut serving = binary(&["serve", "--listen", "127.0.0.1:0", "--ops-listen", "off"]);
    let mut server = serving
        .env("REFRACT_LOG_FORMAT", "json")
        .env("REFRACT_LOG", "refract=info")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(server.stderr.take().unwrap()).lines();
    let api = log.find_map(|line| {
        let line: serde_json::Value = serde_json::from_str(&line.ok()?).ok()?;
        Some(line["api"].as_str()?.to_owned())
    });
    std::thread::spawn(move || log.for_each(drop));
    let api = Arc::new(api.unwrap());
    let key = Arc::new(key["key"].as_str().unwrap().to_owned());
    let left = Arc::new(AtomicU32::new(creates));
    let began = Instant::now();
    runtime.block_on(async {
        let callers: Vec<_> = (0..concurrency)
            .map(|_| tokio::spawn(call(Arc::clone(&api), Arc::clone(&key), Arc::clone(&left))))
            .collect();
        for caller in callers {
            caller.await.unwrap();
        }
    });
    let seconds = began.elapsed().as_secs_f64();
    server.kill().unwrap();
    server.wait().unwrap();
    seconds
}

/// Sends calls over one connection until none is left.
async fn call(api: Arc<String>, key: Arc<String>, left: Arc<AtomicU32>) {
    let mut stream = TcpStream::connect(api.as_str()).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let mut answer = vec![0; 64 * 1024];
    loop {
        let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            left.checked_sub(1)
        });
        let Ok(number) = taken else { return };
        let body = format!(
            r#"{{"text":"Hello, my order {number} was to arrive last week, and the tracking says \"on its way\" since then. Could you look into it, please? I need the bike for a tour that begins on Saturday. Kind regards, customer {number}","ref":"M-{number}","idempotency_key":"http-{number}"}}"#
        );
        let head = format!(
            "POST /v1/prisms/support-triage/results?format=csv HTTP/1.1\r\nHost: bench\r\n\
             Authorization: Bearer {key}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).await.unwrap();
        let mut read = 0;
        while !is_whole(&answer[..read]) {
            let more = stream.read(&mut answer[read..]).await.unwrap();
            assert!(more > 0, "the server hung up");
            read += more;
        }
        assert!(
            answer.starts_with(b"HTTP/1.1 200"),
            "{}",
            String::from_utf8_lossy(&answer[..read])
        );
    }
}

/// Whether a response is complete: its head, and the number of body bytes in `content-length`.
fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    length.is_some_and(|length| body.len() >= length.parse::<usize>().unwrap())
}
