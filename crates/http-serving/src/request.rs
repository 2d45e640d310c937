//! A request's id, client and trace, and the record of how it ended. The client's address is found
//! behind any number of trusted proxies.

mod record;

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;

use actix_web::HttpRequest;
use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use ipnet::IpNet;
use refract_traces::{CallerTrace, RequestTrace, Traces};
use tracing::Span;
use uuid::Uuid;

pub use self::record::{EndedRequest, RequestLine, RequestMetrics, RequestRecord, RequestRecorder};

/// The header with the request id, in requests and in responses.
pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The longest id that is accepted from a caller, in characters.
const MOST_CHARS: usize = 128;

/// A request's id: 1 to 128 letters, digits, `.`, `_` or `-`.
#[derive(Clone, Debug)]
pub struct RequestId(Box<str>);

impl RequestId {
    /// The caller's id, or a new one if it is absent or invalid.
    pub fn of(headers: &HeaderMap) -> Self {
        let sent = headers
            .get(X_REQUEST_ID)
            .and_then(|value| value.to_str().ok());
        match sent {
            Some(id) if is_request_id(id) => Self(id.into()),
            Some(_) | None => Self(Uuid::now_v7().to_string().into_boxed_str()),
        }
    }

    /// The id as a header value.
    pub fn to_header_value(&self) -> HeaderValue {
        HeaderValue::from_str(&self.0).unwrap_or(HeaderValue::from_static(""))
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_request_id(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    (1..=MOST_CHARS).contains(&text.len()) && text.bytes().all(allowed)
}

/// Begins the trace of a request, as part of its caller's trace. `route` is the pattern of the
/// request's path; any name that is not a path means that no route matched.
fn begin_trace(traces: &Traces, request: &HttpRequest, route: &'static str) -> RequestTrace {
    let route = route.starts_with('/').then_some(route);
    traces.begin_request(request.method().as_str(), route, || {
        let headers = request.headers();
        CallerTrace::read(
            values(headers, "traceparent"),
            values(headers, "tracestate"),
        )
    })
}

/// The log span of a request: every log line within it has the request's id, and the ids of its
/// trace if there is one.
fn request_span(id: &RequestId, trace: &RequestTrace) -> Span {
    tracing::error_span!(
        "request",
        request_id = %id,
        trace_id = trace.trace_id().map(tracing::field::display),
        span_id = trace.span_id().map(tracing::field::display)
    )
}

/// The values of a header, in the order sent; a value that is not ASCII is read as empty.
fn values<'a>(headers: &'a HeaderMap, name: &'static str) -> impl Iterator<Item = &'a str> {
    let sent = headers.get_all(name);
    sent.map(|value| value.to_str().unwrap_or_default())
}

/// The header in which each proxy appends the address of its own client.
const X_FORWARDED_FOR: &str = "x-forwarded-for";
/// Length of an IPv4 client network's prefix, in bits.
const IPV4_NETWORK_BITS: u8 = 24;
/// Length of an IPv6 client network's prefix, in bits: a provider usually assigns one to each site.
const IPV6_NETWORK_BITS: u8 = 48;

/// Networks of proxies whose `X-Forwarded-For` is trusted. Clones are cheap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedProxies(Arc<[IpNet]>);

/// The text is not a list of networks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is no network: write networks such as 10.0.0.0/8, or addresses, separated by commas"
)]
pub struct NotANetwork(String);

/// The address of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClientAddress(IpAddr);

/// The network of a client: the first 24 bits of an IPv4 address, the first 48 of an IPv6 address.
/// Changing the address within the network does not evade limits per network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClientNetwork(IpNet);

impl FromStr for TrustedProxies {
    type Err = NotANetwork;

    fn from_str(list: &str) -> Result<Self, NotANetwork> {
        let parts = list.split(',').map(str::trim);
        let networks = parts.filter(|part| !part.is_empty()).map(|part| {
            let address = part.parse::<IpAddr>().map(IpNet::from);
            address
                .or_else(|_| part.parse::<IpNet>())
                .map_err(|_| NotANetwork(part.to_owned()))
        });
        Ok(Self(networks.collect::<Result<_, _>>()?))
    }
}

impl TrustedProxies {
    /// Whether a request names a proxy although no proxy is trusted: then all clients of that proxy
    /// share one address.
    pub fn are_missing(&self, headers: &HeaderMap) -> bool {
        self.0.is_empty() && headers.contains_key(X_FORWARDED_FOR)
    }

    fn include(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }
}

impl From<IpAddr> for ClientAddress {
    fn from(address: IpAddr) -> Self {
        Self(address.to_canonical())
    }
}

impl ClientAddress {
    /// The client's address of a request. If the connection comes from a trusted proxy, this is the
    /// last address of `X-Forwarded-For` that is not a trusted proxy's: the client may have forged
    /// those before it.
    ///
    /// `None` when the connection has no address.
    pub fn of(request: &HttpRequest, proxies: &TrustedProxies) -> Option<Self> {
        let peer = request.peer_addr()?.ip();
        Some(Self::behind(peer, request.headers(), proxies))
    }

    fn behind(peer: IpAddr, headers: &HeaderMap, proxies: &TrustedProxies) -> Self {
        let mut client = peer.to_canonical();
        let forwarded: Vec<_> = headers.get_all(X_FORWARDED_FOR).collect();
        let hops = forwarded.iter().rev().flat_map(|value| {
            let list = value.to_str().unwrap_or_default();
            list.rsplit(',').map(str::trim)
        });
        for hop in hops {
            if !proxies.include(client) {
                break;
            }
            let Some(before) = address_of_hop(hop) else {
                break;
            };
            client = before.to_canonical();
        }
        Self::from(client)
    }

    /// The address; of an IPv4 address that is mapped into IPv6, the IPv4 address.
    pub fn ip(self) -> IpAddr {
        self.0
    }

    /// The network that the address belongs to.
    pub fn network(self) -> ClientNetwork {
        let bits = match self.0 {
            IpAddr::V4(_) => IPV4_NETWORK_BITS,
            IpAddr::V6(_) => IPV6_NETWORK_BITS,
        };
        // these prefix lengths are always valid
        let network = IpNet::new(self.0, bits).unwrap_or_else(|_| IpNet::from(self.0));
        ClientNetwork(network.trunc())
    }
}

/// The address in an entry of `X-Forwarded-For`; some proxies append the port.
fn address_of_hop(hop: &str) -> Option<IpAddr> {
    let bare = hop.trim_start_matches('[').trim_end_matches(']');
    let with_port = || hop.parse().ok().map(|socket: SocketAddr| socket.ip());
    bare.parse().ok().or_else(with_port)
}

impl fmt::Display for ClientAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for ClientNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderName, HeaderValue};

    use super::*;

    fn of(sent: Option<&[u8]>) -> String {
        let mut headers = HeaderMap::new();
        if let Some(value) = sent {
            headers.insert(X_REQUEST_ID, HeaderValue::from_bytes(value).unwrap());
        }
        RequestId::of(&headers).to_string()
    }

    #[test]
    fn a_callers_id_is_kept() {
        let longest = "a".repeat(128);
        for id in ["7", "order-12.A_b", longest.as_str()] {
            assert_eq!(of(Some(id.as_bytes())), id);
        }
    }

    #[test]
    fn another_shape_gets_a_new_id() {
        let too_long = "a".repeat(129);
        for sent in [
            &b""[..],
            b"a b",
            b"a/b",
            b"\xc3\xa4",
            b"a\"b",
            too_long.as_bytes(),
        ] {
            let id = of(Some(sent));
            assert_ne!(id.as_bytes(), sent);
            assert!(is_request_id(&id));
        }
        assert!(is_request_id(&of(None)));
        assert_ne!(of(None), of(None));
    }

    fn client(proxies: &str, peer: &str, forwarded: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(
                HeaderName::from_static(X_FORWARDED_FOR),
                HeaderValue::from_str(value).unwrap(),
            );
        }
        let proxies = proxies.parse().unwrap();
        ClientAddress::behind(peer.parse().unwrap(), &headers, &proxies).to_string()
    }

    #[test]
    fn nobody_is_believed_who_is_no_trusted_proxy() {
        assert_eq!(client("", "192.0.2.1", &["203.0.113.7"]), "192.0.2.1");
        assert_eq!(
            client("10.0.0.0/8", "192.0.2.1", &["203.0.113.7"]),
            "192.0.2.1"
        );
    }

    #[test]
    fn trusted_proxies_are_missing_where_a_proxy_speaks_and_none_is_trusted() {
        let mut headers = HeaderMap::new();
        let (none, one) = (TrustedProxies::default(), "10.0.0.1".parse().unwrap());
        assert!(!none.are_missing(&headers));
        headers.append(
            HeaderName::from_static(X_FORWARDED_FOR),
            HeaderValue::from_static("203.0.113.7"),
        );
        assert!(none.are_missing(&headers));
        assert!(!TrustedProxies::are_missing(&one, &headers));
    }

    #[test]
    fn the_last_address_that_is_no_proxys_is_the_clients() {
        let proxies = "10.0.0.0/8, ::1, 192.0.2.1";
        for (peer, forwarded, expected) in [
            ("10.1.2.3", &["203.0.113.7"][..], "203.0.113.7"),
            ("10.1.2.3", &["6.6.6.6, 203.0.113.7"], "203.0.113.7"),
            (
                "10.1.2.3",
                &["6.6.6.6", "203.0.113.7, 10.9.9.9"],
                "203.0.113.7",
            ),
            ("::ffff:10.1.2.3", &["::ffff:203.0.113.7"], "203.0.113.7"),
            ("::1", &["[2001:db8::7]:4711, 192.0.2.1"], "2001:db8::7"),
            ("::1", &["[2001:db8::7]"], "2001:db8::7"),
            ("::1", &["203.0.113.7:80"], "203.0.113.7"),
            // a list of proxies only: the first one is the client
            ("10.1.2.3", &["10.4.4.4, 10.5.5.5"], "10.4.4.4"),
            // no header, and a header that is not a list of addresses
            ("10.1.2.3", &[], "10.1.2.3"),
            ("10.1.2.3", &["unknown"], "10.1.2.3"),
            ("10.1.2.3", &["203.0.113.7, , 10.5.5.5"], "10.5.5.5"),
        ] {
            assert_eq!(client(proxies, peer, forwarded), expected, "{forwarded:?}");
        }
    }

    #[test]
    fn a_network_is_what_one_client_can_change_its_address_within() {
        let network = |address: &str| ClientAddress(address.parse().unwrap()).network();
        assert_eq!(network("203.0.113.7").to_string(), "203.0.113.0/24");
        assert_eq!(network("203.0.113.7"), network("203.0.113.200"));
        assert_ne!(network("203.0.113.7"), network("203.0.114.7"));
        assert_eq!(network("2001:db8:1:2::3").to_string(), "2001:db8:1::/48");
    }

    #[test]
    fn what_is_no_network_is_named() {
        let refused = "10.0.0.0/8, proxy.local".parse::<TrustedProxies>();
        assert_eq!(
            refused.unwrap_err().to_string(),
            "'proxy.local' is no network: write networks such as 10.0.0.0/8, or addresses, \
             separated by commas"
        );
        assert!("10.0.0.0/40".parse::<TrustedProxies>().is_err());
    }
}
