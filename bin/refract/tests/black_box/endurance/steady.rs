//! Calls at a steady rate, with latency counted from the moment at which each was due.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use refract_test_stack::http::{HttpConnection, Request};
use refract_test_stack::service::{PRISM, Service, text};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Connections kept after their call is answered; calls that pile up open more.
const KEPT: usize = 32;

/// Creates and reads over kept connections, three reads for each create.
pub(crate) struct SteadyCaller {
    api: SocketAddr,
    bearer: String,
    // the longest idle connection is used first, so that none times out
    idle: Mutex<VecDeque<HttpConnection>>,
    last_made: Mutex<Option<String>>,
    took: Mutex<Vec<Duration>>,
    most_at_once: AtomicUsize,
}

impl SteadyCaller {
    /// A caller of a service's first node.
    pub(crate) fn of(service: &Service) -> Arc<Self> {
        Arc::new(Self {
            api: service.api(),
            bearer: service.key.clone(),
            idle: Mutex::default(),
            last_made: Mutex::default(),
            took: Mutex::default(),
            most_at_once: AtomicUsize::default(),
        })
    }

    /// Makes calls at this interval; an answer other than 200 panics.
    pub(crate) async fn call_every(self: &Arc<Self>, period: Duration, length: Duration) {
        let mut ticks = tokio::time::interval(period);
        let end = Instant::now() + length;
        let mut calls = JoinSet::new();
        for number in 0_usize.. {
            let due = ticks.tick().await;
            if due >= end {
                break;
            }
            calls.spawn(Arc::clone(self).call(number, due));
            self.most_at_once.fetch_max(calls.len(), Ordering::Relaxed);
            while let Some(ended) = calls.try_join_next() {
                ended.unwrap();
            }
        }
        calls.join_all().await;
    }

    /// Makes calls back to back on this number of connections, and returns their number.
    pub(crate) async fn call_without_pause(
        self: &Arc<Self>,
        at_once: usize,
        length: Duration,
    ) -> usize {
        let end = Instant::now() + length;
        let mut callers = JoinSet::new();
        for _ in 0..at_once {
            let caller = Arc::clone(self);
            callers.spawn(async move {
                let mut calls = 0;
                while Instant::now() < end {
                    Arc::clone(&caller).call(calls, Instant::now()).await;
                    calls += 1;
                }
                calls
            });
        }
        callers.join_all().await.into_iter().sum()
    }

    /// The sockets that a node may keep after calls: those of the callers, and those to the model.
    pub(crate) fn sockets(&self) -> u64 {
        let to_model = self.most_at_once.load(Ordering::Relaxed);
        u64::try_from(KEPT + to_model).unwrap()
    }

    /// The durations since the previous call of this method, shortest first.
    pub(crate) fn take_durations(&self) -> Vec<Duration> {
        let mut took = std::mem::take(&mut *self.took.lock().unwrap());
        took.sort();
        took
    }

    async fn call(self: Arc<Self>, number: usize, due: Instant) {
        let last_made = self.last_made.lock().unwrap().clone();
        let request = match last_made {
            Some(id) if !number.is_multiple_of(4) => Request::get(&format!("/results/{id}")),
            _ => Request::post(&format!("/prisms/{PRISM}/results"))
                .json(&json!({"text": format!("Where is order {number}?")})),
        };
        let idle = self.idle.lock().unwrap().pop_front();
        let mut connection = match idle {
            Some(connection) => connection,
            None => HttpConnection::open(self.api).await,
        };
        connection.send(&request.bearer(&self.bearer).bytes()).await;
        let answer = connection.answer().await;
        assert_eq!(answer.status, 200, "{answer:?}");
        self.took.lock().unwrap().push(due.elapsed());
        *self.last_made.lock().unwrap() = Some(text(&answer.value(), "id"));
        let mut idle = self.idle.lock().unwrap();
        if idle.len() < KEPT {
            idle.push_back(connection);
        }
    }
}

/// The latency within which this many of 1,000 calls were answered.
pub(crate) fn within(sorted: &[Duration], per_mille: usize) -> Duration {
    let rank = sorted.len().saturating_sub(1) * per_mille / 1000;
    sorted.get(rank).copied().unwrap_or_default()
}
