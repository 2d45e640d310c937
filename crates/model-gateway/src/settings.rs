//! The operator's settings for the model, and for connections to its servers. And what tokens cost
//! where the model's host does not say so.

mod endpoint;
mod protocol;
mod setting_error;

use std::fmt;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use hyper::header::{HeaderName, HeaderValue};
use refract_domain::result::Cost;
use refract_tls_files::{ClientCertificate, TrustedCertificates};

use crate::protocols::typed_questions::request_limits::RequestLimits;
use crate::report::ReportedUsage;
use crate::servers::HostLimits;

pub use self::endpoint::{ModelEndpoint, ModelKeyHeader};
pub use self::protocol::{ChatPrompt, PROMPT_VERSION, Protocol};
pub use self::setting_error::{AddressError, SettingError};

/// The form in which what is learned about servers is kept. It is raised when anything of it means
/// something else, so that no release reads another one's.
const FACTS_FORM: u32 = 1;

/// How to reach and ask the model.
#[derive(Clone, Debug)]
pub struct ModelSettings {
    /// Where the model is.
    pub endpoint: ModelEndpoint,
    /// The server's protocol; ignored for [`ModelEndpoint::DemoScorer`].
    pub protocol: Protocol,
    /// Sent as `model`.
    pub name: String,
    /// Sent in the key's header, or in that of the protocol.
    pub api_key: Option<ModelApiKey>,
    /// Proxies and trusted certificates.
    pub connections: ConnectionSettings,
    /// Estimated tokens above which a `systemone`, `decisions` or `gemini` request is split.
    pub request_tokens: usize,
    /// Most questions in one `systemone` or `decisions` request.
    pub request_questions: NonZeroUsize,
    /// Requests a minute that each server's host allows this process; `None` if nothing is known.
    pub requests_per_minute: Option<NonZeroU32>,
    /// Tokens a minute that each server's host allows this process; `None` if nothing is known.
    pub tokens_per_minute: Option<NonZeroU32>,
    /// Timeout of one attempt, from sending to the last byte of the answer.
    pub timeout: Duration,
    /// Upper bound on the requests in flight, at least 1; further requests wait.
    pub concurrency: usize,
    /// The prompt of the protocol `chat`; ignored for others.
    pub prompt: ChatPrompt,
    /// Upper bound on the follow-up requests for one question of the protocol `chat`; 0 sends none.
    pub follow_ups: usize,
    /// What tokens cost where the host does not say so; `None` leaves the cost unknown.
    pub prices: Option<ModelPrices>,
}

impl ModelSettings {
    /// The settings with each server as the only one, in the order of the list, to ask every server
    /// separately.
    pub fn of_each_server(&self) -> Vec<Self> {
        let endpoints = self.endpoint.each_alone();
        let settings = endpoints.into_iter().map(|endpoint| Self {
            endpoint,
            ..self.clone()
        });
        settings.collect()
    }

    /// The form of what is learned, protocol, limits of a request, model and addresses, without
    /// credentials. Under other limits others are learned.
    pub(crate) fn servers_name(&self) -> String {
        let (protocol, model, endpoint) = (self.protocol.name(), &self.name, &self.endpoint);
        let RequestLimits { tokens, questions } = self.request_limits();
        format!("{FACTS_FORM} {protocol} {tokens} {questions} {model} {endpoint}")
    }

    pub(crate) fn request_limits(&self) -> RequestLimits {
        RequestLimits {
            tokens: self.request_tokens,
            questions: self.request_questions.get(),
        }
    }

    pub(crate) fn host_limits(&self) -> HostLimits {
        HostLimits {
            requests_per_minute: self.requests_per_minute,
            tokens_per_minute: self.tokens_per_minute,
        }
    }
}

/// The API key of the model server. `Debug` does not show it.
#[derive(Clone)]
pub struct ModelApiKey {
    key: String,
    /// The file with the key; `None` for a key that was set directly.
    file: Option<Arc<Path>>,
    /// The header that carries the key; `None` for the protocol's.
    header: Option<ModelKeyHeader>,
}

/// Why a file gives no key. The error does not repeat the file's content.
#[derive(Debug, thiserror::Error)]
pub enum ModelKeyFileError {
    /// The file cannot be read.
    #[error("cannot read {}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        reason: std::io::Error,
    },
    /// The file's content is no valid key.
    #[error("{}: {error}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong with its content.
        error: SettingError,
    },
}

impl ModelApiKey {
    /// Reads a key from a file and ignores white space around it. The file is read again when a
    /// model server refuses the key.
    ///
    /// # Errors
    /// When the file is unreadable or holds no valid key.
    pub fn in_file(path: &Path) -> Result<Self, ModelKeyFileError> {
        let text =
            std::fs::read_to_string(path).map_err(|reason| ModelKeyFileError::Unreadable {
                path: path.to_owned(),
                reason,
            })?;
        let key: Self = text.parse().map_err(|error| ModelKeyFileError::Unusable {
            path: path.to_owned(),
            error,
        })?;
        Ok(Self {
            file: Some(Arc::from(path)),
            ..key
        })
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.key
    }

    /// The file with the key; `None` for a key that was set directly.
    pub(crate) fn file(&self) -> Option<&Arc<Path>> {
        self.file.as_ref()
    }

    /// The key in this header instead of the protocol's.
    pub fn sent_in(self, header: ModelKeyHeader) -> Self {
        Self {
            header: Some(header),
            ..self
        }
    }

    /// The header that carries the key; `None` for the protocol's.
    pub fn header(&self) -> Option<&ModelKeyHeader> {
        self.header.as_ref()
    }

    /// The key in its own header, or else in the protocol's.
    pub(crate) fn for_protocol(&self, protocol: Protocol) -> Self {
        let header = self.header.clone();
        let header = header.unwrap_or_else(|| ModelKeyHeader::of_protocol(protocol));
        self.clone().sent_in(header)
    }

    /// The header that carries the key; `Authorization` if the key has none.
    pub(crate) fn sending_header(&self) -> ModelKeyHeader {
        self.header.clone().unwrap_or_default()
    }

    /// Name and value of the header that carries the key.
    pub(crate) fn entry(&self) -> Result<(HeaderName, HeaderValue), SettingError> {
        let header = self.sending_header();
        Ok((header.name().clone(), header.value(&self.key)?))
    }
}

impl FromStr for ModelApiKey {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        let text = text.trim();
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(SettingError::ApiKey);
        }
        Ok(Self {
            key: text.to_owned(),
            file: None,
            header: None,
        })
    }
}

impl fmt::Debug for ModelApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ModelApiKey(..)")
    }
}

/// How connections to model servers are opened. By default directly, and only the system's
/// certificates are trusted.
#[derive(Clone, Debug, Default)]
pub struct ConnectionSettings {
    /// The proxies that may be used.
    pub proxies: ProxyVariables,
    /// Certificates that are trusted in addition to the system's.
    pub certificates: TrustedCertificates,
    /// The certificate that is shown to a server that asks for one.
    pub client_certificate: Option<Arc<ClientCertificate>>,
}

/// The variables of the environment that name HTTP proxies, as other programs read them: the names
/// in lower case come first, and an empty value counts as none. They may hold a password, which
/// `Debug` does not show.
#[derive(Clone, Default)]
pub struct ProxyVariables {
    pub(crate) http: Option<ProxyVariable>,
    pub(crate) https: Option<ProxyVariable>,
    /// Hosts that are asked without a proxy, separated by commas.
    pub(crate) exempt: String,
}

/// A variable with the address of a proxy.
#[derive(Clone)]
pub(crate) struct ProxyVariable {
    pub(crate) name: &'static str,
    pub(crate) value: String,
}

impl ProxyVariables {
    /// Reads the variables of this process.
    pub fn of_environment() -> Self {
        Self::read(|name| {
            let value = std::env::var_os(name)?;
            // what is no UTF-8 is no address either, and is refused as such
            Some(value.to_string_lossy().into_owned())
        })
    }

    /// Reads the variables by a function that returns a variable's value.
    pub fn read(value: impl Fn(&str) -> Option<String>) -> Self {
        let first = |names: &[&'static str]| {
            names.iter().find_map(|name| {
                let value = value(name).filter(|value| !value.trim().is_empty())?;
                Some(ProxyVariable { name, value })
            })
        };
        // a web server that runs this program as a CGI script sets HTTP_PROXY to the caller's header
        // `Proxy`
        let is_cgi = value("REQUEST_METHOD").is_some();
        let http = if is_cgi {
            &["http_proxy", "all_proxy", "ALL_PROXY"][..]
        } else {
            &["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"][..]
        };
        let exempt = first(&["no_proxy", "NO_PROXY"]);
        Self {
            http: first(http),
            https: first(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]),
            exempt: exempt.map(|variable| variable.value).unwrap_or_default(),
        }
    }
}

impl fmt::Debug for ProxyVariables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProxyVariables(..)")
    }
}

/// The tokens that a price is for.
const TOKENS: u128 = 1_000;

/// Prices for a thousand tokens, in the currency of the host. They are used for answers whose host
/// reports tokens and no cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelPrices {
    /// Tokens that the model reads.
    pub read: Cost,
    /// Tokens that the server has in its cache.
    pub cached: Cost,
    /// Tokens that the model writes.
    pub written: Cost,
}

impl ModelPrices {
    /// The cost of reading this many tokens, none of which is cached.
    pub fn of_reading(&self, tokens: u64) -> Cost {
        let attos = u128::from(tokens).saturating_mul(self.read.attos());
        Cost::from_attos(attos / TOKENS)
    }

    /// The cost of an answer, rounded to 18 decimals; `None` if its server reports no tokens.
    pub(crate) fn cost(&self, usage: &ReportedUsage) -> Option<Cost> {
        let parts = [
            (usage.uncached_tokens(), self.read),
            (usage.cached_tokens, self.cached),
            (usage.output_tokens, self.written),
        ];
        let known = parts
            .into_iter()
            .filter_map(|(tokens, price)| Some((tokens?, price)));
        let known: Vec<_> = known.collect();
        let attos = known.iter().map(|(tokens, price)| {
            let attos = u128::from(*tokens).saturating_mul(price.attos());
            attos.saturating_add(TOKENS / 2) / TOKENS
        });
        (!known.is_empty()).then(|| Cost::from_attos(attos.fold(0, u128::saturating_add)))
    }
}

impl FromStr for ModelPrices {
    type Err = SettingError;

    /// Reads three decimals with commas between them: read, cached and written.
    fn from_str(text: &str) -> Result<Self, SettingError> {
        let prices: Option<Vec<Cost>> = text
            .split(',')
            .map(|price| Cost::parse(price.trim()))
            .collect();
        match prices.as_deref() {
            Some(&[read, cached, written]) => Ok(Self {
                read,
                cached,
                written,
            }),
            Some(_) | None => Err(SettingError::Prices),
        }
    }
}

#[cfg(test)]
mod tests;
