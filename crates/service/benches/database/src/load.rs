//! Many callers at once, on a few threads with one runtime each, as in the HTTP server.

use std::rc::Rc;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use tokio::task::LocalSet;

use crate::shapes::CallKind;

/// Number of threads.
pub const THREADS: usize = 2;
/// Number of callers on one thread, each of which makes one call after another.
const CALLERS: usize = 32;
/// Duration of a round.
const ROUND: Duration = Duration::from_secs(3);

/// One of the two sides that are compared: the use cases or raw statements.
pub trait Side: Sync {
    /// The calls of one thread.
    type OfThread: Calls + 'static;

    /// Opens the connections of one thread.
    async fn open(&self) -> anyhow::Result<Self::OfThread>;
}

/// Makes calls on one thread.
pub trait Calls {
    /// Makes one call; `number` selects the result or idempotency key.
    async fn call(&self, kind: CallKind, number: usize) -> anyhow::Result<()>;
}

/// The rate and latency of one round.
pub struct LoadMeasure {
    pub per_second: f64,
    pub p99_ms: f64,
}

impl LoadMeasure {
    fn of(mut microseconds: Vec<u32>, took: Duration) -> Self {
        microseconds.sort_unstable();
        let p99 = microseconds.get(microseconds.len() * 99 / 100);
        Self {
            per_second: microseconds.len() as f64 / took.as_secs_f64(),
            p99_ms: p99.copied().map_or(f64::NAN, f64::from) / 1000.0,
        }
    }

    /// The round with the median rate.
    pub fn median(mut rounds: Vec<Self>) -> Self {
        rounds.sort_by(|one, other| one.per_second.total_cmp(&other.per_second));
        rounds.swap_remove(rounds.len() / 2)
    }
}

/// Makes calls on all threads for one round.
pub fn load<S: Side>(side: &S, kind: CallKind) -> anyhow::Result<LoadMeasure> {
    let start = Barrier::new(THREADS);
    let begun = Instant::now();
    let microseconds = std::thread::scope(|scope| {
        let thread = |thread| {
            let start = &start;
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()?;
                LocalSet::new().block_on(&runtime, callers(side, kind, thread, start))
            })
        };
        let threads: Vec<_> = (0..THREADS).map(thread).collect();
        let all = threads
            .into_iter()
            .map(|thread| thread.join().expect("a thread"));
        all.collect::<anyhow::Result<Vec<_>>>()
    })?;
    // a round lasts as long on every thread; opening connections before it does not count
    let took = ROUND.min(begun.elapsed());
    Ok(LoadMeasure::of(microseconds.concat(), took))
}

/// The durations of all calls of one thread, in microseconds.
async fn callers<S: Side>(
    side: &S,
    kind: CallKind,
    thread: usize,
    start: &Barrier,
) -> anyhow::Result<Vec<u32>> {
    let calls = side.open().await;
    if let Ok(calls) = &calls {
        // opens connections and prepares statements before the measurement
        for number in 0..100 {
            calls.call(kind, number).await?;
        }
    }
    start.wait();
    let calls = Rc::new(calls?);
    let until = Instant::now() + ROUND;
    let caller = |caller| {
        let calls = Rc::clone(&calls);
        tokio::task::spawn_local(async move {
            let mut microseconds = Vec::new();
            let mut number = (thread * CALLERS + caller) * 7_919;
            loop {
                let begun = Instant::now();
                if begun >= until {
                    return anyhow::Ok(microseconds);
                }
                // a prime step visits the results in an order without locality, against caches
                number += 15_485_863;
                calls.call(kind, number).await?;
                microseconds.push(u32::try_from(begun.elapsed().as_micros())?);
            }
        })
    };
    let callers: Vec<_> = (0..CALLERS).map(caller).collect();
    let mut all = Vec::new();
    for caller in callers {
        all.extend(caller.await??);
    }
    Ok(all)
}
