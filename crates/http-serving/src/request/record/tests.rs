use std::cell::RefCell;
use std::time::Duration;

use actix_web::rt::System;
use actix_web::test::TestRequest;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

use super::*;
use crate::lifecycle::Drained;

const ROUTE: &str = "/things/{id}";

/// The lines of a listener: method, route, status, cut and request id.
#[derive(Clone, Default)]
struct TestLine(Rc<RefCell<Vec<String>>>);

impl RequestLine for TestLine {
    fn log(&self, ended: &EndedRequest<'_>) {
        let EndedRequest {
            method,
            route,
            status,
            cut,
            id,
            ..
        } = ended;
        let line = format!("{method} {route} {status} {cut:?} {id}");
        self.0.borrow_mut().push(line);
    }
}

/// Records a request of a server in this state; returns its line and the encoded metrics.
fn recorded(lifecycle: &Lifecycle, end: impl FnOnce(RequestRecord<TestLine>)) -> (String, String) {
    let mut registry = Registry::default();
    let recorder = Rc::new(RequestRecorder {
        metrics: RequestMetrics::register(&mut registry, "refract_test", "the test"),
        lifecycle: lifecycle.clone(),
        proxies: TrustedProxies::default(),
        traces: Traces::default(),
    });
    let request = TestRequest::post()
        .uri("/things/secret-sentinel")
        .insert_header(("x-request-id", "order-7"))
        .to_http_request();
    let lines = TestLine::default();
    end(recorder.begin(&request, ROUTE, lines.clone()));
    let lines = lines.0.take();
    assert_eq!(lines.len(), 1, "{lines:?}");
    let mut metrics = String::new();
    encode(&mut metrics, &registry).unwrap();
    assert!(!metrics.contains("sentinel"), "{metrics}");
    (lines.concat(), metrics)
}

fn assert_counted(metrics: &str, status: u16) {
    let requests =
        format!("refract_test_requests_total{{route=\"{ROUTE}\",status=\"{status}\"}} 1\n");
    let durations = format!("refract_test_request_duration_seconds_count{{route=\"{ROUTE}\"}} 1\n");
    assert!(metrics.contains(&requests), "{metrics}");
    assert!(metrics.contains(&durations), "{metrics}");
}

#[test]
fn a_request_with_a_reply_is_recorded_once_with_its_status() {
    let (line, metrics) = recorded(&Lifecycle::default(), |record| record.end(201));
    assert_eq!(line, "POST /things/{id} 201 None order-7");
    assert_counted(&metrics, 201);
}

#[test]
fn a_request_that_is_dropped_is_one_whose_client_did_not_wait() {
    let (line, metrics) = recorded(&Lifecycle::default(), drop);
    assert_eq!(line, "POST /things/{id} 499 None order-7");
    assert_counted(&metrics, 499);
}

#[test]
fn a_request_that_the_stopping_server_drops_is_cut_off() {
    let lifecycle = Lifecycle::default();
    let _call = lifecycle.admit().unwrap();
    let drained = System::new().block_on(lifecycle.drain(Duration::ZERO));
    assert_eq!(drained, Drained::Cut(1));
    let (line, metrics) = recorded(&lifecycle, drop);
    assert_eq!(line, "POST /things/{id} 503 Some(true) order-7");
    assert_counted(&metrics, 503);
    // a finished reply counts as a reply
    let (line, _) = recorded(&lifecycle, |record| record.end(200));
    assert_eq!(line, "POST /things/{id} 200 None order-7");
}
