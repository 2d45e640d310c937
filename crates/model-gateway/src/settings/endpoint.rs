//! Where the model is: the built-in scorer, or one or several servers.

use std::fmt;
use std::str::FromStr;

use crate::servers::address::ServerAddress;
use crate::servers::place::{EachServer, MOST_SERVERS};
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The addresses of the `systemone` endpoint at each server.
    fn endpoints(text: &str) -> Vec<String> {
        let Ok(ModelEndpoint::Servers(addresses)) = text.parse() else {
            panic!("{text}")
        };
        let endpoint = |address: &ServerAddress| address.endpoint("systemone").unwrap().to_string();
        addresses.iter().map(endpoint).collect()
    }

    #[test]
    fn an_endpoint_is_the_scorer_or_the_address_of_a_server() {
        assert_eq!("builtin:lexical".parse(), Ok(ModelEndpoint::DemoScorer));
        for (text, endpoint) in [
            (
                "http://127.0.0.1:8000/v1",
                "http://127.0.0.1:8000/v1/systemone",
            ),
            (
                "https://models.example/api/v1//",
                "https://models.example/api/v1/systemone",
            ),
            (" http://[::1]:8000 ", "http://[::1]:8000/systemone"),
        ] {
            assert_eq!(endpoints(text), [endpoint]);
        }
    }

    #[test]
    fn a_list_of_servers_is_taken_in_its_order() {
        let text = "http://b:1/v1, https://a/llama/v1/ ,http://[::1]";
        let expected = [
            "http://b:1/v1/systemone",
            "https://a/llama/v1/systemone",
            "http://[::1]/systemone",
        ];
        assert_eq!(endpoints(text), expected);
        let endpoint: ModelEndpoint = text.parse().unwrap();
        let shown = "http://b:1/v1, https://a/llama/v1, http://[::1]";
        assert_eq!(endpoint.to_string(), shown);
        let alone = endpoint.each_alone();
        let alone: Vec<String> = alone.iter().map(ToString::to_string).collect();
        assert_eq!(alone.join(", "), shown);
        let many = |servers: usize| {
            let addresses: Vec<_> = (1..=servers)
                .map(|port| format!("http://h:{port}"))
                .collect();
            addresses.join(",").parse::<ModelEndpoint>()
        };
        assert!(many(64).is_ok());
        assert_eq!(many(65), Err(SettingError::EndpointCount));
    }

    #[test]
    fn a_list_is_refused_for_its_first_address_that_cannot_be_used() {
        for (text, words) in [
            ("http://a,", "address 2 of the model URL's list is empty"),
            (",http://a", "address 1 of the model URL's list is empty"),
            (
                "http://a/v1,http://b/v1,http://A:80/v1/",
                "address 3 of the model URL's list is the same as address 1",
            ),
            (
                "http://a,builtin:lexical",
                "address 2 of the model URL's list is `builtin:lexical`, which stands alone",
            ),
            (
                "http://a,http://user:secret@b/v1",
                "address 2 of the model URL's list holds credentials: set the model API key \
                 instead",
            ),
            (
                "http://a,http://b/v1/chat/completions",
                "address 2 of the model URL's list must end before `/chat/completions`, which \
                 Refract appends",
            ),
            (
                "http://a,secret:8000,http://a",
                "address 2 of the model URL's list is not that of a model server up to and \
                 including its `/v1`, such as `http://127.0.0.1:8000/v1`",
            ),
        ] {
            let error = text.parse::<ModelEndpoint>().unwrap_err();
            assert_eq!(error.to_string(), words, "{text}");
        }
    }

    #[test]
    fn what_is_no_endpoint_is_refused_without_being_repeated() {
        for text in [
            "",
            "lexical",
            "builtin:other",
            "127.0.0.1:8000",
            "ftp://host/v1",
            "http://",
            "/v1",
            "http://h/v1?a=b",
        ] {
            assert_eq!(
                text.parse::<ModelEndpoint>(),
                Err(SettingError::Endpoint),
                "{text}"
            );
        }
        let error = "http://h/v1/chat/completions".parse::<ModelEndpoint>();
        assert_eq!(error, Err(SettingError::EndpointCompletions));
        let error = "http://user:secret@host/v1"
            .parse::<ModelEndpoint>()
            .unwrap_err();
        assert_eq!(error, SettingError::EndpointCredentials);
        assert!(!error.to_string().contains("secret"));
    }
}
