//! The address of a model server.

use std::fmt;

use hyper::Uri;
use hyper::http::uri::PathAndQuery;

use crate::settings::{AddressError, Protocol, SettingError};

/// Names that end the whole address of an endpoint: those of the typed protocols, and those of
/// Databricks' endpoints.
const ENDPOINT_NAMES: [&str; 4] = ["systemone", "decisions", "invocations", "ai-decide"];

/// In the path of every endpoint of Cloudflare's models, before the model's name.
const CLOUDFLARE_RUN: &str = "/ai/run/";

/// What the protocols `chat` and `stated` append.
const COMPLETIONS: &str = "/chat/completions";

/// Address of a model server, without a slash at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerAddress {
    /// Up to and including `/v1`, or the whole address of an endpoint.
    base: String,
    name: String,
    is_whole: bool,
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
        // a port beyond 65535 is none
        let has_odd_port = || {
            let behind_host = uri.authority()?.as_str().rsplit_once(host)?.1;
            Some(behind_host.len() > 1 && uri.port_u16().is_none())
        };
        let is_odd = has_odd_port() == Some(true) || !text.is_ascii();
        if is_odd || uri.query().is_some() || text.contains('#') {
            return Err(AddressError::Malformed);
        }
        if uri
            .authority()
            .is_some_and(|authority| authority.as_str().contains('@'))
        {
            return Err(AddressError::Credentials);
        }
        let path = uri.path().trim_end_matches('/');
        if path.ends_with(COMPLETIONS) {
            return Err(AddressError::Completions);
        }
        let port = uri.port_u16().unwrap_or(default_port);
        Ok(Self {
            base: text.trim_end_matches('/').to_owned(),
            name: format!("{}:{port}", host.to_ascii_lowercase()),
            is_whole: is_endpoint(path),
        })
    }

    /// Whether the address is that of an endpoint, to which nothing is appended.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Whether the address is that of an endpoint that this protocol never asks. System One servers
    /// also answer at `decisions`.
    pub(crate) fn contradicts(&self, protocol: Protocol) -> bool {
        match (last_segment(self.path()), protocol) {
            ("systemone", protocol) => protocol != Protocol::SystemOne,
            ("decisions", Protocol::Chat | Protocol::Stated) => true,
            (_, _) => false,
        }
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

    /// The address of an endpoint of the server, such as `systemone`; a whole address as it is.
    pub(crate) fn endpoint(&self, path: &str) -> Result<Uri, SettingError> {
        let uri = if self.is_whole {
            self.base.parse()
        } else {
            format!("{}/{path}", self.base).parse()
        };
        uri.map_err(|_| SettingError::Endpoint)
    }

    /// The path of another endpoint below the base address; `None` for a whole address.
    pub(crate) fn path_below(&self, name: &str) -> Option<PathAndQuery> {
        if self.is_whole {
            return None;
        }
        self.endpoint(name).ok()?.into_parts().path_and_query
    }

    /// The base address with `/v1` at its end if it has none, else without; `None` for a whole
    /// address.
    pub(crate) fn with_or_without_v1(&self) -> Option<Self> {
        if self.is_whole {
            return None;
        }
        let other = match self.base.strip_suffix("/v1") {
            Some(root) => root.to_owned(),
            None => format!("{}/v1", self.base),
        };
        Self::parse(&other).ok()
    }

    /// The path of an endpoint at the same level as `/v1`, such as `completion`; `None` if the base
    /// address does not end in `/v1`.
    pub(crate) fn path_beside_v1(&self, name: &str) -> Option<PathAndQuery> {
        let root = self.base.strip_suffix("/v1").filter(|_| !self.is_whole)?;
        let uri: Uri = format!("{root}/{name}").parse().ok()?;
        uri.into_parts().path_and_query
    }

    /// The path, without its first slash; empty if there is none.
    fn path(&self) -> &str {
        let (_, behind_scheme) = self.base.split_once("://").unwrap_or_default();
        behind_scheme.split_once('/').unwrap_or_default().1
    }
}

/// Whether a path, without a slash at its end, is that of an endpoint.
fn is_endpoint(path: &str) -> bool {
    let last = last_segment(path);
    ENDPOINT_NAMES.contains(&last) || last.contains(':') || path.contains(CLOUDFLARE_RUN)
}

fn last_segment(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)
    }
}

#[cfg(test)]
mod tests;
