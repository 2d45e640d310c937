//! A server with one slot that goes on with a request whose client has left, as llama.cpp does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use refract_model_gateway::{CallPriority, ModelReply};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, Notify};

use super::*;

const TIMEOUT: Duration = Duration::from_millis(400);
const ANSWER: &str = r#"{"model":"m","answers":{"angry":{"type":"noul","noul":0.2}}}"#;

struct OneSlot {
    url: String,
    slot: Mutex<()>,
    received: AtomicUsize,
    /// Lets a long text end.
    ends: Notify,
}

impl OneSlot {
    async fn start() -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Arc::new(Self {
            url: format!("http://{}/v1", listener.local_addr().unwrap()),
            slot: Mutex::default(),
            received: AtomicUsize::new(0),
            ends: Notify::new(),
        });
        let serving = Arc::clone(&server);
        actix_rt::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                actix_rt::spawn(serve(stream, Arc::clone(&serving)));
            }
        });
        server
    }

    async fn has_received(&self, requests: usize) {
        while self.received.load(Ordering::Relaxed) < requests {
            tokio::task::yield_now().await;
        }
    }
}

async fn serve(stream: TcpStream, server: Arc<OneSlot>) {
    let mut stream = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await.unwrap_or_default();
            match line.trim_end().split_once(": ") {
                Some(("content-length", value)) => length = value.parse().unwrap(),
                Some(_) => {}
                None if line.starts_with("POST") => {}
                None if line.is_empty() => return,
                None => break,
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.unwrap();
        server.received.fetch_add(1, Ordering::Relaxed);
        let slot = server.slot.lock().await;
        if String::from_utf8(body).unwrap().contains("long") {
            server.ends.notified().await;
        }
        drop(slot);
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n",
            ANSWER.len()
        );
        stream.write_all((head + ANSWER).as_bytes()).await.ok();
    }
}

fn model_of(server: &OneSlot, priority: CallPriority) -> Model {
    model_with(ModelSettings {
        timeout: TIMEOUT,
        ..settings(&server.url)
    })
    .with_priority(priority)
}

async fn ask(model: &Model, text: &str) -> ModelReply {
    let version = yes_no();
    model.answer(&version, &submission(&version, text)).await
}

#[actix_rt::test]
async fn after_a_row_that_timed_out_the_next_ones_wait_for_the_server_and_are_answered() {
    let server = OneSlot::start().await;
    let model = model_of(&server, CallPriority::Batch);
    let long = ask(&model, "long").await;
    assert_eq!(long.outcome, Err(ModelError::TimedOut(TIMEOUT)));
    let next = join_all((0..5).map(|_| ask(&model, "short")));
    let works_on = async {
        // one of them waits behind the long text, for longer than an attempt may take
        server.has_received(2).await;
        tokio::time::sleep(TIMEOUT * 2).await;
        assert_eq!(server.received.load(Ordering::Relaxed), 2);
        server.ends.notify_one();
    };
    let (next, ()) = tokio::join!(next, works_on);
    for reply in next {
        assert!(reply.outcome.is_ok(), "{:?}", reply.outcome);
    }
    // the server is asked as before
    let long = ask(&model, "long").await;
    assert_eq!(long.outcome, Err(ModelError::HeldUp(TIMEOUT)));
}

#[actix_rt::test]
async fn a_row_that_timed_out_behind_another_may_be_repeated() {
    let server = OneSlot::start().await;
    let model = model_of(&server, CallPriority::Batch);
    let behind = async {
        server.has_received(1).await;
        ask(&model, "short").await
    };
    let (long, behind) = tokio::join!(ask(&model, "long"), behind);
    let Err(long) = long.outcome else { panic!() };
    assert_eq!(
        (&long, long.is_for_the_rate()),
        (&ModelError::TimedOut(TIMEOUT), false)
    );
    let Err(behind) = behind.outcome else {
        panic!()
    };
    assert!(behind.is_for_the_rate());
    assert_eq!(
        behind.to_string(),
        "The model did not answer within 400 ms: its server was busy with an earlier request."
    );
    server.ends.notify_one();
    assert!(ask(&model, "short").await.outcome.is_ok());
}
