use super::*;

const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318");

fn reading(variables: &[(&str, &str)]) -> Result<Option<CollectorSettings>, TraceSettingError> {
    read(|name| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    })
}

#[test]
fn traces_are_off_unless_a_collector_is_named() {
    for variables in [
        &[][..],
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", "")],
        &[("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")],
        &[
            ("OTEL_SERVICE_NAME", "refract"),
            ("OTEL_TRACES_SAMPLER", "x"),
        ],
        &[ENDPOINT, ("OTEL_SDK_DISABLED", "True")],
        &[ENDPOINT, ("OTEL_TRACES_EXPORTER", "none")],
    ] {
        assert_eq!(reading(variables), Ok(None), "{variables:?}");
    }
}

#[test]
fn a_collector_is_waited_for_as_long_as_the_environment_sets() {
    const ALL: (&str, &str) = ("OTEL_EXPORTER_OTLP_TIMEOUT", "700");
    const OF_TRACES: (&str, &str) = ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "300");
    for (variables, milliseconds) in [
        (&[ENDPOINT][..], 10_000),
        (&[ENDPOINT, ("OTEL_SDK_DISABLED", "false")], 10_000),
        (&[ENDPOINT, ("OTEL_EXPORTER_OTLP_TIMEOUT", " ")], 10_000),
        (&[ENDPOINT, ("OTEL_TRACES_EXPORTER", "otlp"), ALL], 700),
        (&[ENDPOINT, ALL, OF_TRACES], 300),
        (
            &[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://c/v1/traces")],
            10_000,
        ),
        (
            &[ENDPOINT, ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")],
            10_000,
        ),
        (
            &[
                ENDPOINT,
                ("OTEL_TRACES_SAMPLER", "traceidratio"),
                ("OTEL_TRACES_SAMPLER_ARG", "0.1"),
            ],
            10_000,
        ),
        // the argument is ignored if no sampler takes it
        (
            &[
                ENDPOINT,
                ("OTEL_TRACES_SAMPLER", "always_on"),
                ("OTEL_TRACES_SAMPLER_ARG", "x"),
            ],
            10_000,
        ),
    ] {
        let timeout = Duration::from_millis(milliseconds);
        let expected = Ok(Some(CollectorSettings { timeout }));
        assert_eq!(reading(variables), expected, "{variables:?}");
    }
}

#[test]
fn what_cannot_be_used_is_named_without_its_value() {
    let wrong = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "secret:4318"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://secret"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:secret@host"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "secret"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
        ("OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "zstd"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "secret"),
        ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "-1"),
        ("OTEL_TRACES_SAMPLER", "secret"),
        ("OTEL_TRACES_SAMPLER", "jaeger_remote"),
        ("OTEL_TRACES_EXPORTER", "console"),
    ];
    for (name, value) in wrong {
        let mut variables = vec![(name, value)];
        variables.extend((name != ENDPOINT.0).then_some(ENDPOINT));
        let words = reading(&variables).unwrap_err().to_string();
        assert!(words.starts_with(name), "{name}={value}: {words}");
        assert!(!words.contains("secret"), "{words}");
    }
    for ratio in ["1.1", "-0.1", "NaN", "most"] {
        let sampler = ("OTEL_TRACES_SAMPLER", "parentbased_traceidratio");
        let read = reading(&[ENDPOINT, sampler, ("OTEL_TRACES_SAMPLER_ARG", ratio)]);
        assert_eq!(read, Err(TraceSettingError::SamplerRatio), "{ratio}");
    }
}
