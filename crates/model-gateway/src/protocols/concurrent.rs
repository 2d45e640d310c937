//! Concurrent requests about one submission, and the order in which they are sent, so that the
//! server reads their text once.
//!
//! One request goes first. When it is answered, the server has read the text, and as many others go
//! at once as the server's [`PrefixCache`] allows. Requests that wait for others share their time, so
//! that a call takes no longer than two attempts and a pause.

use std::cell::Cell;
use std::time::{Duration, Instant};

use futures_util::future::TryFutureExt as _;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use refract_domain::answer::{Answer, Answers};
use refract_domain::key::QuestionKey;
use tokio::sync::Notify;

use crate::attempts::CallSender;
use crate::attempts::admission::RequestSeries;
use crate::error::ModelError;
use crate::report::ReportedUsage;
use crate::servers::{EachServer, PrefixCache, ServerPlace};

/// Runs requests concurrently and joins their answers in order. Each request answers some of the
/// questions. The first failure cancels all.
pub(crate) async fn all_answers(
    requests: impl Iterator<Item = impl Future<Output = Result<Vec<(QuestionKey, Answer)>, ModelError>>>,
) -> Result<Answers, ModelError> {
    let answers = all_or_first_failure(requests).await?;
    Ok(Answers::new(answers.into_iter().flatten().collect()))
}

/// Runs futures concurrently and returns their values in order. The first failure to occur is
/// returned, and the other futures are dropped.
pub(crate) async fn all_or_first_failure<T>(
    futures: impl IntoIterator<Item = impl Future<Output = Result<T, ModelError>>>,
) -> Result<Vec<T>, ModelError> {
    // boxed: a queue reserves room for one future more than it holds
    let mut futures = futures.into_iter().map(Box::pin);
    let first = futures.next();
    let Some(second) = futures.next() else {
        // most calls send one request, which needs no queue
        return match first {
            Some(only) => Ok(vec![only.await?]),
            None => Ok(Vec::new()),
        };
    };
    let numbered = first.into_iter().chain([second]).chain(futures).enumerate();
    let mut pending: FuturesUnordered<_> = numbered
        .map(|(index, future)| future.map_ok(move |value| (index, value)))
        .collect();
    let mut values = Vec::with_capacity(pending.len());
    while let Some(value) = pending.next().await {
        values.push(value?);
    }
    values.sort_unstable_by_key(|(index, _)| *index);
    Ok(values.into_iter().map(|(_, value)| value).collect())
}

/// Bytes of a common beginning below which no request waits for another: about 500 tokens.
const LEAST_SHARED_BYTES: usize = 2_000;

/// About as many bytes have a token in common languages.
const BYTES_PER_TOKEN: usize = 4;

/// What all requests of a call begin with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SharedText {
    /// This many bytes; what follows may be long.
    Beginning { bytes: usize },
    /// All but a few words. The last part, of this many bytes, is read for the call; what stands
    /// before it is the same in other calls, so the server may have had it in its cache before.
    Nearly { bytes: usize },
}

impl SharedText {
    fn bytes(self) -> usize {
        match self {
            Self::Beginning { bytes } | Self::Nearly { bytes } => bytes,
        }
    }

    /// Whether the server had the text in its cache; `None` if it does not report that. Half of the
    /// text's estimated tokens decide.
    fn is_cached(self, usage: &ReportedUsage) -> Option<bool> {
        let half = self.bytes() / BYTES_PER_TOKEN / 2;
        let half = u64::try_from(half).unwrap_or(u64::MAX);
        let cached = usage.cached_tokens?;
        Some(match self {
            Self::Beginning { .. } => cached >= half,
            Self::Nearly { .. } => cached >= half && usage.fresh_tokens()? <= half,
        })
    }
}

/// The requests of one call, and how many of them are under way.
pub(crate) struct ReadingOrder<'a> {
    caches: &'a EachServer<PrefixCache>,
    shared: SharedText,
    /// Whether the text is so long that reading it again shows.
    is_long: bool,
    /// Whether one request goes first.
    is_ordered: bool,
    running: Cell<usize>,
    /// The server that has read the text, and how long the first request took.
    read: Cell<Option<(ServerPlace, Duration)>>,
    /// The time that those left over for which others wait.
    left: Cell<Option<RequestSeries>>,
    changed: Notify,
}

/// A request's turn: it may be sent, and so may what follows it. The next request's turn may come
/// when this one is dropped.
pub(crate) struct RequestTurn<'a> {
    order: &'a ReadingOrder<'a>,
    /// Number of requests under way when this one began, this one included.
    running: usize,
    begin: Instant,
}

impl<'a> ReadingOrder<'a> {
    /// Orders this many requests, which begin with the same text.
    ///
    /// A row of a file stays in one slot even if its text is short: other rows keep the other slots
    /// busy. A call of the API has the free slots read it at the same time, which is faster.
    pub(crate) fn new(
        caches: &'a EachServer<PrefixCache>,
        shared: SharedText,
        requests: usize,
        is_row: bool,
    ) -> Self {
        let is_long = requests > 1 && shared.bytes() >= LEAST_SHARED_BYTES;
        let is_nearly_all = matches!(shared, SharedText::Nearly { .. });
        let stays = is_row && is_nearly_all && caches.iter().any(PrefixCache::is_of_slots);
        // every cache counts the call, so no short circuit
        let keeps_long = is_long && caches.iter().filter(|cache| cache.begin_call()).count() > 0;
        Self {
            caches,
            shared,
            is_long,
            is_ordered: stays || keeps_long,
            running: Cell::default(),
            read: Cell::default(),
            left: Cell::default(),
            changed: Notify::new(),
        }
    }

    /// Waits until another request may be sent.
    pub(crate) async fn turn(&'a self) -> RequestTurn<'a> {
        while self.running.get() >= self.allowed() {
            self.changed.notified().await;
        }
        self.running.set(self.running.get() + 1);
        RequestTurn {
            order: self,
            running: self.running.get(),
            begin: Instant::now(),
        }
    }

    /// Number of requests that may be under way now.
    fn allowed(&self) -> usize {
        let limit = match self.read.get() {
            _ if !self.is_ordered => None,
            None => Some(1),
            Some((server, _)) => self.caches.of(server).at_once(),
        };
        limit.unwrap_or(usize::MAX)
    }
}

impl RequestTurn<'_> {
    /// Starts the turn's series of requests.
    pub(crate) fn series(&self, call: &CallSender<'_>) -> RequestSeries {
        let left = self.order.left.get();
        left.map_or_else(|| call.series(), RequestSeries::for_another_request)
    }

    /// Learns from the answer to the first request of the turn's series.
    pub(crate) fn answered(&self, series: RequestSeries, usage: &ReportedUsage) {
        let order = self.order;
        if !order.is_ordered {
            return;
        }
        let server = series.server();
        order.left.set(Some(series));
        let took = self.begin.elapsed();
        match order.read.get() {
            None => order.read.set(Some((server, took))),
            Some((reader, first_took)) if reader == server => {
                let is_shared = order.shared.is_cached(usage);
                // without a report, an answer in half the time did not read the text
                let is_shared = is_shared.unwrap_or(took * 2 < first_took);
                if order.is_long {
                    order.caches.of(server).learn(is_shared, self.running);
                }
            }
            // another server had to read the text itself
            Some(_) => {}
        }
        order.changed.notify_waiters();
    }

    /// Ends the turn after all requests of its series.
    pub(crate) fn end(self, series: RequestSeries) {
        if self.order.is_ordered {
            self.order.left.set(Some(series));
        }
    }
}

impl Drop for RequestTurn<'_> {
    fn drop(&mut self) {
        self.order.running.set(self.order.running.get() - 1);
        self.order.changed.notify_waiters();
    }
}
