//! The registry in Prometheus' text format 0.0.4.
//!
//! `prometheus-client` writes `OpenMetrics`, in which a counter's family is named without the
//! `_total` of its samples. Every scraper and checker reads the older format.

use std::collections::HashSet;

use prometheus_client::registry::Registry;

/// The media type of [`encode`]'s text.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Writes every metric of the registry.
pub(crate) fn encode(registry: &Registry) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    prometheus_client::encoding::text::encode_registry(&mut text, registry)?;
    let counters: HashSet<&str> = text.lines().filter_map(counter_name).collect();
    let mut out = String::with_capacity(text.len());
    for line in text.lines().filter(|line| !line.starts_with("# UNIT ")) {
        match family_name(line).filter(|name| counters.contains(name)) {
            Some(name) => out.push_str(&line.replacen(name, &format!("{name}_total"), 1)),
            None => out.push_str(line),
        }
        out.push('\n');
    }
    Ok(out)
}

fn counter_name(line: &str) -> Option<&str> {
    line.strip_prefix("# TYPE ")?.strip_suffix(" counter")
}

/// The name in a line that describes a family.
fn family_name(line: &str) -> Option<&str> {
    let rest = line
        .strip_prefix("# TYPE ")
        .or_else(|| line.strip_prefix("# HELP "))?;
    rest.split(' ').next()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::lifecycle::Lifecycle;
    use crate::metrics::HttpMetrics;

    #[test]
    fn families_are_named_like_their_samples() {
        let mut registry = Registry::default();
        let lifecycle = Lifecycle::default();
        let metrics = HttpMetrics::register(&mut registry, lifecycle.clone());
        metrics.count("/v1/results/{result_id}", 200, Duration::from_millis(2));
        let _call = lifecycle.admit().unwrap();
        let text = encode(&registry).unwrap();
        for line in [
            "# TYPE refract_http_requests_total counter",
            "refract_http_requests_total{route=\"/v1/results/{result_id}\",status=\"200\"} 1",
            "# TYPE refract_http_request_duration_seconds histogram",
            "refract_http_request_duration_seconds_count{route=\"/v1/results/{result_id}\"} 1",
            "# TYPE refract_calls_in_flight gauge",
            "refract_calls_in_flight 1",
        ] {
            assert!(
                text.lines().any(|written| written == line),
                "{line}\n{text}"
            );
        }
        assert_every_sample_is_described(&text);
    }

    /// What `promtool check metrics` asks first: `HELP` and `TYPE` before every family's samples.
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
}
