use std::collections::HashSet;
use std::time::Duration;

use actix_web::http::header::{ACCEPT, Header as _};
use actix_web::test::TestRequest;
use refract_http_serving::{BodyBudget, Lifecycle};

use super::*;

#[test]
fn a_loopback_address_is_for_this_machine() {
    for address in [
        "127.0.0.1:9090",
        "127.0.0.9:1",
        "[::1]:1",
        "[::ffff:127.0.0.1]:1",
    ] {
        assert!(is_loopback(address.parse().unwrap()), "{address}");
    }
    for address in ["0.0.0.0:9090", "[::]:9090", "10.0.0.7:9090"] {
        assert!(!is_loopback(address.parse().unwrap()), "{address}");
    }
}

#[test]
fn an_ip_address_and_localhost_are_local_hosts() {
    for host in [
        "localhost",
        "LocalHost:9090",
        "127.0.0.1",
        "127.0.0.1:9090",
        "[::1]:9090",
        "10.0.0.7:80",
    ] {
        assert!(is_local(&HeaderValue::from_static(host)), "{host}");
    }
    for host in [
        "",
        "example.com",
        "localhost.example.com:9090",
        "127.0.0.1.example.com",
        "localhost@example.com",
        "1",
        "::1",
        "localhost, example.com",
    ] {
        assert!(!is_local(&HeaderValue::from_static(host)), "{host}");
    }
}

fn encoded(format: ExpositionFormat) -> String {
    let mut registry = Registry::default();
    let lifecycle = Lifecycle::default();
    let requests = register(&mut registry, lifecycle.clone(), BodyBudget::default());
    requests.count("/v1/results/{result_id}", 200, Duration::from_millis(2));
    let _call = lifecycle.admit().unwrap();
    format.encode(&registry).unwrap()
}

fn assert_lines(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(
            text.lines().any(|written| written == *line),
            "{line}\n{text}"
        );
    }
}

#[test]
fn families_are_named_like_their_samples() {
    let text = encoded(ExpositionFormat::Prometheus);
    assert_lines(
        &text,
        &[
            "# TYPE refract_http_requests_total counter",
            "refract_http_requests_total{route=\"/v1/results/{result_id}\",status=\"200\"} 1",
            "# TYPE refract_http_request_duration_seconds histogram",
            "refract_http_request_duration_seconds_count{route=\"/v1/results/{result_id}\"} 1",
            "# TYPE refract_calls_in_flight gauge",
            "refract_calls_in_flight 1",
        ],
    );
    assert_every_sample_is_described(&text);
}

/// Checks the first rule of `promtool check metrics`: `HELP` and `TYPE` precede every family's
/// samples.
fn assert_every_sample_is_described(text: &str) {
    let mut described = HashSet::new();
    for line in text.lines() {
        if let Some(name) = family_name(line) {
            described.insert(name);
            continue;
        }
        let name = line.split(['{', ' ']).next().unwrap();
        let family = ["_bucket", "_sum", "_count"]
            .iter()
            .find_map(|suffix| name.strip_suffix(suffix))
            .filter(|family| described.contains(family));
        assert!(family.is_some() || described.contains(name), "{line}");
    }
}

/// The family's name in a `HELP` or `TYPE` line.
fn family_name(line: &str) -> Option<&str> {
    let rest = line
        .strip_prefix("# TYPE ")
        .or_else(|| line.strip_prefix("# HELP "))?;
    rest.split(' ').next()
}

#[test]
fn openmetrics_names_counters_without_their_suffix_and_ends_with_eof() {
    let text = encoded(ExpositionFormat::OpenMetrics);
    assert_lines(
        &text,
        &[
            "# TYPE refract_http_requests counter",
            "refract_http_requests_total{route=\"/v1/results/{result_id}\",status=\"200\"} 1",
            "refract_calls_in_flight 1",
        ],
    );
    assert!(text.ends_with("\n# EOF\n"), "{text}");
}

#[test]
fn the_preferred_format_is_chosen() {
    let prometheus = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,\
                      application/openmetrics-text;version=0.0.1;q=0.5,\
                      text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,\
                      text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
    for (accept, format) in [
        (prometheus, ExpositionFormat::OpenMetrics),
        (
            "application/openmetrics-text",
            ExpositionFormat::OpenMetrics,
        ),
        (
            "application/openmetrics-text;q=0.2, text/plain",
            ExpositionFormat::Prometheus,
        ),
        ("text/plain;version=0.0.4", ExpositionFormat::Prometheus),
        ("*/*", ExpositionFormat::Prometheus),
        ("text/html", ExpositionFormat::Prometheus),
        ("", ExpositionFormat::Prometheus),
    ] {
        let mut request = TestRequest::default();
        if !accept.is_empty() {
            request = request.insert_header((ACCEPT, accept));
        }
        let accept = Accept::parse(&request.to_http_request()).unwrap_or_else(|_| Accept::star());
        assert_eq!(ExpositionFormat::preferred(&accept), format, "{accept:?}");
    }
}
