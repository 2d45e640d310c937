//! Bodies: sizes to the byte, media types, encodings, missing bodies (spec 4, readings).

use refract_test_stack::expected::{ANSWERS, JSON, Saved};
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::http::{HttpConnection, Request};
use refract_test_stack::order::{MALFORMED, NO_RESULT, TOO_LARGE, UNSUPPORTED};
use refract_test_stack::service::{Backend, PRISM, Service, TEXT};
use serde_json::json;

const MIB: usize = 1_048_576;
const UNKNOWN: &str = "01234567-89ab-7def-8123-456789abcdef";

fn create(service: &Service) -> Request {
    Request::post(&format!("/prisms/{PRISM}/results")).bearer(&service.key)
}

fn retry(service: &Service) -> Request {
    service.retry_request(UNKNOWN)
}

/// A valid body of this many bytes.
fn body_of(bytes: usize) -> String {
    let body = json!({"text": TEXT}).to_string();
    let padding = bytes - body.len();
    body + &" ".repeat(padding)
}

#[track_caller]
fn assert_refused(answer: &HttpAnswer, (status, code, message): (u16, &str, &str), what: &str) {
    assert_eq!(answer.status, status, "{what}: {answer:?}");
    answer.assert_error(status, code, message);
}

#[track_caller]
fn assert_answered(answer: &HttpAnswer, what: &str) {
    assert_eq!(answer.status, 200, "{what}: {answer:?}");
    answer.assert(200, JSON, &Saved::of(answer).envelope(ANSWERS));
}

#[tokio::test]
async fn one_mebibyte_is_read_and_one_byte_more_is_refused() {
    let service = Service::start(Backend::Sqlite).await;
    let dress = |request: Request, media_type: &str, bytes: usize, is_chunked: bool| {
        let request = request
            .header("Content-Type", media_type)
            .body(body_of(bytes));
        if is_chunked {
            request.chunked()
        } else {
            request
        }
    };
    for is_chunked in [false, true] {
        let most = dress(create(&service), "application/json", MIB, is_chunked);
        assert_answered(&service.send(most).await, "a create call");
        for media_type in ["application/json", "text/plain"] {
            let most = dress(retry(&service), media_type, MIB, is_chunked);
            assert_refused(&service.send(most).await, NO_RESULT, "a retry");
            for request in [create(&service), retry(&service)] {
                let over = dress(request, media_type, MIB + 1, is_chunked);
                let mut connection = HttpConnection::open(service.api()).await;
                let answer = connection.call_of_unread_body(&over.bytes()).await;
                assert_refused(&answer, TOO_LARGE, media_type);
            }
        }
    }
    assert_eq!(service.asked(), 2);
}

#[tokio::test]
async fn a_body_over_the_limit_is_answered_without_being_read_to_its_end() {
    let service = Service::start(Backend::Sqlite).await;
    for request in [create(&service), retry(&service)] {
        let request = request.header("Content-Type", "application/json");
        // a `Content-Length` without a body
        for length in [MIB + 1, 10_000_000_000] {
            let announced = request
                .clone()
                .header("Content-Length", &length.to_string());
            let mut connection = HttpConnection::open(service.api()).await;
            connection.send(announced.head().as_bytes()).await;
            assert_refused(&connection.answer().await, TOO_LARGE, "announced");
        }
        // chunked without a last chunk; a request inside the body must not be answered
        let chunked = request.body(body_of(MIB)).chunked();
        let mut bytes = chunked.bytes();
        bytes.truncate(bytes.len() - "0\r\n\r\n".len());
        let smuggled = Request::get(&format!("/results/{UNKNOWN}")).bytes();
        bytes.extend(format!("{:x}\r\n", 1 + smuggled.len()).bytes());
        bytes.push(b' ');
        bytes.extend(smuggled);
        let mut connection = HttpConnection::open(service.api()).await;
        let answer = connection.call_of_unread_body(&bytes).await;
        assert_refused(&answer, TOO_LARGE, "in chunks");
        assert!(connection.is_closed().await, "nothing more is read here");
    }
    assert_eq!(service.asked(), 0);
}

#[tokio::test]
async fn media_types_are_compared_by_their_essence() {
    let service = Service::start(Backend::Sqlite).await;
    let body = json!({"text": TEXT}).to_string();
    for json in [
        "application/json",
        "application/json; charset=utf-8",
        "application/json;charset=latin1;x=\"y\"",
        "application/json ; odd",
        "APPLICATION/JSON",
        "Application/Json; Charset=UTF-8",
    ] {
        let call = create(&service)
            .header("Content-Type", json)
            .body(body.clone());
        assert_answered(&service.send(call).await, json);
        let call = retry(&service).header("Content-Type", json).body("[1]");
        assert_refused(&service.send(call).await, NO_RESULT, json);
        let call = retry(&service)
            .header("Content-Type", json)
            .body("nonsense");
        assert_refused(&service.send(call).await, MALFORMED, json);
    }
    for text in ["text/plain", "text/plain; charset=utf-8", "TEXT/PLAIN"] {
        for sent in [body.as_str(), "nonsense", ""] {
            let call = create(&service).header("Content-Type", text).body(sent);
            assert_refused(&service.send(call).await, MALFORMED, text);
            let call = retry(&service).header("Content-Type", text).body(sent);
            assert_refused(&service.send(call).await, NO_RESULT, text);
        }
    }
    for other in [
        "application/xml",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json-seq",
        "application/vnd.api+json",
        "application/*",
        "json",
        "text/html",
        "text/csv",
        "",
        ";",
    ] {
        for sent in [Some(body.as_str()), Some(""), None] {
            for request in [create(&service), retry(&service)] {
                let call = request.header("Content-Type", other);
                let call = match sent {
                    Some(sent) => call.body(sent),
                    None => call,
                };
                assert_refused(&service.send(call).await, UNSUPPORTED, other);
            }
        }
    }
    assert_eq!(service.asked(), 6);
}

#[tokio::test]
async fn a_missing_body_or_media_type_is_distinguished() {
    let service = Service::start(Backend::Sqlite).await;
    let body = json!({"text": TEXT}).to_string();
    for request in [create(&service), retry(&service)] {
        for is_chunked in [false, true] {
            let call = request.clone().body(body.clone());
            let call = if is_chunked { call.chunked() } else { call };
            let answer = service.send(call).await;
            assert_refused(&answer, UNSUPPORTED, "a body without a media type");
        }
        let json = request.clone().header("Content-Type", "application/json");
        for call in [json.clone(), json.clone().body(""), json.body("").chunked()] {
            let answer = service.send(call).await;
            assert_refused(&answer, MALFORMED, "a media type without a body");
        }
    }
    for (request, expected) in [
        (create(&service), MALFORMED),
        (create(&service).body(""), MALFORMED),
        (retry(&service), NO_RESULT),
        (retry(&service).body(""), NO_RESULT),
    ] {
        let answer = service.send(request).await;
        assert_refused(&answer, expected, "neither body nor media type");
    }
}

#[tokio::test]
async fn only_what_is_not_encoded_is_read() {
    let service = Service::start(Backend::Sqlite).await;
    let body = json!({"text": TEXT});
    for encoding in ["identity", "IDENTITY"] {
        let call = create(&service)
            .json(&body)
            .header("Content-Encoding", encoding);
        assert_answered(&service.send(call).await, encoding);
    }
    for encoding in ["gzip", "deflate", "br", "zstd", "x", "identity, gzip"] {
        for request in [create(&service), retry(&service)] {
            let call = request.json(&body).header("Content-Encoding", encoding);
            assert_refused(&service.send(call).await, UNSUPPORTED, encoding);
        }
    }
}

#[tokio::test]
async fn exactly_one_json_value_in_utf_8_is_a_body() {
    let service = Service::start(Backend::Sqlite).await;
    let call = |body: &[u8]| {
        create(&service)
            .header("Content-Type", "application/json")
            .body(body)
    };
    for malformed in [
        &b"{"[..],
        b"{\"text\": \"a\"} {}",
        b"{\"text\": \"a\",}",
        b"{'text': 'a'}",
        b"\xef\xbb\xbf",
        b"{\"text\": \"\xff\"}",
        b"{\"text\": \"\xed\xa0\x80\"}",
        b"{\"text\": \"\x01\"}",
        b"NaN",
        b" ",
        b"nothing",
    ] {
        let what = String::from_utf8_lossy(malformed).into_owned();
        assert_refused(&service.send(call(malformed)).await, MALFORMED, &what);
    }
    for (body, received) in [
        ("[]", "array"),
        ("\"text\"", "string"),
        ("1", "number"),
        ("true", "boolean"),
        ("null", "null"),
    ] {
        let message = format!("Invalid request: body: Expected object, received {received}");
        let answer = service.send(call(body.as_bytes())).await;
        answer.assert_error(400, "validation_failed", &message);
    }
    let repeated = br#" {"text": 5, "text": "Where is my order?", "version": 1e0} "#;
    assert_answered(&service.send(call(repeated)).await, "the last one counts");
    let marked = b"\xef\xbb\xbf{\"text\": \"Where is my order?\"}";
    assert_answered(&service.send(call(marked)).await, "a byte order mark");
    let message =
        "Invalid request: fields.text: must not contain NUL or unpaired surrogate characters";
    for escaped in ["\\u0000", "\\ud800", "\\udc00x", "\\ud800\\ud800"] {
        let body = format!("{{\"fields\": {{\"text\": \"{escaped}\"}}}}");
        let answer = service.send(call(body.as_bytes())).await;
        answer.assert_error(400, "validation_failed", message);
    }
    assert_eq!(service.asked(), 2);
}
