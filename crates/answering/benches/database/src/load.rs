//! Many callers at once, on a few threads with a runtime each, as HTTP workers have them.

use std::rc::Rc;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use tokio::task::LocalSet;

use crate::shapes::What;

pub const THREADS: usize = 2;
/// Callers of one thread, each with one call at a time.
const CALLERS: usize = 32;
const ROUND: Duration = Duration::from_secs(3);

/// One of those that are compared.
pub trait Side: Sync {
    type Worker: Worker + 'static;

    /// What one thread calls with.
    async fn worker(&self) -> anyhow::Result<Self::Worker>;
}

pub trait Worker {
    /// Makes a call; `number` chooses what it is about.
    async fn call(&self, what: What, number: usize) -> anyhow::Result<()>;
}

pub struct Measured {
    pub per_second: f64,
    pub p99_ms: f64,
}

impl Measured {
    fn of(mut microseconds: Vec<u32>, took: Duration) -> Self {
        microseconds.sort_unstable();
        let p99 = microseconds.get(microseconds.len() * 99 / 100);
        Self {
            per_second: microseconds.len() as f64 / took.as_secs_f64(),
            p99_ms: p99.copied().map_or(f64::NAN, f64::from) / 1000.0,
        }
    }

    /// The round of the median rate.
    pub fn median(mut rounds: Vec<Self>) -> Self {
        rounds.sort_by(|one, other| one.per_second.total_cmp(&other.per_second));
        rounds.swap_remove(rounds.len() / 2)
    }
}

/// Calls for one round.
pub fn load<S: Side>(side: &S, what: What) -> anyhow::Result<Measured> {
    let start = Barrier::new(THREADS);
    let begun = Instant::now();
    let microseconds = std::thread::scope(|scope| {
        let thread = |thread| {
            let start = &start;
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()?;
                LocalSet::new().block_on(&runtime, callers(side, what, thread, start))
            })
        };
        let threads: Vec<_> = (0..THREADS).map(thread).collect();
        let all = threads
            .into_iter()
            .map(|thread| thread.join().expect("a thread"));
        all.collect::<anyhow::Result<Vec<_>>>()
    })?;
    // each thread's time is the round's, however long connecting took before
    let took = ROUND.min(begun.elapsed());
    Ok(Measured::of(microseconds.concat(), took))
}

/// The microseconds of all calls of one thread.
async fn callers<S: Side>(
    side: &S,
    what: What,
    thread: usize,
    start: &Barrier,
) -> anyhow::Result<Vec<u32>> {
    let worker = side.worker().await;
    if let Ok(worker) = &worker {
        // connections are opened and statements prepared before anything is measured
        for number in 0..100 {
            worker.call(what, number).await?;
        }
    }
    start.wait();
    let worker = Rc::new(worker?);
    let until = Instant::now() + ROUND;
    let caller = |caller| {
        let worker = Rc::clone(&worker);
        tokio::task::spawn_local(async move {
            let mut microseconds = Vec::new();
            let mut number = (thread * CALLERS + caller) * 7_919;
            loop {
                let begun = Instant::now();
                if begun >= until {
                    return anyhow::Ok(microseconds);
                }
                // a prime step through all results, in no order that a cache would like
                number += 15_485_863;
                worker.call(what, number).await?;
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
