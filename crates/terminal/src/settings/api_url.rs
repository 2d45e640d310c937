//! The API's address as callers type it, shown by the app, the demo and `refract key create`.

use std::fmt;
use std::str::FromStr;

use anyhow::Context as _;
use clap::Args;
use http::Uri;

use crate::arguments;

/// The path under which the API is served.
const PATH: &str = "/v1";

/// The address, without a trailing slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiUrl(String);

/// Why a text is not the address of an API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "it must be http:// or https://, a host and the API's path, such as https://refract.example.com/v1"
)]
pub struct NotAnApiUrl;

/// The setting of the address.
#[derive(Args, Clone)]
pub struct ApiUrlArgs {
    /// The API's address as callers type it, up to and with `/v1` [default: http:// and the listener]
    #[arg(long, env = "REFRACT_API_URL", value_name = "URL")]
    api_url: Option<String>,
}

impl ApiUrlArgs {
    /// The address as set, or that of a listener.
    pub(crate) fn url_of(&self, listen: &str) -> anyhow::Result<ApiUrl> {
        let set = self.api_url.as_deref().filter(|url| !url.is_empty());
        let url = set.map_or_else(|| format!("http://{listen}"), str::to_owned);
        let url = url.parse();
        url.with_context(|| arguments::cannot_be_used("REFRACT_API_URL"))
    }
}

impl FromStr for ApiUrl {
    type Err = NotAnApiUrl;

    /// Parses an address. A bare host gets the API's path.
    fn from_str(text: &str) -> Result<Self, NotAnApiUrl> {
        let uri: Uri = text.parse().map_err(|_| NotAnApiUrl)?;
        let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
        let has_host = uri.host().is_some_and(|host| !host.is_empty());
        let has_user = uri.authority().is_some_and(|it| it.as_str().contains('@'));
        let is_plain = uri.query().is_none() && !text.contains('#');
        if !is_web || !has_host || has_user || !is_plain {
            return Err(NotAnApiUrl);
        }
        let text = text.trim_end_matches('/');
        let is_bare = uri.path().trim_end_matches('/').is_empty();
        Ok(Self(format!("{text}{}", if is_bare { PATH } else { "" })))
    }
}

impl fmt::Display for ApiUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_scheme_a_host_and_a_path() {
        for (text, url) in [
            ("https://api.example.com/v1", "https://api.example.com/v1"),
            ("https://api.example.com/v1/", "https://api.example.com/v1"),
            ("http://10.0.0.1:8080", "http://10.0.0.1:8080/v1"),
            ("http://h/refract/v1", "http://h/refract/v1"),
        ] {
            assert_eq!(text.parse::<ApiUrl>().unwrap().to_string(), url);
        }
        for text in [
            "",
            "api.example.com/v1",
            "ftp://h/v1",
            "https://",
            "https://user:secret@h/v1",
            "https://h/v1?key=x",
            "https://h/v1#x",
            "https://h/a b",
        ] {
            assert_eq!(text.parse::<ApiUrl>(), Err(NotAnApiUrl), "{text}");
        }
    }
}
