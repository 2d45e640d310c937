//! 200 calls per second in a fixed mixture, never repeated by the caller: every unexpected answer
//! is a failure.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::http::{HttpConnection, Request};
use refract_test_stack::service::{PRISM, text};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::rolling::balancer::Balancer;
use crate::rolling::counted_model::{FAILS_FIRST, name_of};
use crate::rolling::tally::{KeyedCreate, Tally};

/// The interval between two calls: 200 per second.
const PACE: Duration = Duration::from_millis(5);
/// The length of a long text: more than the balancer buffers for a retry.
const LONG: usize = 40_000;

/// The callers' side: connections to the balancer, and the acknowledged results.
pub(crate) struct Callers {
    balancer: Arc<Balancer>,
    bearer: String,
    // the longest idle connection is used first, so that none times out
    idle: Mutex<VecDeque<HttpConnection>>,
    pub(crate) tally: Mutex<Tally>,
}

impl Callers {
    pub(crate) fn new(balancer: Arc<Balancer>, bearer: &str) -> Arc<Self> {
        Arc::new(Self {
            balancer,
            bearer: bearer.to_owned(),
            idle: Mutex::default(),
            tally: Mutex::default(),
        })
    }

    /// Makes calls until `stop` is true, and returns the number of failed ones.
    pub(crate) async fn call_until(self: Arc<Self>, stop: watch::Receiver<bool>) -> usize {
        let mut ticks = tokio::time::interval(PACE);
        let mut calls = JoinSet::new();
        let mut failed = 0;
        let mut number = 0;
        while !*stop.borrow() {
            ticks.tick().await;
            calls.spawn(Arc::clone(&self).call(number));
            number += 1;
            while let Some(ended) = calls.try_join_next() {
                failed += usize::from(ended.is_err());
            }
        }
        while let Some(ended) = calls.join_next().await {
            failed += usize::from(ended.is_err());
        }
        failed
    }

    /// Makes the call with this number; an unexpected answer panics.
    async fn call(self: Arc<Self>, number: usize) {
        match number % 20 {
            0..=6 => self.create(number).await,
            7..=10 => self.create_with_key(number).await,
            11 | 12 => self.repeat(number).await,
            13..=16 => self.read(number).await,
            17 | 18 => self.fail_and_retry(number).await,
            _ => self.open_page().await,
        }
    }

    async fn create(&self, number: usize) {
        let length = if number.is_multiple_of(100) { LONG } else { 20 };
        let text = format!("text {number} {}", "o".repeat(length));
        let answer = self.ask("create", &json!({"text": text}), 200).await;
        let id = refract_test_stack::service::text(&answer.value(), "id");
        self.tally.lock().unwrap().made(&name_of(&text), id);
    }

    async fn create_with_key(&self, number: usize) {
        let (text, key) = (format!("keyed {number} o"), format!("key {number}"));
        let body = json!({"text": text, "idempotency_key": key});
        let answer = self.ask("create with a key", &body, 200).await;
        let id = refract_test_stack::service::text(&answer.value(), "id");
        let mut tally = self.tally.lock().unwrap();
        tally.made(&name_of(&text), id.clone());
        tally.keyed.push(KeyedCreate { text, key, id });
    }

    async fn repeat(&self, number: usize) {
        let Some(earlier) = earlier(&self.tally.lock().unwrap().keyed, number) else {
            return;
        };
        let body = json!({"text": earlier.text, "idempotency_key": earlier.key});
        let answer = self.ask("repeat of a key", &body, 200).await;
        assert_eq!(text(&answer.value(), "id"), earlier.id);
    }

    async fn read(&self, number: usize) {
        let Some(id) = earlier(&self.tally.lock().unwrap().ids, number) else {
            return;
        };
        let request = Request::get(&format!("/results/{id}")).bearer(&self.bearer);
        let answer = self.send("read", &request).await;
        assert!(matches!(answer.status, 200 | 502), "read: {answer:?}");
        assert_eq!(text(&answer.value(), "id"), id);
    }

    async fn fail_and_retry(&self, number: usize) {
        let sent = format!("{FAILS_FIRST} {number} o");
        let answer = self
            .ask("create that fails", &json!({"text": sent}), 502)
            .await;
        let failed = text(&answer.value(), "id");
        let request = Request::post(&format!("/results/{failed}/retry")).bearer(&self.bearer);
        let answer = self.send("retry", &request).await;
        assert_eq!(answer.status, 200, "retry: {answer:?}");
        let mut tally = self.tally.lock().unwrap();
        tally.made(&name_of(&sent), failed);
        tally.made(&name_of(&sent), text(&answer.value(), "id"));
    }

    /// Opens a page of the app, on the app's own listener.
    async fn open_page(&self) {
        let begin = Instant::now();
        let request = Request::outside("GET", "/sign-in").header("Connection", "close");
        let mut connection = HttpConnection::open(self.balancer.app).await;
        connection.send(&request.bytes()).await;
        let page = connection.rest().await;
        assert!(page.starts_with("HTTP/1.1 200"), "page: {page:.200}");
        self.answered("page of the app", begin);
    }

    /// Creates a result; the answer must have this status.
    async fn ask(&self, kind: &'static str, body: &Value, status: u16) -> HttpAnswer {
        let request = Request::post(&format!("/prisms/{PRISM}/results"));
        let answer = self
            .send(kind, &request.bearer(&self.bearer).json(body))
            .await;
        assert_eq!(answer.status, status, "{kind}: {answer:?}");
        answer
    }

    async fn send(&self, kind: &'static str, request: &Request) -> HttpAnswer {
        let begin = Instant::now();
        let idle = self.idle.lock().unwrap().pop_front();
        let mut connection = match idle {
            Some(connection) => connection,
            None => HttpConnection::open(self.balancer.api).await,
        };
        connection.send(&request.bytes()).await;
        let answer = connection.answer().await;
        if answer.header("connection") != Some("close") {
            self.idle.lock().unwrap().push_back(connection);
        }
        self.answered(kind, begin);
        answer
    }

    fn answered(&self, kind: &'static str, begin: Instant) {
        let mut tally = self.tally.lock().unwrap();
        tally.answered(kind, begin.elapsed());
    }
}

/// One of the last 2,000 items, chosen by the number of the call.
fn earlier<T: Clone>(made: &[T], number: usize) -> Option<T> {
    let last = &made[made.len().saturating_sub(2_000)..];
    last.get(number * 7919 % last.len().max(1)).cloned()
}
