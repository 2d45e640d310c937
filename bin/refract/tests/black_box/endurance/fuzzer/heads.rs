//! Changes of a request's head: method, target, version and headers.

use super::chance::Chance;
use super::request::MutatedRequest;

const METHODS: [&str; 17] = [
    "GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "get", "Post", "PRI",
    "M-SEARCH", "G\u{e9}T", "GE T", "", "GET\t", "GET,POST",
];
/// Pieces of paths: escapes, separators, what other servers resolve or strip.
const PIECES: [&str; 34] = [
    "%",
    "%2",
    "%zz",
    "%00",
    "%ff",
    "%c0%80",
    "%2f",
    "%2F..",
    "%25",
    "%252f",
    "%E6%BC%A2",
    "%20",
    "+",
    "..",
    ".",
    "//",
    "/",
    "\\",
    ";a=b",
    "#f",
    "?",
    "&",
    "=",
    ":",
    "@",
    "*",
    "\u{e9}",
    "\u{0}",
    "\u{7f}",
    "\"",
    "<",
    "|",
    "{}",
    "~",
];
const QUERIES: [&str; 22] = [
    "?format=xml",
    "?format=JSON",
    "?format=",
    "?format",
    "?",
    "??format=csv",
    "?format=csv&format=csv",
    "?format=csv&format=raw",
    "?%66ormat=csv",
    "?format=%63sv",
    "?format=%ff",
    "?format=%00",
    "?Format=csv",
    "?format=csv#x",
    "?a=b&&format=csv",
    "?format[]=csv",
    "?format=csv;format=raw",
    "?=csv",
    "?&&&&",
    "?format=+csv",
    "?format=c%73v&x=%",
    "?format=csv%26format=raw",
];
const TARGETS: [&str; 20] = [
    "*",
    "",
    "/",
    "//",
    "/v1",
    "/v1/",
    "http://other/v1/results/x",
    "https://u:p@h:99999/v1",
    "test:80",
    "/v1/prisms//results",
    "/v1/prisms/support-triage/results/",
    "/v1/../healthz",
    "/metrics",
    "/v1/results/",
    "/v1/results/00000000-0000-0000-0000-000000000000",
    "/v1/results/{01234567-89ab-7def-8123-456789abcdef}",
    "/v1/results/0123456789ab7def8123456789abcdef/retry",
    "/v1/prisms/%00/results",
    "/v1/prisms/\u{e9}/results",
    "/v1/prisms/00000000-0000-0000-0000-000000000000/results",
];
const NAMES: [&str; 22] = [
    "Authorization",
    "authorization",
    "Content-Type",
    "Content-Encoding",
    "Accept",
    "Accept-Encoding",
    "Host",
    "Connection",
    "X-Request-Id",
    "Cookie",
    "Origin",
    "Range",
    "If-None-Match",
    "Forwarded",
    "Date",
    "TE",
    "Traceparent",
    "",
    "X Y",
    "X\u{e9}",
    "X\u{0}",
    "(x)",
];
const VALUES: [&str; 40] = [
    "",
    " ",
    "Bearer",
    "Bearer ",
    "bearer x",
    "Bearer  x",
    "Bearer x y",
    "Basic eDp5",
    "Bearer rk_",
    "Bearer \u{e9}",
    "application/json",
    "application/json; charset=utf-8",
    "APPLICATION/JSON;a=\"b",
    "text/plain",
    "text/plain; charset=utf-16",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "*/*",
    ";",
    "/",
    "gzip",
    "identity",
    "identity, identity",
    "br, gzip",
    "keep-alive",
    "close",
    "close, keep-alive",
    "a\u{0}b",
    "a\u{7f}b",
    "\u{e9}",
    "a\u{1}",
    "bytes=0-",
    "\"x\"",
    "trailers",
    "test, other",
    "a.b-c_9",
    "a b",
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "00-zz-zz-00",
    "1,2;q=0.1",
];

pub(super) fn change_method(request: &mut MutatedRequest, chance: &mut Chance) {
    match chance.below(20) {
        0 => {
            // the rest of the connection is a tunnel
            request.method = b"CONNECT".to_vec();
            request.is_framed = false;
        }
        1 => request.method = vec![b'X'; chance.of(&[20, 300, 9000])],
        _ => request.method = chance.of(&METHODS).as_bytes().to_vec(),
    }
}

pub(super) fn change_target(request: &mut MutatedRequest, chance: &mut Chance) {
    let target = &mut request.target;
    match chance.below(12) {
        0 => *target = chance.of(&TARGETS).as_bytes().to_vec(),
        1..=3 => {
            let end = target.iter().position(|byte| *byte == b'?');
            target.truncate(end.unwrap_or(target.len()));
            target.extend_from_slice(chance.of(&QUERIES).as_bytes());
        }
        4 => {
            // a letter may be escaped
            let place = chance.below(target.len().max(1)).min(target.len());
            let escaped: Vec<u8> = target[place..]
                .iter()
                .flat_map(|byte| format!("%{byte:02x}").into_bytes())
                .collect();
            target.truncate(place);
            target.extend_from_slice(&escaped);
        }
        5 => target.truncate(chance.below(target.len() + 1)),
        6 => target.extend_from_slice(&vec![b'a'; chance.of(&[64, 300, 8_000, 65_535, 70_000])]),
        7 => {
            let pairs = chance.of(&[10, 1000]);
            target.push(b'?');
            target.extend("format=csv&a=b&".repeat(pairs).into_bytes());
        }
        _ => {
            let place = chance.below(target.len() + 1);
            let piece = chance.of(&PIECES).bytes();
            target.splice(place..place, piece).for_each(drop);
        }
    }
}

pub(super) fn change_version(request: &mut MutatedRequest, chance: &mut Chance) {
    let versions = [
        "HTTP/1.0",
        "HTTP/0.9",
        "HTTP/2.0",
        "HTTP/1.2",
        "HTTP/11",
        "http/1.1",
        "HTTP/1.1 ",
        "",
        "HTTP/1.",
    ];
    request.version = chance.of(&versions).as_bytes().to_vec();
    request.is_framed = false;
}

pub(super) fn change_headers(request: &mut MutatedRequest, chance: &mut Chance) {
    let headers = &mut request.headers;
    match chance.below(14) {
        0 => headers.truncate(chance.below(headers.len() + 1)),
        1 | 2 if !headers.is_empty() => {
            let place = chance.below(headers.len());
            headers[place].1 = chance.of(&VALUES).as_bytes().to_vec();
        }
        3 if !headers.is_empty() => {
            let place = chance.below(headers.len());
            let again = headers[place].clone();
            headers.push(again);
        }
        4 if !headers.is_empty() => {
            let place = chance.below(headers.len());
            chance.scramble(&mut headers[place].1);
            // a line break in a value may begin a header that frames the body
            request.is_framed = false;
        }
        5 if !headers.is_empty() => {
            let place = chance.below(headers.len());
            chance.scramble(&mut headers[place].0);
            request.is_framed = false;
        }
        6 => {
            for number in 0..chance.of(&[10, 90, 100, 500]) {
                headers.push((format!("X-{number}").into(), b"o".to_vec()));
            }
        }
        7 => headers.push((
            b"X-Long".to_vec(),
            vec![b'o'; chance.of(&[8_000, 60_000, 140_000])],
        )),
        8 => {
            // obsolete line folding
            headers.push((b"X-Folded".to_vec(), b"a\r\n b".to_vec()));
            request.is_framed = false;
        }
        9 => {
            let protocol = chance.of(&["websocket", "h2c", "TLS/1.0"]);
            request.header("Connection", "Upgrade");
            request.header("Upgrade", protocol);
            request.is_framed = false;
        }
        10 => {
            request.header(
                "Expect",
                chance.of(&["100-continue", "100-Continue", "200-ok", ""]),
            );
            request.is_framed = false;
        }
        _ => {
            let (name, value) = (chance.of(&NAMES), chance.of(&VALUES));
            request.header(name, value);
        }
    }
}
