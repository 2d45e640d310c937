use std::cell::{Cell, RefCell};

use super::*;

fn passing() -> PersistenceError {
    PersistenceError::Failed("for now".to_owned())
}

#[tokio::test(start_paused = true)]
async fn pauses_grow_until_the_time_is_up_and_the_last_failure_is_returned() {
    let backoff = RetryPolicy::within(Duration::from_secs(20));
    let (begin, attempts) = (Instant::now(), RefCell::new(Vec::new()));
    let work = async || {
        attempts.borrow_mut().push(Instant::now());
        Err::<(), _>(passing())
    };
    let outcome = backoff.retry(work, |_| {}).await;
    assert!(outcome.unwrap_err().is_passing());
    let attempts = attempts.into_inner();
    let mut longest = FIRST_PAUSE;
    for pair in attempts.windows(2) {
        let pause = pair[1].duration_since(pair[0]);
        // timers count whole milliseconds
        let slack = Duration::from_millis(1);
        let fits = pause <= longest + slack && pause + slack >= longest / 2;
        assert!(fits, "{pause:?} of {longest:?}");
        longest = LONGEST_PAUSE.min(longest * 2);
    }
    assert_eq!(longest, LONGEST_PAUSE);
    let took = begin.elapsed().as_secs();
    assert!((15..20).contains(&took), "{took}");
}

#[tokio::test(start_paused = true)]
async fn the_first_success_counts_and_every_failure_before_it_is_heard_of() {
    let (attempts, failures) = (Cell::new(0), Cell::new(0));
    let work = async || {
        attempts.set(attempts.get() + 1);
        if attempts.get() < 4 {
            Err(passing())
        } else {
            Ok("saved")
        }
    };
    let failed = |_: &PersistenceError| failures.set(failures.get() + 1);
    let outcome = RetryPolicy::default().retry(work, failed).await;
    assert_eq!(outcome.unwrap(), "saved");
    assert_eq!((attempts.get(), failures.get()), (4, 3));
}

#[tokio::test(start_paused = true)]
async fn an_error_that_is_not_transient_ends_the_work() {
    let attempts = Cell::new(0);
    let work = async || {
        attempts.set(attempts.get() + 1);
        Err::<(), _>(PersistenceError::Refused("a rule".to_owned()))
    };
    RetryPolicy::default()
        .retry(work, |_| {})
        .await
        .unwrap_err();
    assert_eq!(attempts.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn attempts_that_hang_end_with_the_time() {
    let attempts = Cell::new(0);
    let work = async || {
        attempts.set(attempts.get() + 1);
        std::future::pending::<Result<(), _>>().await
    };
    let begin = Instant::now();
    let error = RetryPolicy::default()
        .retry(work, |_| {})
        .await
        .unwrap_err();
    assert!(error.to_string().contains("does not answer"), "{error}");
    assert_eq!((attempts.get(), begin.elapsed().as_secs()), (2, 34));
}

#[tokio::test(start_paused = true)]
async fn a_grace_time_of_hours_lets_no_result_be_saved_after_its_hour_was_counted() {
    let backoff = RetryPolicy::within(Duration::from_hours(10));
    let begin = Instant::now();
    let work = async || Err::<(), _>(passing());
    backoff.retry(work, |_| {}).await.unwrap_err();
    let minutes = begin.elapsed().as_secs() / 60;
    assert!((29..=30).contains(&minutes), "{minutes}");
}

#[tokio::test(start_paused = true)]
async fn a_draining_server_retries_only_within_its_grace_time() {
    let backoff = RetryPolicy::default();
    let begin = Instant::now();
    backoff.clone().drain();
    tokio::time::sleep(Duration::from_secs(20)).await;
    // a second signal gives no more time
    backoff.drain();
    let work = async || Err::<(), _>(passing());
    backoff.retry(work, |_| {}).await.unwrap_err();
    assert!(
        begin.elapsed() < Duration::from_secs(35),
        "{:?}",
        begin.elapsed()
    );

    tokio::time::sleep(Duration::from_secs(20)).await;
    let attempts = Cell::new(0);
    let work = async || {
        attempts.set(attempts.get() + 1);
        Err::<(), _>(passing())
    };
    backoff.retry(work, |_| {}).await.unwrap_err();
    assert_eq!(
        attempts.get(),
        1,
        "the time is up, but the first attempt is always made"
    );
}
