//! The framing of a request's body, correct or not, and the resulting bytes.

use super::chance::Chance;
use super::request::MutatedRequest;

/// Invalid lengths.
const LENGTHS: [&str; 14] = [
    "",
    "-1",
    "+5",
    "5, 5",
    "5,6",
    "0x5",
    "5 5",
    "18446744073709551616",
    "9223372036854775807",
    "1048577",
    "٣",
    "1e1",
    "5.0",
    " 5 ",
];
/// Invalid codings, and ones that proxies and servers interpret differently.
const CODINGS: [&str; 12] = [
    "chunked, chunked",
    "gzip, chunked",
    "chunked, gzip",
    "identity",
    "xchunked",
    "Chunked",
    "chunked;a=b",
    "\"chunked\"",
    "chunked,",
    ", chunked",
    "\u{b}chunked",
    "",
];
/// Invalid chunk sizes, and extensions.
const SIZES: [&str; 18] = [
    "",
    "g",
    "-1",
    "+1",
    "0x1",
    "00000000000000000000",
    "ffffffffffffffff",
    "10000000000000000",
    "7fffffffffffffff",
    " 1",
    "1 ",
    "1;",
    "1;a",
    "1;a=\"b;c\"",
    "1;a=b;c=\"\\\"\"",
    "1\t",
    "1_0",
    "1;\r",
];

/// What marks the end of the body.
#[derive(Clone, Debug)]
pub(super) enum BodyFraming {
    /// The body's length.
    Length,
    /// Chunks of any sizes.
    Chunks,
    /// A declared length, which may be wrong.
    StatedLength(String),
    /// Two lengths.
    TwoLengths(String, String),
    /// A transfer coding and chunks.
    Coding(&'static str),
    /// Chunks and a length.
    Both(usize),
    /// Chunks, some of them wrong.
    BrokenChunks,
    /// No framing.
    Unframed,
}

/// Frames the body wrongly, or at least unusually.
pub(super) fn change(request: &mut MutatedRequest, chance: &mut Chance) {
    let length = request.body.as_ref().map_or(0, Vec::len);
    let wrong = chance.of(&[
        0,
        1,
        length.saturating_sub(1),
        length + 1,
        length + 7,
        length * 2,
        1_048_577,
    ]);
    request.framing = match chance.below(8) {
        0 => BodyFraming::StatedLength(wrong.to_string()),
        1 => BodyFraming::StatedLength(chance.of(&LENGTHS).to_owned()),
        2 => BodyFraming::TwoLengths(length.to_string(), wrong.to_string()),
        3 => BodyFraming::Coding(chance.of(&CODINGS)),
        4 => BodyFraming::Both(chance.of(&[length, wrong])),
        5 | 6 => BodyFraming::BrokenChunks,
        _ => BodyFraming::Unframed,
    };
    request.is_framed = false;
}

/// The bytes of a request.
pub(super) fn write(request: &MutatedRequest, chance: &mut Chance) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in [
        &request.method,
        &b" ".to_vec(),
        &request.target,
        &b" ".to_vec(),
        &request.version,
    ] {
        bytes.extend_from_slice(part);
    }
    bytes.extend_from_slice(b"\r\n");
    for (name, value) in &request.headers {
        header(&mut bytes, name, value);
    }
    let Some(body) = &request.body else {
        bytes.extend_from_slice(b"\r\n");
        return bytes;
    };
    let mut length = |length: &str| header(&mut bytes, b"Content-Length", length.as_bytes());
    let (coding, body) = match &request.framing {
        BodyFraming::Length => {
            length(&body.len().to_string());
            (None, body.clone())
        }
        BodyFraming::StatedLength(stated) => {
            length(stated);
            (None, body.clone())
        }
        BodyFraming::TwoLengths(first, second) => {
            length(first);
            length(second);
            (None, body.clone())
        }
        BodyFraming::Both(stated) => {
            length(&stated.to_string());
            (Some("chunked"), chunks(body, false, chance))
        }
        BodyFraming::Chunks => (Some("chunked"), chunks(body, false, chance)),
        BodyFraming::BrokenChunks => (Some("chunked"), chunks(body, true, chance)),
        BodyFraming::Coding(coding) => (Some(*coding), chunks(body, false, chance)),
        BodyFraming::Unframed => (None, body.clone()),
    };
    if let Some(coding) = coding {
        header(&mut bytes, b"Transfer-Encoding", coding.as_bytes());
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(&body);
    bytes
}

fn header(bytes: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    bytes.extend_from_slice(name);
    bytes.extend_from_slice(b": ");
    bytes.extend_from_slice(value);
    bytes.extend_from_slice(b"\r\n");
}

/// A body in chunks, some of which may be broken.
fn chunks(body: &[u8], breaks: bool, chance: &mut Chance) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = body;
    while !rest.is_empty() {
        let most = chance.of(&[1, 10, 1000, 60_000]).max(rest.len() / 50);
        let (chunk, after) = rest.split_at((1 + chance.below(most)).min(rest.len()));
        rest = after;
        let length = chunk.len();
        let size = match chance.below(6) {
            0 if breaks => chance.of(&SIZES).to_owned(),
            1 if breaks => format!("{:x}", length + 1),
            2 => format!("{length:X}"),
            3 => format!("{length:05x}"),
            4 => format!("{length:x};name=value"),
            _ => format!("{length:x}"),
        };
        bytes.extend(size.into_bytes());
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(chunk);
        let ends = [&b"\r\n"[..], b"\n", b"", b"\r", b"\r\n\r\n", b"x\r\n"];
        let end = if breaks && chance.one_in(6) {
            chance.of(&ends)
        } else {
            ends[0]
        };
        bytes.extend_from_slice(end);
    }
    let ends = [
        &b"0\r\n\r\n"[..],
        b"0\r\nX-Trailer: o\r\n\r\n",
        b"0\r\nContent-Length: 5\r\n\r\n",
        b"",
        b"0\r\n",
        b"0",
        b"0\n\n",
        b"0;\r\n\r\n",
        b"-0\r\n\r\n",
        b"0\r\nbroken trailer\r\n\r\n",
        b"000\r\n\r\n",
    ];
    bytes.extend_from_slice(if breaks { chance.of(&ends) } else { ends[0] });
    bytes
}
