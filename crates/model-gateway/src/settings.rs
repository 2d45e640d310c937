//! What an operator sets about the model, each value parsed once.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use hyper::Uri;

/// How the model is reached and asked.
#[derive(Clone, Debug)]
pub struct ModelSettings {
    /// Where it is.
    pub endpoint: ModelEndpoint,
    /// What a server there speaks; without meaning for [`ModelEndpoint::Lexical`].
    pub protocol: Protocol,
    /// Sent as `model`.
    pub name: String,
    /// Sent as `Authorization: Bearer`.
    pub api_key: Option<ModelApiKey>,
    /// Estimated tokens above which a `systemone` request is split.
    pub request_tokens: usize,
    /// What one attempt may take, from sending to the last byte of the answer.
    pub timeout: Duration,
    /// Requests in flight at once, at least 1; the others wait their turn.
    pub concurrency: usize,
}

/// A setting that cannot be used, in words for an operator; never the value itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingFault {
    /// Neither the built-in scorer nor the address of a server.
    #[error(
        "the model URL must be `builtin:lexical` or the address of a model server up to and \
         including its `/v1`, such as `http://127.0.0.1:8000/v1`"
    )]
    Endpoint,
    /// The address holds a user name or a password.
    #[error("the model URL must not hold credentials: set the model API key instead")]
    EndpointCredentials,
    /// None of the protocols.
    #[error("the model protocol must be `systemone`, `chat` or `stated`")]
    Protocol,
    /// Not to be sent in a header.
    #[error("the model API key must be made of visible ASCII characters")]
    ApiKey,
    /// Nothing could ever be asked.
    #[error("the number of model requests in flight must be at least 1")]
    Concurrency,
    /// TLS cannot be set up on this machine.
    #[error("TLS could not be set up for the model server")]
    Tls,
    /// Every attempt would time out.
    #[error("the model timeout must be longer than 0")]
    Timeout,
}

/// Where the model is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelEndpoint {
    /// A model server.
    Server(ServerAddress),
    /// The embedded scorer: for trying the service without a model, never for real answers.
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

    /// The address of one of the server's endpoints, such as `systemone`.
    pub(crate) fn endpoint(&self, path: &str) -> Result<Uri, SettingFault> {
        format!("{}/{path}", self.0)
            .parse()
            .map_err(|_| SettingFault::Endpoint)
    }
}

/// What a model server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The System One format: typed questions in, probabilities out.
    SystemOne,
    /// OpenAI-compatible chat completions with log-probabilities.
    Chat,
    /// OpenAI-compatible chat completions in which the model states its probabilities.
    Stated,
}

impl Protocol {
    /// The name that settings and records use.
    pub fn name(self) -> &'static str {
        match self {
            Self::SystemOne => "systemone",
            Self::Chat => "chat",
            Self::Stated => "stated",
        }
    }
}

impl FromStr for Protocol {
    type Err = SettingFault;

    fn from_str(text: &str) -> Result<Self, SettingFault> {
        let all = [Self::SystemOne, Self::Chat, Self::Stated];
        all.into_iter()
            .find(|protocol| protocol.name() == text)
            .ok_or(SettingFault::Protocol)
    }
}

/// The credential that a model server asks for. It is shown nowhere, `Debug` included.
#[derive(Clone)]
pub struct ModelApiKey(String);

impl ModelApiKey {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ModelApiKey {
    type Err = SettingFault;

    fn from_str(text: &str) -> Result<Self, SettingFault> {
        let text = text.trim();
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(SettingFault::ApiKey);
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for ModelApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ModelApiKey(..)")
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

    #[test]
    fn a_protocol_is_known_by_its_name() {
        for protocol in [Protocol::SystemOne, Protocol::Chat, Protocol::Stated] {
            assert_eq!(protocol.name().parse(), Ok(protocol));
        }
        assert_eq!("SystemOne".parse::<Protocol>(), Err(SettingFault::Protocol));
    }

    #[test]
    fn an_api_key_is_shown_nowhere() {
        let key: ModelApiKey = " sk-secret ".parse().unwrap();
        assert_eq!(key.as_str(), "sk-secret");
        assert_eq!(format!("{key:?}"), "ModelApiKey(..)");
        for bad in ["", " ", "two words", "line\nbreak", "schlüssel"] {
            assert_eq!(
                bad.parse::<ModelApiKey>().err(),
                Some(SettingFault::ApiKey),
                "{bad}"
            );
        }
    }
}
