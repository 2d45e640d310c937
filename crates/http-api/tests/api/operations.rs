//! The operator's listener: `/healthz`, `/readyz`, `/metrics`.

use std::collections::{BTreeMap, BTreeSet};

use refract_test_stack::http::Request;
use refract_test_stack::service::{Backend, PRISM, Service, TEXT};
use refract_test_support::model_server::ScriptedReply;
use serde_json::json;

#[tokio::test]
async fn a_page_that_points_its_name_at_this_machine_learns_nothing() {
    let service = Service::start(Backend::Sqlite).await;
    let node = &service.nodes[0];
    let port = node.ops.port();
    for path in ["/metrics", "/readyz", "/healthz", "/nowhere"] {
        let request = |host: &str| Request::outside("GET", path).header("Host", host);
        let rebound = format!("rebound.example:{port}");
        let answer = request(&rebound).send(node.ops).await;
        assert_eq!(answer.status, 421, "{path}");
        let words = "This listener answers only to an IP address or localhost as the host.\n";
        assert_eq!(answer.body, words);
        // a page can set these headers
        let request = request(&rebound).header("X-Forwarded-Host", "localhost");
        let request = request.header("Forwarded", "host=localhost");
        assert_eq!(request.send(node.ops).await.status, 421, "{path}");
    }
    for host in ["127.0.0.1".to_owned(), format!("localhost:{port}")] {
        let request = Request::outside("GET", "/metrics").header("Host", &host);
        assert_eq!(request.send(node.ops).await.status, 200, "{host}");
    }
}

/// One sample of a metric.
struct Sample<'a> {
    name: &'a str,
    labels: BTreeMap<&'a str, &'a str>,
    value: f64,
}

/// Parses a sample strictly by the text format; label values have no escapes here.
fn sample(line: &str) -> Sample<'_> {
    let (series, value) = line.rsplit_once(' ').expect(line);
    let (name, labels) = match series.split_once('{') {
        Some((name, labels)) => (name, labels.strip_suffix('}').expect(line)),
        None => (series, ""),
    };
    assert!(is_name(name), "{line}");
    let labels = labels.split("\",").filter(|label| !label.is_empty());
    let labels = labels.map(|label| {
        let (label, value) = label.split_once("=\"").expect(line);
        assert!(is_name(label), "{line}");
        (label, value.trim_end_matches('"'))
    });
    let value = if value == "+Inf" { "inf" } else { value };
    Sample {
        name,
        labels: labels.collect(),
        value: value.parse().expect(line),
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .chars()
            .all(|sign| sign.is_ascii_lowercase() || sign.is_ascii_digit() || sign == '_')
}

/// Checks a whole exposition as `promtool check metrics` does, and returns its samples in order.
fn check(text: &str) -> Vec<Sample<'_>> {
    let mut types: BTreeMap<&str, &str> = BTreeMap::new();
    let mut helps = BTreeSet::new();
    let mut samples: Vec<Sample<'_>> = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (family, help) = rest.split_once(' ').expect(line);
            assert!(helps.insert(family), "twice: {line}");
            assert!(!help.is_empty(), "{line}");
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (family, kind) = rest.split_once(' ').expect(line);
            assert!(helps.contains(family), "help first: {line}");
            assert!(types.insert(family, kind).is_none(), "twice: {line}");
            let is_total = family.ends_with("_total");
            assert_eq!(is_total, kind == "counter", "{line}");
            // standard process metrics have the names of Prometheus' client libraries
            let is_ours = family.starts_with("refract_") || family.starts_with("process_");
            assert!(is_ours, "{line}");
            let units = ["_milliseconds", "_ms", "_minutes", "_kilobytes"];
            assert!(!units.iter().any(|unit| family.contains(unit)), "{line}");
        } else if line != "# EOF" {
            assert!(!line.starts_with('#'), "{line}");
            let sample = sample(line);
            let family = ["_bucket", "_sum", "_count"]
                .iter()
                .find_map(|suffix| sample.name.strip_suffix(suffix))
                .filter(|family| types.get(family) == Some(&"histogram"))
                .unwrap_or(sample.name);
            assert!(types.contains_key(family), "not described: {line}");
            let twin = samples
                .iter()
                .any(|other| other.name == sample.name && other.labels == sample.labels);
            assert!(!twin, "twice: {line}");
            samples.push(sample);
        }
    }
    assert!(text.ends_with('\n'));
    samples
}

fn value(samples: &[Sample<'_>], name: &str, labels: &[(&str, &str)]) -> f64 {
    let found = samples.iter().find(|sample| {
        let has = |(label, value): &(&str, &str)| sample.labels.get(label) == Some(value);
        sample.name == name && labels.iter().all(has)
    });
    found
        .unwrap_or_else(|| panic!("no {name} {labels:?}"))
        .value
}

#[tokio::test]
async fn metrics_are_well_formed_and_count_what_happened() {
    let service = Service::start(Backend::Sqlite).await;
    let id =
        refract_test_stack::expected::Saved::of(&service.create(&json!({"text": TEXT})).await).id;
    service.model.then_once(ScriptedReply::status(429));
    service.create(&json!({"text": TEXT})).await;
    service.failed(&json!({"text": TEXT})).await;
    service.read(&id, "").await;
    service.read("x", "").await;
    service.send(Request::get("/secret-sentinel")).await;
    let answer = service.nodes[0].ops("/metrics").await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("content-type"),
        Some("text/plain; version=0.0.4; charset=utf-8")
    );
    for secret in ["sentinel", &service.key, TEXT, &id, PRISM] {
        assert!(!answer.body.contains(secret), "{secret}");
    }
    let samples = check(&answer.body);
    let create = ("route", "/v1/prisms/{prism}/results");
    let read = ("route", "/v1/results/{result_id}");
    let requests = "refract_http_requests_total";
    for (labels, count) in [
        ([create, ("status", "200")], 2.0),
        ([create, ("status", "502")], 1.0),
        ([read, ("status", "200")], 1.0),
        ([read, ("status", "400")], 1.0),
        ([("route", "unknown"), ("status", "404")], 1.0),
    ] {
        let counted = value(&samples, requests, &labels);
        assert!(
            (counted - count).abs() < f64::EPSILON,
            "{labels:?}: {counted}"
        );
    }
    let durations = "refract_http_request_duration_seconds";
    let of_creates: Vec<&Sample<'_>> = samples
        .iter()
        .filter(|sample| sample.name == format!("{durations}_bucket"))
        .filter(|sample| sample.labels.get("route") == Some(&create.1))
        .collect();
    assert!(of_creates.is_sorted_by(|one, next| one.value <= next.value));
    assert_eq!(of_creates.last().unwrap().labels["le"], "+Inf");
    for sample in [
        of_creates.last().unwrap().value,
        value(&samples, &format!("{durations}_count"), &[create]),
    ] {
        assert!((sample - 3.0).abs() < f64::EPSILON, "{sample}");
    }
    for (counter, label, count) in [
        ("refract_model_calls_total", ("outcome", "answered"), 2.0),
        ("refract_model_calls_total", ("outcome", "status"), 1.0),
        ("refract_results_saved_total", ("status", "ok"), 2.0),
        ("refract_results_saved_total", ("status", "failed"), 1.0),
    ] {
        let counted = value(&samples, counter, &[label]);
        assert!(
            (counted - count).abs() < f64::EPSILON,
            "{label:?}: {counted}"
        );
    }
    for gauge in [
        "refract_calls_in_flight",
        "refract_stopping",
        "refract_model_requests_in_flight",
        "refract_model_requests_waiting",
        "refract_database_connections_leased",
        "refract_database_connections_waiting",
    ] {
        assert!(value(&samples, gauge, &[]).abs() < f64::EPSILON, "{gauge}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn metrics_show_the_build_and_the_process() {
    let service = Service::start(Backend::Sqlite).await;
    let answer = service.nodes[0].ops("/metrics").await;
    let samples = check(&answer.body);
    let value = |name: &str| value(&samples, name, &[]);
    assert!((value("refract_build_info") - 1.0).abs() < f64::EPSILON);
    let build = samples.iter().find(|it| it.name == "refract_build_info");
    let labels = &build.unwrap().labels;
    let printed = service.run(&["--version"]).await.done();
    let commit = match labels["commit"] {
        "" => String::new(),
        commit => format!(" ({commit})"),
    };
    assert_eq!(printed, format!("refract {}{commit}\n", labels["version"]));
    let seconds = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs_f64();
    let age = seconds - value("process_start_time_seconds");
    assert!((-2.0..60.0).contains(&age), "{age}");
    assert!(value("process_cpu_seconds_total") < 60.0);
    let resident = value("process_resident_memory_bytes");
    assert!(resident > 1e6 && value("process_virtual_memory_bytes") >= resident);
    let open = value("process_open_fds");
    assert!(open > 20.0 && open < value("process_max_fds"), "{open}");
}

#[tokio::test]
async fn a_scraper_that_asks_for_openmetrics_gets_it() {
    let service = Service::start(Backend::Sqlite).await;
    service.create(&json!({"text": TEXT})).await;
    let prometheus =
        "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.3";
    let answer = service.nodes[0].metrics_as(prometheus).await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("content-type"),
        Some("application/openmetrics-text; version=1.0.0; charset=utf-8")
    );
    let counter = "# TYPE refract_http_requests counter";
    assert!(answer.body.lines().any(|line| line == counter));
    assert!(answer.body.contains("\nrefract_http_requests_total{"));
    assert!(answer.body.ends_with("\n# EOF\n"));
    let answer = service.nodes[0]
        .metrics_as("text/plain;version=0.0.4")
        .await;
    assert_eq!(
        answer.header("content-type"),
        Some("text/plain; version=0.0.4; charset=utf-8")
    );
    check(&answer.body);
}

#[tokio::test]
async fn metrics_show_how_the_connections_of_postgresql_are_used() {
    let [allowed, of_threads, _] = connections_after_a_call(Backend::Postgres).await;
    assert!((allowed - 16.0).abs() < f64::EPSILON, "the default");
    assert!(of_threads >= 1.0, "a call reads over its thread's");
    assert!(of_threads <= 8.0, "half may be taken");
}

#[tokio::test]
async fn metrics_show_how_the_connections_of_sqlite_are_used() {
    let [allowed, of_threads, idle] = connections_after_a_call(Backend::Sqlite).await;
    assert!(of_threads >= 1.0, "a call reads over its thread's");
    assert!(allowed >= of_threads + idle);
}

/// The connections allowed, owned by threads, and idle. No query waits.
async fn connections_after_a_call(backend: Backend) -> [f64; 3] {
    let service = Service::start(backend).await;
    service.create(&json!({"text": TEXT})).await;
    let answer = service.nodes[0].ops("/metrics").await;
    let samples = check(&answer.body);
    let [waiting, idle, counts @ ..] = ["waiting", "idle", "allowed", "of_threads"].map(|gauge| {
        value(
            &samples,
            &format!("refract_database_connections_{gauge}"),
            &[],
        )
    });
    assert!(waiting.abs() < f64::EPSILON);
    assert!(idle >= 1.0, "the start leased one");
    let [allowed, of_threads] = counts;
    [allowed, of_threads, idle]
}
