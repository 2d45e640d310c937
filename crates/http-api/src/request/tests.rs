use actix_web::dev::Payload;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::test::TestRequest;
use actix_web::web::Bytes;
use futures_util::StreamExt as _;
use refract_http_serving::BodyReader;

use super::*;

fn read_bytes(values: &[&[u8]]) -> Result<Option<ApiKey>, ApiError> {
    let mut headers = HeaderMap::new();
    for value in values {
        headers.append(AUTHORIZATION, HeaderValue::from_bytes(value).unwrap());
    }
    read(&headers)
}

#[test]
fn a_key_is_read() {
    let key = format!("rk_{}", "aZ0-_xyz".repeat(4));
    let read = read_bytes(&[format!("Bearer {key}").as_bytes()])
        .unwrap()
        .unwrap();
    assert_eq!(read.reveal(), key);
}

#[test]
fn a_token_of_another_shape_is_no_key() {
    for value in [
        "Bearer x",
        "Bearer rk_short",
        "Bearer Bearer",
        "Bearer é",
        "Bearer a,b",
    ] {
        assert!(
            matches!(read_bytes(&[value.as_bytes()]), Ok(None)),
            "{value}"
        );
    }
    assert!(matches!(read_bytes(&[b"Bearer \xff\xfe"]), Ok(None)));
}

#[test]
fn anything_else_is_not_of_the_form() {
    let key = format!("rk_{}", "a".repeat(32));
    for value in [
        String::new(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        key.clone(),
        format!("bearer {key}"),
        format!("BEARER {key}"),
        format!("Basic {key}"),
        format!("Bearer  {key}"),
        format!("Bearer\t{key}"),
        format!("Bearer {key} "),
        format!("Bearer {key} x"),
        format!("Bearer {key}\u{a0}"),
        format!("Bearer{key}"),
    ] {
        let read = read_bytes(&[value.as_bytes()]);
        assert!(matches!(read, Err(ApiError::NotAuthenticated)), "{value}");
    }
    assert!(matches!(read_bytes(&[]), Err(ApiError::NotAuthenticated)));
}

#[test]
fn two_headers_are_refused_even_when_they_agree() {
    let value = format!("Bearer rk_{}", "a".repeat(32));
    let read = read_bytes(&[value.as_bytes(), value.as_bytes()]);
    assert!(matches!(read, Err(ApiError::NotAuthenticated)));
}

fn headers(list: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in list {
        headers.append(
            HeaderName::from_static(name),
            HeaderValue::from_str(value).unwrap(),
        );
    }
    headers
}

/// Reads a body that arrives in the given chunks.
fn read_chunks(
    list: &[(&'static str, &str)],
    chunks: Vec<Vec<u8>>,
) -> Result<ReceivedBody, String> {
    let stream = futures_util::stream::iter(chunks.into_iter().map(|c| Ok(Bytes::from(c))));
    let mut payload = Payload::from(stream.boxed_local());
    read_from(&headers(list), &mut payload)
}

fn read_sent(list: &[(&'static str, &str)], bytes: &'static [u8]) -> Result<ReceivedBody, String> {
    let (_, mut payload) = TestRequest::default().set_payload(bytes).to_http_parts();
    read_from(&headers(list), &mut payload)
}

fn read_from(headers: &HeaderMap, payload: &mut Payload) -> Result<ReceivedBody, String> {
    // with a paused clock, the runtime skips every wait
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    let body = SentBody {
        reader: &BodyReader::default(),
        gate: None,
        payload,
    };
    let read = runtime.block_on(read_body(headers, body));
    read.map(|(body, _)| body)
        .map_err(|error| error.reply().status.to_string())
}

const UNSUPPORTED: &str = "415 Unsupported Media Type";
const TOO_LARGE: &str = "413 Payload Too Large";

#[test]
fn json_is_read_under_any_parameters_and_case() {
    for value in [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        "application/json;charset=latin1;x=y",
        "  application/json  ;",
    ] {
        let read = read_sent(&[("content-type", value), ("content-length", "2")], b"{}");
        assert_eq!(read, Ok(ReceivedBody::Json(b"{}".to_vec())), "{value}");
    }
}

#[test]
fn plain_text_is_read_and_dropped() {
    let list = [
        ("content-type", "Text/Plain; charset=utf-8"),
        ("content-length", "2"),
    ];
    assert_eq!(read_sent(&list, b"{}"), Ok(ReceivedBody::PlainText));
}

#[test]
fn another_type_is_refused_even_without_a_body() {
    for value in [
        "",
        ";",
        "json",
        "text/json",
        "text/html",
        "application/jsonp",
        "application/json-patch+json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=application/json",
        "application/json, application/json",
        "application/ json",
    ] {
        let refused = Err(UNSUPPORTED.to_owned());
        assert_eq!(
            read_sent(&[("content-type", value)], b""),
            refused,
            "{value}"
        );
        let list = [("content-type", value), ("content-length", "2")];
        assert_eq!(read_sent(&list, b"{}"), refused, "{value}");
    }
}

#[test]
fn a_body_needs_a_type_and_no_body_needs_none() {
    let refused = Err(UNSUPPORTED.to_owned());
    assert_eq!(read_sent(&[("content-length", "2")], b"{}"), refused);
    assert_eq!(
        read_sent(&[("transfer-encoding", "chunked")], b"{}"),
        refused
    );
    assert_eq!(
        read_sent(&[("content-length", "0")], b""),
        Ok(ReceivedBody::Absent)
    );
    assert_eq!(read_sent(&[], b""), Ok(ReceivedBody::Absent));
}

#[test]
fn an_encoding_other_than_identity_is_refused() {
    for value in ["gzip", "br", "deflate, identity", "identity, gzip", "x"] {
        for media_type in ["application/json", "text/plain"] {
            let list = [("content-type", media_type), ("content-encoding", value)];
            assert_eq!(
                read_sent(&list, b"{}"),
                Err(UNSUPPORTED.to_owned()),
                "{value}"
            );
        }
    }
    for value in ["identity", "Identity", "", "identity, identity"] {
        let list = [
            ("content-type", "application/json"),
            ("content-encoding", value),
        ];
        assert_eq!(
            read_sent(&list, b"{}"),
            Ok(ReceivedBody::Json(b"{}".to_vec())),
            "{value}"
        );
    }
}

#[test]
fn a_mebibyte_is_the_limit_by_length_and_by_count() {
    for media_type in ["application/json", "text/plain"] {
        let read = |length: &str, chunks: Vec<Vec<u8>>| {
            let list = [("content-type", media_type), ("content-length", length)];
            read_chunks(&list, chunks).map(|_| ())
        };
        let full = vec![vec![b' '; 65_536]; 16];
        assert_eq!(read("1048576", full.clone()), Ok(()));
        // the declared length decides before a byte is read
        let unread = vec![b"{}".to_vec()];
        assert_eq!(read("1048577", unread.clone()), Err(TOO_LARGE.to_owned()));
        assert_eq!(
            read("99999999999999999999999", unread),
            Err(TOO_LARGE.to_owned())
        );

        let chunked = [
            ("content-type", media_type),
            ("transfer-encoding", "chunked"),
        ];
        assert!(read_chunks(&chunked, full.clone()).is_ok());
        let mut over = full;
        over.push(vec![b' ']);
        assert_eq!(read_chunks(&chunked, over), Err(TOO_LARGE.to_owned()));
    }
}

#[test]
fn a_body_over_the_limit_is_not_read_to_its_end() {
    let endless = futures_util::stream::repeat_with(|| Ok(Bytes::from_static(&[b' '; 1024])));
    let mut payload = Payload::from(endless.boxed_local());
    let list = headers(&[
        ("content-type", "application/json"),
        ("transfer-encoding", "chunked"),
    ]);
    assert_eq!(read_from(&list, &mut payload), Err(TOO_LARGE.to_owned()));
}

#[test]
fn the_type_is_looked_at_before_the_size() {
    let list = [("content-type", "text/html"), ("content-length", "1048577")];
    assert_eq!(read_sent(&list, b""), Err(UNSUPPORTED.to_owned()));
    let list = [
        ("content-type", "application/json"),
        ("content-encoding", "gzip"),
        ("content-length", "1048577"),
    ];
    assert_eq!(read_sent(&list, b""), Err(UNSUPPORTED.to_owned()));
}

#[test]
fn a_body_that_ends_early_is_malformed() {
    let broken = futures_util::stream::iter([
        Ok(Bytes::from_static(b"{")),
        Err(actix_web::error::PayloadError::Incomplete(None)),
    ]);
    let mut payload = Payload::from(broken.boxed_local());
    let list = headers(&[
        ("content-type", "application/json"),
        ("content-length", "2"),
    ]);
    assert_eq!(
        read_from(&list, &mut payload),
        Err("400 Bad Request".to_owned())
    );
}

#[test]
fn a_body_that_does_not_arrive_is_given_up() {
    let stalled = futures_util::stream::iter([Ok(Bytes::from_static(b"{"))])
        .chain(futures_util::stream::pending());
    let mut payload = Payload::from(stalled.boxed_local());
    let list = headers(&[
        ("content-type", "application/json"),
        ("content-length", "2"),
    ]);
    assert_eq!(
        read_from(&list, &mut payload),
        Err("400 Bad Request".to_owned())
    );
}

#[test]
fn only_json_is_a_call_and_only_broken_json_is_no_retry() {
    let json = |text: &str| ReceivedBody::Json(text.as_bytes().to_vec());
    for good in ["{}", " [1] ", "null", "\"\\ud800\"", "1e999", "\u{feff}{}"] {
        assert!(json(good).json().is_ok(), "{good}");
        assert!(json(good).ignore().is_ok(), "{good}");
    }
    for bad in [
        "",
        " ",
        "{",
        "{}{}",
        "nul",
        "{'a':1}",
        "\u{feff}",
        "{\u{feff}}",
    ] {
        assert!(
            matches!(json(bad).json(), Err(ApiError::MalformedBody(_))),
            "{bad}"
        );
        assert!(
            matches!(json(bad).ignore(), Err(ApiError::MalformedBody(_))),
            "{bad}"
        );
    }
    let latin1 = ReceivedBody::Json(b"\"\xe4\"".to_vec());
    assert!(matches!(latin1.json(), Err(ApiError::MalformedBody(_))));
    for none in [ReceivedBody::Absent, ReceivedBody::PlainText] {
        assert!(matches!(none.json(), Err(ApiError::MalformedBody(_))));
        assert!(none.ignore().is_ok());
    }
}
