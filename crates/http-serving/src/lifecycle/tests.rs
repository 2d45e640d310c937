use tokio::sync::oneshot;

use super::*;

const LONG: Duration = Duration::from_mins(1);

/// Runs a future on a runtime like that of a worker thread.
fn on_a_worker(future: impl Future<Output = ()>) {
    actix_web::rt::System::new().block_on(future);
}

#[test]
fn nothing_in_flight_is_drained_at_once() {
    on_a_worker(async {
        let lifecycle = Lifecycle::default();
        assert!(!lifecycle.is_draining());
        assert_eq!(lifecycle.drain(LONG).await, Drained::Clean);
        assert!(lifecycle.is_draining() && lifecycle.is_stopping());
    });
}

#[test]
fn an_announced_stop_lets_calls_in_until_the_server_drains() {
    on_a_worker(async {
        let lifecycle = Lifecycle::default();
        assert!(!lifecycle.is_stopping());
        lifecycle.announce_stop();
        assert!(lifecycle.is_stopping() && !lifecycle.is_draining());
        drop(lifecycle.admit().unwrap());
        lifecycle.drain(LONG).await;
        assert!(matches!(lifecycle.admit(), Err(Draining)));
    });
}

#[test]
fn draining_lets_no_call_in_and_waits_for_those_that_are() {
    on_a_worker(async {
        let lifecycle = Lifecycle::default();
        let call = lifecycle.admit().unwrap();
        let mut drain = Box::pin(lifecycle.drain(LONG));
        assert!((&mut drain).now_or_never().is_none());
        assert!(matches!(lifecycle.admit(), Err(Draining)));
        assert_eq!(lifecycle.calls_in_flight(), 1);
        assert!((&mut drain).now_or_never().is_none());
        drop(call);
        assert_eq!(drain.await, Drained::Clean);
        assert!(!lifecycle.is_cutting());
        assert!(matches!(lifecycle.admit(), Err(Draining)));
    });
}

#[test]
fn calls_are_cut_when_the_grace_time_runs_out() {
    on_a_worker(async {
        let lifecycle = Lifecycle::default();
        let _calls = [lifecycle.admit().unwrap(), lifecycle.admit().unwrap()];
        assert_eq!(
            lifecycle.drain(Duration::from_millis(1)).await,
            Drained::Cut(2)
        );
        assert!(lifecycle.is_cutting());
    });
}

#[test]
fn a_use_case_goes_on_without_its_client_and_is_waited_for() {
    on_a_worker(async {
        let lifecycle = Lifecycle::default();
        let (go, may_go) = oneshot::channel::<()>();
        let (done, is_done) = oneshot::channel::<()>();
        let call = lifecycle.admit().unwrap().detached(async move {
            may_go.await.unwrap();
            done.send(()).unwrap();
        });
        let mut call = Box::pin(call);
        assert!((&mut call).now_or_never().is_none());
        drop(call);
        let mut drain = Box::pin(lifecycle.drain(LONG));
        assert!((&mut drain).now_or_never().is_none());
        assert_eq!(lifecycle.calls_in_flight(), 1);
        go.send(()).unwrap();
        assert_eq!(drain.await, Drained::Clean);
        is_done.await.unwrap();
    });
}

#[test]
fn a_use_cases_end_is_the_calls_end() {
    on_a_worker(async {
        let lifecycle = Lifecycle::default();
        let call = lifecycle.admit().unwrap();
        assert_eq!(call.detached(async { 7 }).await, Ok(7));
        assert_eq!(lifecycle.calls_in_flight(), 0);
    });
}

#[test]
fn a_panic_is_an_error_and_the_call_ends() {
    on_a_worker(async {
        let lifecycle = Lifecycle::default();
        let call = lifecycle.admit().unwrap();
        let panicked = call
            .detached::<()>(async { panic!("a text that was sent") })
            .await;
        assert_eq!(panicked, Err(Panicked));
        assert_eq!(lifecycle.drain(LONG).await, Drained::Clean);

        let handler = unless_panicked(async { panic!("a text that was sent") });
        assert_eq!(handler.await.map(|(): ()| ()), Err(Panicked));
    });
}

#[test]
fn who_waits_for_something_else_than_a_call_stops_when_the_server_drains() {
    on_a_worker(async {
        let lifecycle = Lifecycle::default();
        assert_eq!(lifecycle.unless_draining(async { 7 }).await, Ok(7));
        let mut waiting = Box::pin(lifecycle.unless_draining(std::future::pending::<()>()));
        assert!((&mut waiting).now_or_never().is_none());
        lifecycle.drain(LONG).await;
        assert_eq!(waiting.await, Err(Draining));
    });
}
