//! Traces: when they are on, the environment variables, and unavailable collectors.

use refract_test_stack::service::{Backend, Service, Setup, TEXT};
use serde_json::json;

use crate::collector::{Collector, Manner};
use crate::program::run;
use crate::program::setup;

async fn service_with(settings: &[(&str, &str)]) -> Service {
    let setup = Setup {
        settings,
        ..setup()
    };
    Service::with(Backend::Sqlite, setup).await
}

async fn call(service: &Service) {
    let answer = service.create(&json!({"text": TEXT})).await;
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[tokio::test]
async fn off_nothing_is_sent_passed_on_or_logged() {
    let collector = Collector::start(Manner::Takes).await;
    let url = collector.url();
    for settings in [
        &[][..],
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", "")],
        &[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()),
            ("OTEL_SDK_DISABLED", "true"),
        ],
    ] {
        let mut service = service_with(settings).await;
        call(&service).await;
        let node = service.nodes.remove(0);
        let log = node.log();
        node.stop().await;
        let requests = service.model.requests();
        assert_eq!(requests[0].header("traceparent"), None);
        assert!(!log.iter().any(|line| line.contains("trace_id")), "{log:?}");
    }
    assert_eq!(collector.connections(), 0);
}

#[tokio::test]
async fn the_standards_variables_say_where_and_as_whom_spans_are_sent() {
    let collector = Collector::start(Manner::Takes).await;
    let endpoint = format!("{}/own/path", collector.url());
    let service = service_with(&[
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", endpoint.as_str()),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=seven"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
        ("OTEL_SERVICE_NAME", "triage"),
        (
            "OTEL_RESOURCE_ATTRIBUTES",
            "deployment.environment.name=test",
        ),
        ("OTEL_BSP_SCHEDULE_DELAY", "10"),
    ])
    .await;
    call(&service).await;
    collector.until_batches(1).await;
    let batch = collector.batches().remove(0);
    let head = String::from_utf8_lossy(&batch).to_lowercase();
    assert!(head.starts_with("post /own/path http/1.1\r\n"), "{head}");
    assert!(head.contains("\r\nx-tenant: seven\r\n"), "{head}");
    assert!(
        head.contains("\r\ncontent-type: application/x-protobuf\r\n"),
        "{head}"
    );
    let resource = collector.spans().remove(0).resource;
    assert_eq!(resource["service.name"], "triage");
    assert_eq!(resource["deployment.environment.name"], "test");
}

#[tokio::test]
async fn a_collector_that_is_away_is_mentioned_once_and_costs_no_call() {
    let service = service_with(&[
        // nobody listens at this address
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"),
        ("OTEL_BSP_SCHEDULE_DELAY", "1"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "2"),
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1"),
    ])
    .await;
    for _ in 0..20 {
        call(&service).await;
    }
    let node = &service.nodes[0];
    let is_mentioned = |line: &str| line.contains("the collector does not take traces");
    let line = node.logged(is_mentioned).await;
    assert!(line.contains(r#""level":"WARN""#), "{line}");
    for _ in 0..20 {
        call(&service).await;
    }
    let mut service = service;
    let mut node = service.nodes.remove(0);
    node.signal("TERM").await;
    assert_eq!(node.exit_code().await, Some(0), "{:?}", node.log());
    let log = node.log();
    let mentioned = log.iter().filter(|line| is_mentioned(line)).count();
    assert_eq!(mentioned, 1, "{log:?}");
}

#[tokio::test]
async fn a_collector_that_never_answers_does_not_hold_up_the_end() {
    let collector = Collector::start(Manner::Hangs).await;
    let url = collector.url();
    let mut service = service_with(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()),
        ("OTEL_BSP_SCHEDULE_DELAY", "1"),
        // far longer than the test takes
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "3600000"),
    ])
    .await;
    call(&service).await;
    collector.until_batches(1).await;
    call(&service).await;
    service.nodes.remove(0).stop().await;
}

#[tokio::test]
async fn what_cannot_be_used_stops_the_start_with_one_line() {
    let folder = tempfile::tempdir().unwrap();
    for (name, value, words) in [
        (
            "OTEL_EXPORTER_OTLP_PROTOCOL",
            "grpc",
            "only http/protobuf is built in, which collectors take at port 4318",
        ),
        (
            "OTEL_EXPORTER_OTLP_COMPRESSION",
            "gzip",
            "only none is built in",
        ),
        (
            "OTEL_TRACES_SAMPLER",
            "sometimes",
            "it is none of always_on, always_off, ",
        ),
        (
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            "collector:4318",
            "http://127.0.0.1:4318",
        ),
        (
            "REFRACT_TRACE_STATEMENTS",
            "perhaps",
            "REFRACT_TRACE_STATEMENTS cannot be used: 'perhaps': expected on or off",
        ),
    ] {
        let settings = [
            ("REFRACT_MODEL_URL", "builtin:lexical"),
            ("REFRACT_LISTEN", "127.0.0.1:0"),
            ("REFRACT_OPS_LISTEN", "off"),
            ("REFRACT_APP_LISTEN", "off"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"),
            (name, value),
        ];
        let line = run(folder.path(), &settings, &["serve"]).await.refused();
        assert!(line.contains(words), "{name}: {line}");
    }
}
