//! Traces: the caller's trace continued and propagated, spans of requests and attempts, sampling,
//! and no data from callers.

use std::collections::BTreeMap;

use refract_test_stack::browser::joined;
use refract_test_stack::expected::Saved;
use refract_test_stack::http::Request;
use refract_test_stack::service::{Backend, PRISM, Service, Setup, TEXT};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::on_both;
use serde_json::{Value, json};

use crate::collector::{Collector, Manner, ReceivedSpan};
use crate::program::setup;

on_both!(
    a_trace_shows_the_statements_of_a_call_where_they_are_wanted,
    nothing_of_what_callers_send_is_exported,
);

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const SPAN: &str = "b7ad6b7169203331";
/// No spans are sent before the process ends.
const ONLY_AT_THE_END: (&str, &str) = ("OTEL_BSP_SCHEDULE_DELAY", "3600000");

async fn service_with(backend: Backend, url: &str, more: &[(&str, &str)]) -> Service {
    let mut settings = vec![("OTEL_EXPORTER_OTLP_ENDPOINT", url), ONLY_AT_THE_END];
    settings.extend_from_slice(more);
    let setup = Setup {
        settings: &settings,
        ..setup()
    };
    Service::with(backend, setup).await
}

/// Stops the node, which then sends its remaining spans, and returns its log.
async fn stop(service: &mut Service) -> Vec<String> {
    let mut node = service.nodes.remove(0);
    node.signal("TERM").await;
    assert_eq!(node.exit_code().await, Some(0), "{:?}", node.log());
    node.log()
}

/// The `traceparent` of each model request: trace, span and flags.
fn passed_on(service: &Service) -> Vec<(String, String, String)> {
    let requests = service.model.requests();
    let parents = requests.iter().map(|request| {
        let sent = request.header("traceparent").expect("it is passed on");
        let parts: Vec<&str> = sent.split('-').collect();
        let [version, trace, span, flags] = parts[..] else {
            panic!("{sent}");
        };
        assert_eq!(version, "00");
        (trace.to_owned(), span.to_owned(), flags.to_owned())
    });
    parents.collect()
}

fn attributes(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let pairs = pairs.iter().map(|(name, value)| (*name, *value));
    pairs
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

#[tokio::test]
async fn a_callers_trace_goes_on_through_the_request_and_each_attempt_to_the_model() {
    let collector = Collector::start(Manner::Takes).await;
    let mut service = service_with(Backend::Sqlite, &collector.url(), &[]).await;
    let refused = ScriptedReply::status(503).header("Retry-After", "0");
    service.model.then_once(refused);
    let sent = service
        .create_request(PRISM, &json!({"text": TEXT}))
        .header("traceparent", &format!("00-{TRACE}-{SPAN}-01"))
        .header("tracestate", "shop=1")
        .header("tracestate", "other@it=2");
    let result = Saved::of(&service.send(sent).await).id;
    let passed_on = passed_on(&service);
    let port = service.model.port().to_string();
    let log = stop(&mut service).await;

    let spans = collector.spans();
    let [first, second, request] = &spans[..] else {
        panic!("{spans:?}");
    };
    for span in &spans {
        assert_eq!(
            (span.trace.as_str(), span.state.as_str()),
            (TRACE, "shop=1,other@it=2")
        );
        assert_eq!(span.resource["service.name"], "refract");
        assert!(span.resource.contains_key("service.version"));
    }
    assert_eq!((request.kind, request.parent.as_str()), (2, SPAN));
    assert_eq!(request.name, "POST /v1/prisms/{prism}/results");
    assert!(!request.is_error);
    let expected = attributes(&[
        ("http.request.method", "POST"),
        ("http.response.status_code", "200"),
        ("http.route", "/v1/prisms/{prism}/results"),
        ("refract.prism", PRISM),
        ("refract.result", &result),
        ("url.scheme", "http"),
    ]);
    assert_eq!(request.attributes, expected);

    for attempt in [first, second] {
        assert_eq!((attempt.kind, &attempt.parent), (3, &request.id));
        assert_eq!(attempt.name, "systemone jev-latest");
    }
    assert!(first.is_error && !second.is_error);
    let common = [
        ("gen_ai.operation.name", "systemone"),
        ("gen_ai.provider.name", "systemone"),
        ("gen_ai.request.model", "jev-latest"),
        ("http.request.method", "POST"),
        ("server.address", "127.0.0.1"),
        ("server.port", &port),
    ];
    let ended = [("error.type", "503"), ("http.response.status_code", "503")];
    assert_eq!(
        first.attributes,
        attributes(&[&common[..], &ended].concat())
    );
    assert_eq!(second.attribute("http.request.resend_count"), "1");
    assert_eq!(second.attribute("http.response.status_code"), "200");
    assert_eq!(second.attribute("error.type"), "");

    let ids = [first, second].map(|span| (TRACE.to_owned(), span.id.clone(), "01".to_owned()));
    assert_eq!(passed_on, ids);
    for request in service.model.requests() {
        assert_eq!(request.header("tracestate"), Some("shop=1,other@it=2"));
    }
    let line = log.iter().find(|line| line.contains(&result)).unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    let ids = json!([line["trace_id"], line["span_id"]]);
    assert_eq!(ids, json!([TRACE, request.id]));
}

#[tokio::test]
async fn a_span_has_model_and_tokens_as_the_server_sent_them() {
    let collector = Collector::start(Manner::Takes).await;
    let mut service = service_with(Backend::Sqlite, &collector.url(), &[]).await;
    let answer = ScriptedReply::with(|request| {
        let mut answer = refract_test_support::model_server::system_one_answers(request);
        answer["model"] = json!("jev-1.13.0");
        answer["usage"] = json!({"input_tokens": 318, "output_tokens": 34});
        answer
    });
    service.model.then_always(answer);
    assert_eq!(service.create(&json!({"text": TEXT})).await.status, 200);
    stop(&mut service).await;
    let spans = collector.spans();
    let names = [
        "gen_ai.response.model",
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.output_tokens",
    ];
    let found = names.map(|name| spans[0].attribute(name));
    assert_eq!(found, ["jev-1.13.0", "318", "34"], "{spans:?}");
}

#[tokio::test]
async fn whether_a_request_is_sampled_is_up_to_the_sampler_and_the_caller() {
    for (sampler, ratio, caller, is_sampled) in [
        ("", "", None, true),
        ("", "", Some("01"), true),
        ("", "", Some("00"), false),
        ("always_off", "", Some("01"), false),
        ("traceidratio", "0", Some("01"), false),
        ("traceidratio", "1", Some("00"), true),
        ("parentbased_traceidratio", "0", None, false),
        ("parentbased_traceidratio", "0", Some("01"), true),
        ("parentbased_traceidratio", "1", Some("00"), false),
    ] {
        let case = format!("{sampler} {ratio} {caller:?}");
        let collector = Collector::start(Manner::Takes).await;
        let settings = [
            ("OTEL_TRACES_SAMPLER", sampler),
            ("OTEL_TRACES_SAMPLER_ARG", ratio),
            ("REFRACT_TRACE_STATEMENTS", "on"),
        ];
        let set = settings.into_iter().filter(|(_, value)| !value.is_empty());
        let set: Vec<_> = set.collect();
        let mut service = service_with(Backend::Sqlite, &collector.url(), &set).await;
        let mut call = service.create_request(PRISM, &json!({"text": TEXT}));
        if let Some(flags) = caller {
            call = call.header("traceparent", &format!("00-{TRACE}-{SPAN}-{flags}"));
        }
        assert_eq!(service.send(call).await.status, 200, "{case}");
        let log = stop(&mut service).await;
        let passed_on = passed_on(&service);
        let [(trace, span, flags)] = &passed_on[..] else {
            panic!("{case}: {passed_on:?}");
        };
        assert_eq!(trace == TRACE, caller.is_some(), "{case}");
        assert_ne!(span, SPAN, "{case}");
        assert_eq!(flags == "01", is_sampled, "{case}");
        assert_eq!(!collector.spans().is_empty(), is_sampled, "{case}");
        assert_eq!(collector.connections() > 0, is_sampled, "{case}");
        // the log also has the trace id of requests that are not sampled
        let of_trace = format!(r#""trace_id":"{trace}""#);
        assert!(log.iter().any(|line| line.contains(&of_trace)), "{case}");
    }
}

#[tokio::test]
async fn a_malformed_parent_begins_a_trace_and_fails_no_call() {
    let collector = Collector::start(Manner::Takes).await;
    let mut service = service_with(Backend::Sqlite, &collector.url(), &[]).await;
    let parents = [
        "",
        "nonsense",
        "00-0-0-01",
        "\u{e4}",
        "00-0af7651916cd43dd8448eb211c80319c",
    ];
    for parent in parents {
        let call = service
            .create_request(PRISM, &json!({"text": TEXT}))
            .header("traceparent", parent);
        assert_eq!(service.send(call).await.status, 200, "{parent}");
    }
    stop(&mut service).await;
    let spans = collector.spans();
    let requests: Vec<_> = spans.iter().filter(|span| span.kind == 2).collect();
    assert_eq!(requests.len(), parents.len(), "{spans:?}");
    for request in requests {
        assert_eq!((request.parent.as_str(), request.state.as_str()), ("", ""));
        assert_ne!(request.trace, TRACE);
    }
}

#[tokio::test]
async fn a_page_of_the_app_is_a_request_too() {
    let collector = Collector::start(Manner::Takes).await;
    let mut service = service_with(Backend::Sqlite, &collector.url(), &[]).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    let address = format!("/prisms/{PRISM}/try");
    let values = [
        ("fields.text", TEXT),
        ("version", "1"),
        ("action", "answer"),
    ];
    assert_eq!(ada.post(&address, &values).await.status, 303);
    assert_eq!(ada.get("/nowhere?q=query-sentinel").await.status, 404);
    drop(ada);
    stop(&mut service).await;
    let spans = collector.spans();
    let named = |name: &str| spans.iter().find(|span| span.name == name).cloned();
    let tried = named("POST /prisms/{slug}/try").unwrap_or_else(|| panic!("{spans:?}"));
    assert_eq!(tried.attribute("http.response.status_code"), "303");
    assert_eq!(
        named("systemone jev-latest").map(|span| span.parent),
        Some(tried.id)
    );
    assert_eq!(
        named("GET").unwrap().attribute("http.response.status_code"),
        "404"
    );
}

async fn a_trace_shows_the_statements_of_a_call_where_they_are_wanted(backend: Backend) {
    let collector = Collector::start(Manner::Takes).await;
    let on = [("REFRACT_TRACE_STATEMENTS", "on")];
    let mut service = service_with(backend, &collector.url(), &on).await;
    let id = Saved::of(&service.create(&json!({"text": TEXT})).await).id;
    assert_eq!(service.read(&id, "").await.status, 200);
    stop(&mut service).await;
    let spans = collector.spans();
    let requests: Vec<_> = spans.iter().filter(|span| span.kind == 2).collect();
    let statements_of = |request: &ReceivedSpan| {
        let below = spans.iter().filter(|span| span.parent == request.id);
        let statements = below.filter(|span| !span.attribute("db.system.name").is_empty());
        let named =
            statements.inspect(|span| assert_eq!(span.name, span.attribute("db.query.summary")));
        named.map(|span| span.name.clone()).collect::<Vec<_>>()
    };
    let created = [
        "SELECT api_keys prisms",
        "SELECT prism_versions",
        "SELECT prisms",
        "INSERT results",
    ];
    assert_eq!(statements_of(requests[0]), created);
    assert_eq!(
        statements_of(requests[1]),
        ["SELECT api_keys results prisms"]
    );
    let system = match backend {
        Backend::Sqlite => "sqlite",
        Backend::Postgres => "postgresql",
    };
    let expected = attributes(&[
        ("db.operation.name", "INSERT"),
        ("db.query.summary", "INSERT results"),
        ("db.system.name", system),
    ]);
    let insert = spans.iter().find(|span| span.name == "INSERT results");
    assert_eq!(insert.unwrap().attributes, expected);
}

async fn nothing_of_what_callers_send_is_exported(backend: Backend) {
    let collector = Collector::start(Manner::Takes).await;
    let settings = [
        ("REFRACT_TRACE_STATEMENTS", "on"),
        ("REFRACT_MODEL_API_KEY", "model-sentinel"),
    ];
    let mut service = service_with(backend, &collector.url(), &settings).await;
    let body = json!({
        "text": "text-sentinel",
        "context": "context-sentinel",
        "ref": "ref-sentinel",
        "idempotency_key": "idempotency-sentinel",
    });
    service
        .model
        .then_once(ScriptedReply::body("said-sentinel"));
    let failed = Saved::of(&service.create(&body).await);
    service
        .model
        .then_once(ScriptedReply::status(500).header("X-Said", "said-sentinel"));
    assert_eq!(service.create(&body).await.status, 200);
    service.retry(&failed.id).await;
    service
        .read(&failed.id, "?format=csv&x=query-sentinel")
        .await;
    service
        .create(&json!({"fields": {"field-sentinel": "text-sentinel"}}))
        .await;
    let unknown_prism = service.create_request("prism-sentinel", &body);
    service
        .send(unknown_prism.header("X-Request-Id", "id-sentinel"))
        .await;
    service.send(Request::get("/path-sentinel")).await;
    service
        .send(Request::new("METHODSENTINEL", "/results/x"))
        .await;
    let wrong_key = Request::get(&format!("/results/{}", failed.id)).bearer("rk_key-sentinel");
    service
        .send(wrong_key.header("traceparent", "parent-sentinel"))
        .await;
    stop(&mut service).await;
    let requests = collector.spans().into_iter().filter(|span| span.kind == 2);
    assert_eq!(requests.count(), 9);
    let key = service.key.strip_prefix("rk_").unwrap();
    for batch in collector.batches() {
        let text = String::from_utf8_lossy(&batch).to_lowercase();
        assert!(!text.contains("sentinel"), "{text}");
        assert!(!text.contains(&key.to_lowercase()), "{text}");
    }
}
