//! The text formats of `/metrics`.
//!
//! `prometheus-client` encodes `OpenMetrics`. Prometheus' older text format, which every scraper
//! and checker reads, gives a counter's family the name of its samples, with `_total`;
//! `OpenMetrics` names the family without the suffix.

use actix_web::http::header::Accept;
use prometheus_client::encoding::text;
use prometheus_client::registry::Registry;

/// A text format of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpositionFormat {
    /// Prometheus' text format 0.0.4.
    Prometheus,
    /// `OpenMetrics` 1.0.
    OpenMetrics,
}

impl ExpositionFormat {
    /// The format that a scraper prefers; Prometheus' text format when it names neither.
    pub(crate) fn preferred(accept: &Accept) -> Self {
        let ranked = accept.ranked().into_iter();
        let mut known = ranked.filter_map(|media_type| match media_type.essence_str() {
            "application/openmetrics-text" => Some(Self::OpenMetrics),
            "text/plain" => Some(Self::Prometheus),
            _ => None,
        });
        known.next().unwrap_or(Self::Prometheus)
    }

    /// The media type of the format.
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }

    /// Encodes every metric of a registry.
    ///
    /// # Errors
    /// When a collector cannot encode its metrics.
    pub(crate) fn encode(self, registry: &Registry) -> Result<String, std::fmt::Error> {
        let mut exposition = String::new();
        match self {
            Self::Prometheus => {
                text::encode_registry(&mut exposition, registry)?;
                Ok(with_suffixed_counters(&exposition))
            }
            Self::OpenMetrics => {
                text::encode(&mut exposition, registry)?;
                Ok(exposition)
            }
        }
    }
}

/// `OpenMetrics` text with the suffix `_total` added to the families of counters.
fn with_suffixed_counters(exposition: &str) -> String {
    let counters = exposition.lines().filter_map(counter_name);
    counters.fold(exposition.to_owned(), |text, name| {
        ["HELP", "TYPE"].iter().fold(text, |text, keyword| {
            text.replace(
                &format!("# {keyword} {name} "),
                &format!("# {keyword} {name}_total "),
            )
        })
    })
}

fn counter_name(line: &str) -> Option<&str> {
    line.strip_prefix("# TYPE ")?.strip_suffix(" counter")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::time::Duration;

    use actix_web::http::header::{ACCEPT, Header as _};
    use actix_web::test::TestRequest;

    use super::*;
    use crate::ops;
    use refract_http_serving::{BodyBudget, Lifecycle};

    fn encoded(format: ExpositionFormat) -> String {
        let mut registry = Registry::default();
        let lifecycle = Lifecycle::default();
        let requests = ops::register(&mut registry, lifecycle.clone(), BodyBudget::default());
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
            let accept =
                Accept::parse(&request.to_http_request()).unwrap_or_else(|_| Accept::star());
            assert_eq!(ExpositionFormat::preferred(&accept), format, "{accept:?}");
        }
    }
}
