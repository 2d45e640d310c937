//! Queries that are awaited from runtimes other than the database's, as HTTP workers do.

use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc;
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use refract_persistence::{Database, SaveOutcome};
use refract_test_support::on_both;

use crate::fixture::{Fixture, answered, failed, moment};

on_both!(
    single_threads_share_the_connections,
    a_thread_that_is_busy_holds_up_nobody,
    a_caller_that_goes_away_leaves_everything_whole,
    a_threads_connections_are_counted_as_long_as_it_has_them,
);

/// Runs a future on a new thread with its own runtime.
fn in_own_runtime<T, F>(work: impl FnOnce() -> F + Send + 'static) -> thread::JoinHandle<T>
where
    T: Send + 'static,
    F: Future<Output = T>,
{
    thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(work())
    })
}

async fn join<T: Send + 'static>(thread: thread::JoinHandle<T>) -> T {
    tokio::task::spawn_blocking(|| thread.join().unwrap())
        .await
        .unwrap()
}

async fn single_threads_share_the_connections(it: Fixture) {
    let it = Arc::new(it);
    let worker = |_| {
        let it = Arc::clone(&it);
        in_own_runtime(move || async move {
            for _ in 0..10 {
                let first = it.result(failed(), None);
                assert_eq!(
                    it.database.save_result(&first).await.unwrap(),
                    SaveOutcome::Saved
                );
                let second = it.retry(&first.result, answered());
                assert_eq!(
                    it.database.save_result(&second).await.unwrap(),
                    SaveOutcome::Saved
                );
                assert_eq!(it.read(second.result.id).await, Some(second.result));
            }
        })
    };
    let workers: Vec<_> = (0..6).map(worker).collect();
    for worker in workers {
        join(worker).await;
    }
}

/// One worker uses every connection and then only blocks its thread: connections that it opened
/// must still serve the others.
async fn a_thread_that_is_busy_holds_up_nobody(it: Fixture) {
    let database = it.database.clone();
    let (used, has_used) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let busy = in_own_runtime(move || async move {
        let pings = (0..8).map(|_| {
            let database = database.clone();
            tokio::spawn(async move { database.ping().await.unwrap() })
        });
        for ping in pings.collect::<Vec<_>>() {
            ping.await.unwrap();
        }
        used.send(()).unwrap();
        let _ = released.recv();
    });
    tokio::task::spawn_blocking(move || has_used.recv().unwrap())
        .await
        .unwrap();
    let pings = async {
        for _ in 0..16 {
            it.database.ping().await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_secs(5), pings)
        .await
        .unwrap();
    drop(release);
    join(busy).await;
}

/// Polls a future once and drops it, like a handler whose client disconnects. Usually the query is
/// in flight then; on a busy machine it may have finished.
fn begin_and_leave(work: impl Future) {
    let mut work = pin!(work);
    let _ = work.as_mut().poll(&mut Context::from_waker(Waker::noop()));
}

async fn a_caller_that_goes_away_leaves_everything_whole(it: Fixture) {
    let first = it.result(failed(), Some("order 1"));
    it.database.save_result(&first).await.unwrap();
    let it = Arc::new(it);
    let leaver = Arc::clone(&it);
    let retry = it.retry(&first.result, answered());
    let left = retry.clone();
    let leaving = in_own_runtime(move || async move {
        let database: &Database = &leaver.database;
        begin_and_leave(database.save_result(&left));
        for _ in 0..20 {
            begin_and_leave(database.find_create_call(
                &leaver.key.hash,
                &leaver.selector(),
                None,
                moment(9),
            ));
        }
    });
    join(leaving).await;
    // there is exactly one retry, whether or not the dropped one was saved
    let again = it.database.save_result(&retry).await.unwrap();
    assert_eq!(again, SaveOutcome::Saved);
    assert_eq!(it.results_made().await, 2);
    for _ in 0..20 {
        it.database.ping().await.unwrap();
    }
}

async fn a_threads_connections_are_counted_as_long_as_it_has_them(it: Fixture) {
    let before = it.database.connection_use();
    assert_eq!(before.of_threads, 0);
    let (of_thread, hash, selector) = (
        it.database.for_this_thread(NonZeroUsize::MIN),
        it.key.hash,
        it.selector(),
    );
    let during = in_own_runtime(move || async move {
        let call = of_thread
            .find_create_call(&hash, &selector, None, moment(9))
            .await;
        assert!(call.unwrap().is_some());
        of_thread.connection_use()
    });
    let during = join(during).await;
    assert_eq!(during.of_threads, 1);
    assert!(during.allowed >= during.of_threads + during.leased + during.idle);
    assert_eq!(it.database.connection_use().of_threads, 0);
    assert_eq!(it.database.connection_use().allowed, before.allowed);
}
