//! Where the model is, the built-in scorer, or one or several servers; and the header that carries
//! the API key.

use std::fmt;
use std::str::FromStr;

use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};

use crate::servers::{EachServer, MOST_SERVERS, ServerAddress};
use crate::settings::protocol::Protocol;
use crate::settings::setting_error::{AddressError, SettingError};

/// Where the model is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelEndpoint {
    /// Servers with one model; any of them may answer a call.
    Servers(EachServer<ServerAddress>),
    /// The built-in scorer: to try the service without a model, never for real answers.
    DemoScorer,
}

impl ModelEndpoint {
    const DEMO_SCORER: &'static str = "builtin:lexical";

    /// The only server's address with `/v1` at its end if it has none, else without. `None` for
    /// several servers, for the built-in scorer, and for the whole address of an endpoint.
    pub fn with_or_without_v1(&self) -> Option<Self> {
        let address = self.only_server()?.with_or_without_v1()?;
        Some(Self::Servers(EachServer::alone(address)))
    }

    /// Whether this is the whole address of one endpoint, to which no protocol appends anything.
    pub fn is_whole(&self) -> bool {
        self.only_server().is_some_and(ServerAddress::is_whole)
    }

    /// Where a protocol asks the only server; `None` for several servers and the built-in scorer.
    pub fn asked_by(&self, protocol: Protocol) -> Option<String> {
        let uri = self.only_server()?.endpoint(protocol.path()).ok()?;
        Some(uri.to_string())
    }

    /// Whether one of the addresses is that of an endpoint that this protocol never asks.
    pub fn contradicts(&self, protocol: Protocol) -> bool {
        match self {
            Self::Servers(addresses) => addresses.iter().any(|it| it.contradicts(protocol)),
            Self::DemoScorer => false,
        }
    }

    fn only_server(&self) -> Option<&ServerAddress> {
        match self {
            Self::Servers(addresses) if !addresses.are_several() => addresses.iter().next(),
            Self::Servers(_) | Self::DemoScorer => None,
        }
    }

    /// Each server as a separate endpoint, in the order of the list; the built-in scorer counts as
    /// one.
    pub(crate) fn each_alone(&self) -> Vec<Self> {
        match self {
            Self::DemoScorer => vec![Self::DemoScorer],
            Self::Servers(addresses) => addresses
                .iter()
                .map(|address| Self::Servers(EachServer::alone(address.clone())))
                .collect(),
        }
    }
}

impl FromStr for ModelEndpoint {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        let mut texts = text.split(',').map(str::trim);
        let first = texts.next().unwrap_or_default();
        let others: Vec<&str> = texts.collect();
        if others.is_empty() {
            return match first {
                Self::DEMO_SCORER => Ok(Self::DemoScorer),
                address => Ok(Self::Servers(EachServer::alone(alone(address)?))),
            };
        }
        if others.len() >= MOST_SERVERS {
            return Err(SettingError::EndpointCount);
        }
        let mut servers = EachServer::alone(listed(first, 1)?);
        for (text, number) in others.into_iter().zip(2..) {
            let address = listed(text, number)?;
            let earlier = servers.iter().position(|known| known.is_same_as(&address));
            if let Some(earlier) = earlier {
                let error = AddressError::SameAs(earlier + 1);
                return Err(SettingError::EndpointOfList { number, error });
            }
            servers.push(address);
        }
        Ok(Self::Servers(servers))
    }
}

/// Parses the address of a single server.
fn alone(text: &str) -> Result<ServerAddress, SettingError> {
    ServerAddress::parse(text).map_err(|error| match error {
        AddressError::Credentials => SettingError::EndpointCredentials,
        AddressError::Completions => SettingError::EndpointCompletions,
        AddressError::Malformed
        | AddressError::Empty
        | AddressError::BuiltIn
        | AddressError::SameAs(_) => SettingError::Endpoint,
    })
}

/// Parses an address in a list, at the position `number` from 1.
fn listed(text: &str, number: usize) -> Result<ServerAddress, SettingError> {
    let address = match text {
        "" => Err(AddressError::Empty),
        ModelEndpoint::DEMO_SCORER => Err(AddressError::BuiltIn),
        address => ServerAddress::parse(address),
    };
    address.map_err(|error| SettingError::EndpointOfList { number, error })
}

impl fmt::Display for ModelEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Servers(addresses) => {
                let texts: Vec<String> = addresses.iter().map(ToString::to_string).collect();
                f.write_str(&texts.join(", "))
            }
            Self::DemoScorer => f.write_str(Self::DEMO_SCORER),
        }
    }
}

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
mod tests;
