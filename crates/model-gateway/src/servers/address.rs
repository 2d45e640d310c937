//! The address of a model server.

use std::fmt;

use hyper::Uri;
use hyper::http::uri::PathAndQuery;

use crate::settings::setting_error::{AddressError, SettingError};

/// Base address of a model server, up to and including its `/v1`, without a slash at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerAddress {
    base: String,
    name: String,
}

impl ServerAddress {
    pub(crate) fn parse(text: &str) -> Result<Self, AddressError> {
        let uri: Uri = text.parse().map_err(|_| AddressError::Malformed)?;
        let default_port = match uri.scheme_str() {
            Some("http") => 80,
            Some("https") => 443,
            Some(_) | None => return Err(AddressError::Malformed),
        };
        let host = uri.host().filter(|host| !host.is_empty());
        let host = host.ok_or(AddressError::Malformed)?;
        if uri.query().is_some() || text.contains('#') {
            return Err(AddressError::Malformed);
        }
        if uri
            .authority()
            .is_some_and(|authority| authority.as_str().contains('@'))
        {
            return Err(AddressError::Credentials);
        }
        let port = uri.port_u16().unwrap_or(default_port);
        Ok(Self {
            base: text.trim_end_matches('/').to_owned(),
            name: format!("{}:{port}", host.to_ascii_lowercase()),
        })
    }

    /// Host and port, for logs and metrics: the path may hold secrets.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether both addresses have the same host, port and path. Upper case in the host, an
    /// explicit default port and slashes at the end make no difference.
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        self.name == other.name && self.path() == other.path()
    }

    /// The address of an endpoint of the server, such as `systemone`.
    pub(crate) fn endpoint(&self, path: &str) -> Result<Uri, SettingError> {
        format!("{}/{path}", self.base)
            .parse()
            .map_err(|_| SettingError::Endpoint)
    }

    /// The path of an endpoint at the same level as `/v1`, such as `completion`; `None` if the base
    /// address does not end in `/v1`.
    pub(crate) fn path_beside_v1(&self, name: &str) -> Option<PathAndQuery> {
        let root = self.base.strip_suffix("/v1")?;
        let uri: Uri = format!("{root}/{name}").parse().ok()?;
        uri.into_parts().path_and_query
    }

    /// The path, without its first slash; empty if there is none.
    fn path(&self) -> &str {
        let (_, behind_scheme) = self.base.split_once("://").unwrap_or_default();
        behind_scheme.split_once('/').unwrap_or_default().1
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_beside_v1_are_known_where_the_address_ends_in_it() {
        for (text, path) in [
            ("http://127.0.0.1:8080/v1/", Some("/completion")),
            ("https://models.example/llama/v1", Some("/llama/completion")),
            ("http://127.0.0.1:8080", None),
            ("http://127.0.0.1:8080/v1/openai", None),
        ] {
            let address = ServerAddress::parse(text).unwrap();
            let found = address.path_beside_v1("completion");
            assert_eq!(found.as_ref().map(PathAndQuery::as_str), path, "{text}");
        }
    }

    #[test]
    fn a_server_is_named_by_host_and_port_alone() {
        for (text, name) in [
            ("http://GPU-1.example/secret-path/v1", "gpu-1.example:80"),
            ("https://models.example/v1", "models.example:443"),
            ("http://[::1]:8000", "[::1]:8000"),
        ] {
            assert_eq!(ServerAddress::parse(text).unwrap().name(), name);
        }
    }

    #[test]
    fn addresses_of_one_place_are_the_same_however_they_are_spelled() {
        let is_same = |one: &str, other: &str| {
            let [one, other] = [one, other].map(|text| ServerAddress::parse(text).unwrap());
            one.is_same_as(&other)
        };
        assert!(is_same("http://gpu/v1", "http://GPU:80/v1/"));
        assert!(is_same("https://gpu", "https://gpu:443/"));
        assert!(!is_same("http://gpu/v1", "http://gpu:8000/v1"));
        assert!(!is_same("http://gpu/a/v1", "http://gpu/b/v1"));
    }
}
