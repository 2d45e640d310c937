use refract_answering::InternalError;
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
        assert!(lifecycle.is_draining());
    });
}

#[test]
fn draining_lets_no_call_in_and_waits_for_those_that_are() {
    on_a_worker(async {
        let lifecycle = Lifecycle::default();
        let call = lifecycle.admit().unwrap();
        let mut drain = Box::pin(lifecycle.drain(LONG));
        assert!((&mut drain).now_or_never().is_none());
        assert!(matches!(lifecycle.admit(), Err(ApiError::Draining)));
        assert_eq!(lifecycle.calls_in_flight(), 1);
        assert!((&mut drain).now_or_never().is_none());
        drop(call);
        assert_eq!(drain.await, Drained::Clean);
        assert!(matches!(lifecycle.admit(), Err(ApiError::Draining)));
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
    });
}

#[test]
fn a_use_case_goes_on_without_its_client_and_is_waited_for() {
    on_a_worker(async {
        let lifecycle = Lifecycle::default();
        let (go, told_to_go) = oneshot::channel::<()>();
        let (done, is_done) = oneshot::channel::<()>();
        let call = lifecycle.admit().unwrap().detached(async move {
            told_to_go.await.unwrap();
            done.send(()).unwrap();
            Ok(())
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
        let admit = || lifecycle.admit().unwrap();
        assert!(matches!(admit().detached(async { Ok(7) }).await, Ok(7)));
        let refused = admit()
            .detached::<()>(async { Err(Refusal::ResultNotFound) })
            .await;
        assert!(matches!(
            refused,
            Err(ApiError::Refused(Refusal::ResultNotFound))
        ));
        let failed = admit().detached::<()>(async { Err(InternalError::VersionMissing.into()) });
        assert_eq!(failed.await.unwrap_err().reply().status, 500);
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
        assert!(matches!(panicked, Err(ApiError::Panicked)));
        assert_eq!(lifecycle.drain(LONG).await, Drained::Clean);

        let handler = unless_panicked(async { panic!("a text that was sent") });
        let error: ApiError = handler.await.map(|(): ()| ()).unwrap_err();
        let body = String::from_utf8(error.reply().body).unwrap();
        assert_eq!(
            body,
            r#"{"error":{"code":"internal_error","message":"Internal server error"}}"#
        );
    });
}
