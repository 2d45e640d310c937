//! Settings of traces, read from the environment variables of the OpenTelemetry standard.
//!
//! The SDK reads most of them itself and ignores values that it cannot parse. They are checked here
//! first, so that a mistake fails the start with a one-line error. No error repeats a value:
//! addresses and headers may contain credentials.

use std::time::Duration;

use http::Uri;

/// Default timeout for a collector's answer.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The samplers that the SDK supports.
const SAMPLERS: [&str; 6] = [
    "always_on",
    "always_off",
    "traceidratio",
    "parentbased_always_on",
    "parentbased_always_off",
    "parentbased_traceidratio",
];

/// Why traces cannot be sent with the settings of the environment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceSettingError {
    /// An address that cannot be used.
    #[error("{0} cannot be used: it is no address such as http://127.0.0.1:4318")]
    Endpoint(&'static str),
    /// An address that contains a user name or a password.
    #[error("{0} holds credentials: set OTEL_EXPORTER_OTLP_HEADERS instead")]
    EndpointCredentials(&'static str),
    /// A protocol that is not supported.
    #[error(
        "{0} cannot be used: only http/protobuf is built in, which collectors take at port 4318"
    )]
    Protocol(&'static str),
    /// Compression, which is not supported.
    #[error("{0} cannot be used: only none is built in")]
    Compression(&'static str),
    /// A timeout that is not a number.
    #[error("{0} cannot be used: it is no number of milliseconds")]
    Timeout(&'static str),
    /// A sampler that the SDK does not have.
    #[error("OTEL_TRACES_SAMPLER cannot be used: it is none of {}", SAMPLERS.join(", "))]
    Sampler,
    /// A ratio that is not a number from 0 to 1.
    #[error("OTEL_TRACES_SAMPLER_ARG cannot be used: it is no number from 0 to 1")]
    SamplerRatio,
    /// An exporter that is not supported.
    #[error("OTEL_TRACES_EXPORTER cannot be used: it is neither otlp nor none")]
    Exporter,
    /// The TLS library rejects its own defaults.
    #[error("traces cannot be sent: TLS cannot be used")]
    Tls,
    /// An error of the SDK.
    #[error("traces cannot be sent: {0}")]
    Sdk(String),
    /// A collector is named, and the program was built without the feature `export`.
    #[error("this refract was built to try it and sends no traces: use the one of `make build`")]
    NotBuilt,
}

/// Settings of the connection to the collector that the SDK leaves to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CollectorSettings {
    /// Timeout for an answer.
    pub(crate) timeout: Duration,
}

/// Reads the environment through `variable`; `None` when traces are not enabled. An empty variable
/// counts as unset, as in the standard.
pub(crate) fn read(
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<CollectorSettings>, TraceSettingError> {
    let set = |name: &str| {
        let value = variable(name).map(|value| value.trim().to_owned());
        value.filter(|value| !value.is_empty())
    };
    let first = |names: [&'static str; 2]| {
        let mut found = names
            .into_iter()
            .filter_map(|name| Some((name, set(name)?)));
        found.next()
    };
    let is_disabled = set("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true"));
    let endpoint = first([
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        "OTEL_EXPORTER_OTLP_ENDPOINT",
    ]);
    let Some((name, endpoint)) = endpoint.filter(|_| !is_disabled) else {
        return Ok(None);
    };
    match set("OTEL_TRACES_EXPORTER").as_deref() {
        None | Some("otlp") => {}
        Some("none") => return Ok(None),
        Some(_) => return Err(TraceSettingError::Exporter),
    }
    check_endpoint(name, &endpoint)?;
    let protocol = first([
        "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
        "OTEL_EXPORTER_OTLP_PROTOCOL",
    ]);
    if let Some((name, _)) = protocol.filter(|(_, protocol)| protocol != "http/protobuf") {
        return Err(TraceSettingError::Protocol(name));
    }
    let compression = first([
        "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION",
        "OTEL_EXPORTER_OTLP_COMPRESSION",
    ]);
    if let Some((name, _)) = compression.filter(|(_, compression)| compression != "none") {
        return Err(TraceSettingError::Compression(name));
    }
    check_sampler(set("OTEL_TRACES_SAMPLER"), set("OTEL_TRACES_SAMPLER_ARG"))?;
    let timeout = first([
        "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
        "OTEL_EXPORTER_OTLP_TIMEOUT",
    ]);
    let timeout = match timeout {
        None => TIMEOUT,
        Some((name, text)) => {
            let milliseconds = text.parse().map_err(|_| TraceSettingError::Timeout(name))?;
            Duration::from_millis(milliseconds)
        }
    };
    Ok(Some(CollectorSettings { timeout }))
}

fn check_endpoint(name: &'static str, endpoint: &str) -> Result<(), TraceSettingError> {
    let malformed = TraceSettingError::Endpoint(name);
    let uri: Uri = endpoint.parse().map_err(|_| malformed.clone())?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(malformed);
    }
    let authority = uri.authority().ok_or(malformed)?;
    if authority.as_str().contains('@') {
        return Err(TraceSettingError::EndpointCredentials(name));
    }
    Ok(())
}

fn check_sampler(sampler: Option<String>, ratio: Option<String>) -> Result<(), TraceSettingError> {
    let Some(sampler) = sampler else {
        return Ok(());
    };
    if !SAMPLERS.contains(&sampler.as_str()) {
        return Err(TraceSettingError::Sampler);
    }
    match ratio {
        Some(ratio) if sampler.ends_with("traceidratio") => {
            let ratio: Option<f64> = ratio.parse().ok();
            let is_ratio = ratio.is_some_and(|ratio| (0.0..=1.0).contains(&ratio));
            is_ratio
                .then_some(())
                .ok_or(TraceSettingError::SamplerRatio)
        }
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
