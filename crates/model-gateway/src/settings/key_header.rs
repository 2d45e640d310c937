//! The header that carries the API key.

use std::fmt;
use std::str::FromStr;

use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};

use crate::settings::protocol::Protocol;
use crate::settings::setting_error::SettingError;

/// The header in which Google's services expect a key.
const GOOGLE: HeaderName = HeaderName::from_static("x-goog-api-key");

/// Headers that describe the message, the connection or the trace: a key in one of them would break
/// the request.
const RESERVED: [&str; 15] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "proxy-authorization",
    "te",
    "traceparent",
    "tracestate",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
];

/// The name of the header that carries the API key: as a bearer token in `Authorization`, bare in
/// any other header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelKeyHeader(HeaderName);

impl ModelKeyHeader {
    /// The header of a key without a header of its own.
    pub fn of_protocol(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Gemini => Self(GOOGLE),
            Protocol::SystemOne | Protocol::Decisions | Protocol::Chat | Protocol::Stated => {
                Self::default()
            }
        }
    }

    pub(crate) fn name(&self) -> &HeaderName {
        &self.0
    }

    /// The value of this header with a key.
    pub(crate) fn value(&self, key: &str) -> Result<HeaderValue, SettingError> {
        let value = if self.0 == AUTHORIZATION {
            HeaderValue::try_from(format!("Bearer {key}"))
        } else {
            HeaderValue::try_from(key)
        };
        let mut value = value.map_err(|_| SettingError::ApiKey)?;
        value.set_sensitive(true);
        Ok(value)
    }
}

impl Default for ModelKeyHeader {
    /// `Authorization`.
    fn default() -> Self {
        Self(AUTHORIZATION)
    }
}

impl FromStr for ModelKeyHeader {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        let name: HeaderName = text.trim().parse().map_err(|_| SettingError::KeyHeader)?;
        if RESERVED.contains(&name.as_str()) {
            return Err(SettingError::KeyHeader);
        }
        Ok(Self(name))
    }
}

impl fmt::Display for ModelKeyHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &str) -> ModelKeyHeader {
        name.parse().unwrap()
    }

    #[test]
    fn a_key_is_a_bearer_token_in_authorization_and_bare_elsewhere() {
        for (name, value) in [
            ("Authorization", "Bearer sk-1"),
            ("AUTHORIZATION", "Bearer sk-1"),
            (" x-api-key ", "sk-1"),
            ("api-key", "sk-1"),
            ("X-Goog-Api-Key", "sk-1"),
        ] {
            let sent = header(name).value("sk-1").unwrap();
            assert_eq!(sent, value, "{name}");
            assert!(sent.is_sensitive());
        }
    }

    #[test]
    fn gemini_has_a_header_of_its_own() {
        let of = |protocol| ModelKeyHeader::of_protocol(protocol).to_string();
        assert_eq!(of(Protocol::Gemini), "x-goog-api-key");
        for protocol in [
            Protocol::SystemOne,
            Protocol::Decisions,
            Protocol::Chat,
            Protocol::Stated,
        ] {
            assert_eq!(of(protocol), "authorization");
        }
    }

    #[test]
    fn what_is_no_header_for_a_key_is_refused() {
        for name in [
            "",
            " ",
            "api key",
            "x-api-key:",
            "schlüssel",
            "Host",
            "content-length",
            "Transfer-Encoding",
            "traceparent",
        ] {
            let refused = name.parse::<ModelKeyHeader>();
            assert_eq!(refused, Err(SettingError::KeyHeader), "{name}");
        }
    }
}
