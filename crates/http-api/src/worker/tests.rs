use std::io;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix_web::rt::System;
use actix_web::test::TestRequest;
use prometheus_client::registry::Registry;
use refract_http_serving::{
    BodyBudget, Drained, Lifecycle, RequestRecorder, TrustedProxies, X_REQUEST_ID,
};
use refract_traces::Traces;
use serde_json::{Value, json};

use super::*;
use crate::error::ApiError;
use crate::ops;
use crate::ops::ExpositionFormat;

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Records a request of a server in this state; returns the fields of the log line and the encoded
/// metrics.
fn recorded_in(
    lifecycle: &Lifecycle,
    end: impl FnOnce(RequestRecord<CallLine>),
) -> (Value, String) {
    let lines = Lines::default();
    let writer = lines.clone();
    let logs = tracing_subscriber::fmt()
        .json()
        .with_writer(move || writer.clone())
        .finish();
    let mut registry = Registry::default();
    let recorder = Rc::new(RequestRecorder {
        metrics: ops::register(&mut registry, lifecycle.clone(), BodyBudget::default()),
        lifecycle: lifecycle.clone(),
        proxies: TrustedProxies::default(),
        traces: Traces::default(),
    });
    let request = TestRequest::get()
        .uri("/v1/results/secret-sentinel")
        .peer_addr("203.0.113.7:50000".parse().unwrap())
        .insert_header((X_REQUEST_ID, "order-7"))
        .to_http_request();
    tracing::subscriber::with_default(logs, || {
        let line = CallLine::default();
        end(recorder.begin(&request, "/v1/results/{result_id}", line));
    });
    let lines = lines.0.lock().unwrap().clone();
    let line: Value = serde_json::from_slice(&lines).unwrap();
    assert_eq!(line["level"], "INFO");
    (
        line["fields"].clone(),
        ExpositionFormat::Prometheus.encode(&registry).unwrap(),
    )
}

fn recorded(end: impl FnOnce(RequestRecord<CallLine>)) -> (Value, String) {
    recorded_in(&Lifecycle::default(), end)
}

#[test]
fn a_request_is_one_line_and_one_count() {
    let reply = Reply::error(&ApiError::NotAuthenticated);
    let (mut fields, metrics) = recorded(|record| end(record, &reply));
    let ms = fields.as_object_mut().unwrap().remove("ms").unwrap();
    assert!(ms.is_u64(), "{ms}");
    assert_eq!(
        fields,
        json!({
            "message": "request", "method": "GET", "route": "/v1/results/{result_id}",
            "status": 401, "client": "203.0.113.7", "request_id": "order-7",
        })
    );
    let counted =
        "refract_http_requests_total{route=\"/v1/results/{result_id}\",status=\"401\"} 1\n";
    assert!(metrics.contains(counted), "{metrics}");
}

#[test]
fn a_client_that_did_not_wait_is_recorded_too() {
    let (fields, metrics) = recorded(drop);
    assert_eq!(fields["status"], 499);
    assert!(metrics.contains("status=\"499\"} 1\n"), "{metrics}");
}

#[test]
fn a_call_that_the_server_cut_off_is_no_client_that_did_not_wait() {
    let lifecycle = Lifecycle::default();
    let _call = lifecycle.admit().unwrap();
    let drained = System::new().block_on(lifecycle.drain(Duration::ZERO));
    assert_eq!(drained, Drained::Cut(1));
    let (fields, metrics) = recorded_in(&lifecycle, drop);
    assert_eq!(
        (&fields["status"], &fields["cut"]),
        (&json!(503), &json!(true))
    );
    assert!(metrics.contains("status=\"503\"} 1\n"), "{metrics}");
    // a finished reply counts as a reply
    let reply = Reply::error(&ApiError::NotAuthenticated);
    let (fields, _) = recorded_in(&lifecycle, |record| end(record, &reply));
    assert_eq!(
        (&fields["status"], &fields["cut"]),
        (&json!(401), &Value::Null)
    );
}
