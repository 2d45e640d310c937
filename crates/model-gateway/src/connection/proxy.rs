//! HTTP proxies on the way to a model server.
//!
//! A server over https is reached through a tunnel (`CONNECT`), one over http by requests that name
//! the whole address. SOCKS and proxies that are themselves reached over TLS are not supported.

use std::fmt;
use std::net::IpAddr;

use bytes::Bytes;
use http_body_util::Empty;
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderValue, PROXY_AUTHORIZATION};
use hyper::{Request, Uri, upgrade};
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::error::{ModelError, Unreachable};
use crate::settings::{ProxyVariables, SettingError};

/// An HTTP proxy. `Debug` shows no credentials.
pub(super) struct Proxy {
    pub(super) host: String,
    pub(super) port: u16,
    /// The value of `Proxy-Authorization`.
    pub(super) authorization: Option<HeaderValue>,
}

impl Proxy {
    /// The proxy through which the server at `uri` is asked; `None` if it is asked directly, as
    /// servers on this machine always are.
    pub(super) fn on_the_way_to(
        uri: &Uri,
        variables: &ProxyVariables,
    ) -> Result<Option<Self>, SettingError> {
        let variable = match uri.scheme_str() {
            Some("https") => &variables.https,
            Some(_) | None => &variables.http,
        };
        match variable {
            Some(variable) if !is_on_this_machine(uri) && !is_exempt(uri, &variables.exempt) => {
                let proxy = Self::parse(&variable.value, uri);
                let proxy = proxy.ok_or(SettingError::Proxy(variable.name))?;
                Ok(Some(proxy))
            }
            Some(_) | None => Ok(None),
        }
    }

    /// Parses the value of a variable; the address may lack its `http://`.
    fn parse(value: &str, uri: &Uri) -> Option<Self> {
        let matcher = Matcher::builder().all(value.trim()).build();
        let found = matcher.intercept(uri)?;
        let address = found.uri();
        let host = address.host().filter(|host| !host.is_empty())?;
        let port = address.authority()?.as_str().strip_prefix(host)?;
        let port = match port.strip_prefix(':') {
            None => 80,
            Some(port) => port.parse().ok()?,
        };
        (address.scheme_str() == Some("http")).then(|| Self {
            host: without_brackets(host).to_owned(),
            port,
            authorization: found.basic_auth().cloned(),
        })
    }

    /// Asks the proxy for a tunnel to `target`, a host and a port, over a new connection to the
    /// proxy.
    pub(super) async fn tunnel(
        &self,
        stream: TcpStream,
        target: &str,
    ) -> Result<TcpStream, ModelError> {
        let opened = http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = opened.map_err(|error| failed(&error))?;
        tokio::spawn(connection.with_upgrades());
        let request = self.connect_request(target);
        let request = request.ok_or(ModelError::Unreachable(Unreachable::Proxy))?;
        let response = sender.send_request(request).await;
        let response = response.map_err(|error| failed(&error))?;
        let status = response.status();
        if !status.is_success() {
            let refused = Unreachable::ProxyStatus(status.as_u16());
            return Err(ModelError::Unreachable(refused));
        }
        let upgraded = upgrade::on(response).await;
        let upgraded = upgraded.map_err(|error| failed(&error))?;
        match upgraded.downcast::<TokioIo<TcpStream>>() {
            // in TLS the client speaks first: early bytes are none of the server's
            Ok(parts) if parts.read_buf.is_empty() => Ok(parts.io.into_inner()),
            Ok(_) | Err(_) => Err(ModelError::Unreachable(Unreachable::Proxy)),
        }
    }

    fn connect_request(&self, target: &str) -> Option<Request<Empty<Bytes>>> {
        let mut request = Request::connect(target).header(HOST, target);
        if let Some(authorization) = &self.authorization {
            request = request.header(PROXY_AUTHORIZATION, authorization);
        }
        request.body(Empty::new()).ok()
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({}:{})", self.host, self.port)
    }
}

/// A host without the brackets that a URI writes around an IPv6 address.
pub(super) fn without_brackets(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

fn failed(error: &hyper::Error) -> ModelError {
    tracing::debug!(%error, "the proxy opened no tunnel");
    ModelError::Unreachable(Unreachable::Proxy)
}

/// Whether a server is on this machine, which no proxy can reach under that name.
fn is_on_this_machine(uri: &Uri) -> bool {
    let host = without_brackets(uri.host().unwrap_or_default());
    if let Ok(address) = host.parse::<IpAddr>() {
        return address.to_canonical().is_loopback() || address.is_unspecified();
    }
    let host = host.to_ascii_lowercase();
    host == "localhost" || host.ends_with(".localhost")
}

/// Whether the list of `NO_PROXY` has the server: domains with their subdomains (`.example`,
/// `*.example`), addresses, networks or `*`; behind the first two may be a port.
fn is_exempt(uri: &Uri, exempt: &str) -> bool {
    let default_port = if uri.scheme_str() == Some("https") {
        443
    } else {
        80
    };
    let port = uri.port_u16().unwrap_or(default_port);
    let entries = exempt.split(',').filter_map(|entry| {
        let entry = entry.trim();
        let (host, of_port) = match entry.rsplit_once(':') {
            // an IPv6 address has colons of its own, unless it is in brackets
            Some((host, of_port)) if !host.contains(':') || host.ends_with(']') => {
                (without_brackets(host), of_port.parse::<u16>().ok()?)
            }
            Some(_) | None => (without_brackets(entry), port),
        };
        let host = host.strip_prefix("*.").unwrap_or(host);
        (of_port == port).then_some(host)
    });
    let exempt = entries.collect::<Vec<_>>().join(",");
    let matcher = Matcher::builder().all("http://any").no(exempt).build();
    matcher.intercept(uri).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(set: &[(&str, &str)]) -> ProxyVariables {
        ProxyVariables::read(|name| {
            let found = set.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    /// The proxy on the way to a server as `host:port`, or `direct`, or the error.
    fn way(server: &str, set: &[(&str, &str)]) -> String {
        match Proxy::on_the_way_to(&server.parse().unwrap(), &variables(set)) {
            Ok(None) => "direct".to_owned(),
            Ok(Some(proxy)) => format!("{}:{}", proxy.host, proxy.port),
            Err(error) => error.to_string(),
        }
    }

    const HTTP: &str = "http://models.example/v1/systemone";
    const HTTPS: &str = "https://models.example/v1/systemone";

    #[test]
    fn the_usual_variables_name_the_proxy_of_a_scheme() {
        for (set, http, https) in [
            (&[][..], "direct", "direct"),
            (&[("HTTP_PROXY", "http://a:1")], "a:1", "direct"),
            (&[("HTTPS_PROXY", "http://a:1")], "direct", "a:1"),
            (&[("http_proxy", "a:1")], "a:1", "direct"),
            (&[("https_proxy", " a ")], "direct", "a:80"),
            (
                &[("ALL_PROXY", "http://u:p@[::1]:3128/")],
                "::1:3128",
                "::1:3128",
            ),
            (
                &[("https_proxy", "a:1"), ("HTTPS_PROXY", "b:1")],
                "direct",
                "a:1",
            ),
            (
                &[("https_proxy", ""), ("HTTPS_PROXY", "b:1")],
                "direct",
                "b:1",
            ),
            (
                &[("all_proxy", "c:1"), ("HTTPS_PROXY", "b:1")],
                "c:1",
                "b:1",
            ),
            (
                &[("HTTP_PROXY", "a:1"), ("REQUEST_METHOD", "GET")],
                "direct",
                "direct",
            ),
            (
                &[("http_proxy", "a:1"), ("REQUEST_METHOD", "GET")],
                "a:1",
                "direct",
            ),
        ] {
            let names: Vec<_> = set.iter().map(|(name, _)| *name).collect();
            assert_eq!(way(HTTP, set), http, "{names:?}");
            assert_eq!(way(HTTPS, set), https, "{names:?}");
        }
    }

    #[test]
    fn servers_on_this_machine_and_exempt_ones_are_asked_directly() {
        let proxied = |server: &str, exempt: &str| {
            let set = [("ALL_PROXY", "socks5://nowhere"), ("NO_PROXY", exempt)];
            way(server, &set) != "direct"
        };
        for server in [
            "http://localhost:8000/v1",
            "http://127.0.0.1/v1",
            "https://127.9.9.9/v1",
            "http://[::1]:8000/v1",
            "http://[::ffff:127.0.0.1]/v1",
            "http://0.0.0.0:8000/v1",
            "http://GPU.LocalHost/v1",
        ] {
            assert!(!proxied(server, ""), "{server}");
        }
        for (exempt, server, is_proxied) in [
            ("", "http://gpu.example/v1", true),
            ("*", "http://gpu.example/v1", false),
            ("example", "http://gpu.example/v1", false),
            (".example", "http://GPU.example/v1", false),
            ("u.example", "http://gpu.example/v1", true),
            ("a, gpu.example", "http://gpu.example/v1", false),
            ("10.0.0.0/8", "http://10.1.2.3:8000/v1", false),
            ("10.0.0.0/8", "http://11.1.2.3/v1", true),
            ("fd00::/8", "http://[fd00::7]/v1", false),
            ("*.example", "http://gpu.example/v1", false),
            ("gpu.example:8000", "http://gpu.example:8000/v1", false),
            ("gpu.example:80,b", "http://gpu.example/v1", false),
            ("gpu.example:443", "https://gpu.example/v1", false),
            ("gpu.example:8000", "http://gpu.example:8001/v1", true),
            ("[fd00::7]:80", "http://[fd00::7]/v1", false),
            ("[fd00::7]:80", "http://[fd00::7]:81/v1", true),
        ] {
            assert_eq!(proxied(server, exempt), is_proxied, "{exempt} {server}");
        }
    }

    #[test]
    fn an_unusable_proxy_is_refused_by_the_name_of_its_variable() {
        for value in [
            "socks5://user:secret@a:1",
            "https://user:secret@a:1",
            "ftp://a",
            "http://",
            "http://a:99999",
            "http://a:",
            "/secret",
            "a b",
        ] {
            let words = way(HTTPS, &[("https_proxy", value)]);
            let expected = "https_proxy must be the address of an HTTP proxy, such as \
                            `http://proxy.example:3128`";
            assert_eq!(words, expected, "{value}");
            // it is not needed
            assert_eq!(way(HTTP, &[("https_proxy", value)]), "direct");
        }
    }

    #[test]
    fn credentials_are_sent_and_not_shown() {
        let set = variables(&[("ALL_PROXY", "http://aladdin:open%3Asesame@a:1")]);
        let proxy = Proxy::on_the_way_to(&HTTPS.parse().unwrap(), &set);
        let proxy = proxy.unwrap().unwrap();
        let authorization = proxy.authorization.clone().unwrap();
        assert_eq!(authorization, "Basic YWxhZGRpbjpvcGVuOnNlc2FtZQ==");
        assert!(authorization.is_sensitive());
        assert_eq!(
            format!("{proxy:?} {set:?}"),
            "Proxy(a:1) ProxyVariables(..)"
        );
    }
}
