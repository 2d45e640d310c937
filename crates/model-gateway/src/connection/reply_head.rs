//! What the head of an answer says about its request: the host's id of it, and its cost.

use hyper::header::HeaderMap;
use refract_domain::result::cost::Cost;

/// The headers in which hosts send the id of a request; the first one that is there counts.
const REQUEST_IDS: [&str; 4] = [
    "x-typesafe-request-id",
    "x-request-id",
    "request-id",
    "cf-ray",
];
/// The header in which `LiteLLM` sends the cost of a request.
const COST: &str = "x-litellm-response-cost";
/// Length in characters at which an id is cut, since every result stores one.
const REQUEST_ID_CHARS: usize = 200;

/// What a head says about its request, which is at least one of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReplyHead {
    pub(crate) request_id: Option<String>,
    pub(crate) cost: Option<Cost>,
}

impl ReplyHead {
    /// Reads the headers of an answer; `None` if they say nothing. Boxed, since a waiting call
    /// reserves room for it.
    pub(super) fn read(headers: &HeaderMap) -> Option<Box<Self>> {
        let mut ids = REQUEST_IDS.iter().filter_map(|name| headers.get(*name));
        let request_id = ids.find_map(|id| printable(id.as_bytes()));
        let cost = headers.get(COST).and_then(|cost| cost.to_str().ok());
        let cost = cost.and_then(|cost| Cost::parse(cost.trim()));
        let has_any = request_id.is_some() || cost.is_some();
        has_any.then(|| Box::new(Self { request_id, cost }))
    }
}

/// The printable ASCII of an id: other bytes would reach a terminal, and the database may refuse
/// them. `None` if nothing is left.
fn printable(id: &[u8]) -> Option<String> {
    let printable = id.iter().filter(|byte| (b' '..=b'~').contains(*byte));
    let kept: String = printable.map(|byte| char::from(*byte)).collect();
    let kept: String = kept.trim().chars().take(REQUEST_ID_CHARS).collect();
    (!kept.is_empty()).then_some(kept)
}

#[cfg(test)]
mod tests {
    use hyper::header::{HeaderName, HeaderValue};

    use super::*;

    fn read(headers: &[(&'static str, &[u8])]) -> Option<ReplyHead> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let value = HeaderValue::from_bytes(value).unwrap();
            map.insert(HeaderName::from_static(name), value);
        }
        ReplyHead::read(&map).map(|head| *head)
    }

    #[test]
    fn the_id_of_the_host_comes_before_those_of_what_is_between() {
        let mut headers: Vec<(&'static str, &[u8])> = vec![
            ("cf-ray", b"8f-FRA"),
            ("request-id", b"req_3"),
            ("x-request-id", b"req_2"),
            ("x-typesafe-request-id", b"req_1"),
        ];
        for expected in ["req_1", "req_2", "req_3", "8f-FRA"] {
            let head = read(&headers).unwrap();
            assert_eq!(head.request_id.as_deref(), Some(expected));
            headers.pop();
        }
        assert_eq!(read(&headers), None);
    }

    #[test]
    fn an_id_is_kept_as_far_as_it_can_be_shown_and_saved() {
        let long = [b'x'; 300];
        for (sent, kept) in [
            (&b" a b\tc\xff\xc3\xa9 "[..], Some("a bc".to_owned())),
            (&long[..], Some("x".repeat(200))),
            (&b""[..], None),
            (&b"\xff\t"[..], None),
        ] {
            let head = read(&[("x-request-id", sent), ("x-litellm-response-cost", b"1")]);
            assert_eq!(head.unwrap().request_id, kept, "{sent:?}");
        }
        // an id that cannot be shown does not hide the next one
        let head = read(&[("x-request-id", b"\xff"), ("cf-ray", b"8f")]).unwrap();
        assert_eq!(head.request_id.as_deref(), Some("8f"));
    }

    #[test]
    fn a_cost_is_read_exactly_or_not_at_all() {
        for (sent, kept) in [
            (&b"2.1e-05"[..], Cost::parse("0.000021")),
            (&b" 0.0 "[..], Some(Cost::default())),
            (&b"None"[..], None),
            (&b"-1"[..], None),
        ] {
            let head = read(&[("x-litellm-response-cost", sent), ("cf-ray", b"8f")]);
            assert_eq!(head.unwrap().cost, kept, "{sent:?}");
        }
    }
}
