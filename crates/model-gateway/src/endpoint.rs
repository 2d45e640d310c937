//! Where the model is: the built-in scorer or a server.

use std::fmt;
use std::str::FromStr;

use hyper::Uri;
use hyper::http::uri::PathAndQuery;

use crate::setting_fault::SettingFault;

/// Where the model is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelEndpoint {
    /// A model server.
    Server(ServerAddress),
    /// The built-in scorer: for trying the service without a model, never for real answers.
    Lexical,
}

impl ModelEndpoint {
    const LEXICAL: &'static str = "builtin:lexical";
}

impl FromStr for ModelEndpoint {
    type Err = SettingFault;

    fn from_str(text: &str) -> Result<Self, SettingFault> {
        let text = text.trim();
        if text == Self::LEXICAL {
            return Ok(Self::Lexical);
        }
        ServerAddress::parse(text).map(Self::Server)
    }
}

impl fmt::Display for ModelEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(address) => f.write_str(&address.0),
            Self::Lexical => f.write_str(Self::LEXICAL),
        }
    }
}

/// Base address of a model server, up to and including its `/v1`, without a slash at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerAddress(String);

impl ServerAddress {
    fn parse(text: &str) -> Result<Self, SettingFault> {
        let uri: Uri = text.parse().map_err(|_| SettingFault::Endpoint)?;
        if !matches!(uri.scheme_str(), Some("http" | "https"))
            || uri.host().is_none_or(str::is_empty)
            || uri.query().is_some()
            || text.contains('#')
        {
            return Err(SettingFault::Endpoint);
        }
        if uri
            .authority()
            .is_some_and(|authority| authority.as_str().contains('@'))
        {
            return Err(SettingFault::EndpointCredentials);
        }
        Ok(Self(text.trim_end_matches('/').to_owned()))
    }

    /// The address of an endpoint of the server, such as `systemone`.
    pub(crate) fn endpoint(&self, path: &str) -> Result<Uri, SettingFault> {
        format!("{}/{path}", self.0)
            .parse()
            .map_err(|_| SettingFault::Endpoint)
    }

    /// The path of an endpoint that stands beside the base address's `/v1`, such as `completion`;
    /// `None` where the base address ends otherwise.
    pub(crate) fn path_beside_v1(&self, name: &str) -> Option<PathAndQuery> {
        let root = self.0.strip_suffix("/v1")?;
        let uri: Uri = format!("{root}/{name}").parse().ok()?;
        uri.into_parts().path_and_query
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_the_scorer_or_the_address_of_a_server() {
        assert_eq!("builtin:lexical".parse(), Ok(ModelEndpoint::Lexical));
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
            let Ok(ModelEndpoint::Server(address)) = text.parse() else {
                panic!("{text}")
            };
            assert_eq!(address.endpoint("systemone").unwrap().to_string(), endpoint);
        }
    }

    #[test]
    fn endpoints_beside_v1_are_known_where_the_address_ends_in_it() {
        for (text, path) in [
            ("http://127.0.0.1:8080/v1/", Some("/completion")),
            ("https://models.example/llama/v1", Some("/llama/completion")),
            ("http://127.0.0.1:8080", None),
            ("http://127.0.0.1:8080/v1/openai", None),
        ] {
            let Ok(ModelEndpoint::Server(address)) = text.parse() else {
                panic!("{text}")
            };
            let found = address.path_beside_v1("completion");
            assert_eq!(found.as_ref().map(PathAndQuery::as_str), path, "{text}");
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
                Err(SettingFault::Endpoint),
                "{text}"
            );
        }
        let fault = "http://user:secret@host/v1"
            .parse::<ModelEndpoint>()
            .unwrap_err();
        assert_eq!(fault, SettingFault::EndpointCredentials);
        assert!(!fault.to_string().contains("secret"));
    }
}
